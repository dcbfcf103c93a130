#include "replay/exec/launcher_env.h"

#include <gtest/gtest.h>

namespace ncclog::testing {
namespace {

std::string text_of(const std::optional<LauncherTask>& task) {
  if (!task) return "none";
  return task->launcher + " " + std::to_string(task->task) + "/" + std::to_string(task->tasks) +
         " local " + std::to_string(task->local) + " at " + task->host + ":" +
         std::to_string(task->port) + " job " + task->job;
}

struct Row {
  const char* what;
  Environment environment;
  const char* task;
};

const Row kRows[] = {
    {"nothing", {{"PATH", "/bin"}}, "none"},
    {"srun",
     {{"SLURM_PROCID", "1"},
      {"SLURM_STEP_NUM_TASKS", "2"},
      {"SLURM_LOCALID", "0"},
      {"SLURM_STEP_NODELIST", "gpu[03-04]"},
      {"SLURM_JOB_ID", "77"},
      {"SLURM_STEP_ID", "0"},
      {"MASTER_PORT", "29400"}},
     "srun 1/2 local 0 at gpu03:29400 job 77.0"},
    {"srun with an address",
     {{"SLURM_PROCID", "0"},
      {"SLURM_STEP_NUM_TASKS", "2"},
      {"MASTER_ADDR", "10.0.0.5"},
      {"MASTER_PORT", "29400"},
      {"SLURM_STEP_NODELIST", "gpu03"}},
     "srun 0/2 local 0 at 10.0.0.5:29400 job ."},
    {"a batch script",
     {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_JOB_ID", "77"}},
     "none"},
    {"srun of one task", {{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}}, "none"},
    {"mpirun on one host",
     {{"OMPI_COMM_WORLD_RANK", "3"},
      {"OMPI_COMM_WORLD_SIZE", "4"},
      {"OMPI_COMM_WORLD_LOCAL_RANK", "3"},
      {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
      {"PMIX_NAMESPACE", "prterun-node-7"},
      {"MASTER_PORT", "5000"}},
     "mpirun 3/4 local 3 at 127.0.0.1:5000 job prterun-node-7"},
    {"mpirun on several hosts",
     {{"OMPI_COMM_WORLD_RANK", "3"},
      {"OMPI_COMM_WORLD_SIZE", "4"},
      {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
      {"MASTER_PORT", "5000"}},
     "mpirun 3/4 local 0 at :5000 job "},
    {"hydra",
     {{"PMI_RANK", "1"},
      {"PMI_SIZE", "2"},
      {"MPI_LOCALRANKID", "1"},
      {"MASTER_ADDR", "n1"},
      {"MASTER_PORT", "5000"},
      {"PMI_ID", "1"}},
     "mpirun 1/2 local 1 at n1:5000 job "},
    {"torchrun, whose agent has the port",
     {{"RANK", "5"},
      {"WORLD_SIZE", "8"},
      {"LOCAL_RANK", "1"},
      {"MASTER_ADDR", "n1"},
      {"MASTER_PORT", "29500"},
      {"TORCHELASTIC_RUN_ID", "abc"}},
     "torchrun 5/8 local 1 at n1:29501 job abc"},
    {"numbers that are none",
     {{"RANK", "x"},
      {"WORLD_SIZE", "8"},
      {"PMI_RANK", "9"},
      {"PMI_SIZE", "2"},
      {"OMPI_COMM_WORLD_RANK", "-1"},
      {"OMPI_COMM_WORLD_SIZE", "2"}},
     "none"},
};

TEST(LauncherTask, IsWhatTheLauncherSays) {
  for (const Row& row : kRows) {
    EXPECT_EQ(text_of(launcher_task(row.environment)), row.task) << row.what;
  }
}

TEST(LauncherTask, AsksForAPortOfTheJobWhereNoneIsNamed) {
  Environment environment = {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"TORCHELASTIC_RUN_ID", "a"}};
  const int port = launcher_task(environment)->port;
  EXPECT_GE(port, 28000);
  EXPECT_LT(port, 29000);
  environment["TORCHELASTIC_RUN_ID"] = "b";
  EXPECT_NE(launcher_task(environment)->port, port);
}

struct NodesRow {
  const char* list;
  const char* first;
};

TEST(FirstHost, ReadsSlurmsLists) {
  constexpr NodesRow kNodes[] = {
      {"gpu03", "gpu03"}, {"gpu03,gpu04", "gpu03"},   {"gpu[03-04,7]", "gpu03"},
      {"gpu[7]", "gpu7"}, {"a[1-2]-ib,b", "a1-ib"},   {"gpu[", ""},
      {"", ""},           {"r[1,2]x,gpu[3-4]", "r1x"}};
  for (const NodesRow& row : kNodes) EXPECT_EQ(first_host(row.list), row.first) << row.list;
}

TEST(LaunchToken, DiffersByPlanJobAndRun) {
  const std::string token = launch_token("5f", "77.0", 0);
  EXPECT_EQ(token.size(), 32U);
  EXPECT_EQ(token, launch_token("5f", "77.0", 0));
  EXPECT_NE(token, launch_token("5e", "77.0", 0));
  EXPECT_NE(token, launch_token("5f", "77.1", 0));
  EXPECT_NE(token, launch_token("5f", "77.0", 1));
}

}  // namespace
}  // namespace ncclog::testing

#include "app/cluster/host_list.h"

#include <gtest/gtest.h>

#include "app/cluster/tasks.h"
#include "base/error.h"
#include "base/text.h"
#include "support/temp_dir.h"

namespace ncclog::testing {
namespace {

struct Row {
  const char* list;
  const char* hosts;  ///< Empty: refused.
};

constexpr Row kRows[] = {
    {"n1", "n1"},
    {"n[1-3]", "n1 n2 n3"},
    {"n[01-03,7],login1", "n01 n02 n03 n7 login1"},
    {"n1,n1", "n1"},
    {"r[1-2]n[0-1]", "r1n0 r1n1 r2n0 r2n1"},
    {"n[8-10]", "n8 n9 n10"},
    {"a.example, b.example", "a.example b.example"},
    {"", ""},
    {"n[3-1]", ""},
    {"n[1-", ""},
    {"n[x]", ""},
    {"-oProxyCommand=x", ""},
    {"n1;reboot", ""},
    {"$(id)", ""},
    {"n1\n", ""},
    {"..", ""},
    {"n[0-999999999]", ""},
    {"n[1-300][1-300]", ""},
};

TEST(HostList, IsReadAsSlurmWritesIt) {
  for (const Row& row : kRows) {
    std::string hosts;
    try {
      hosts = join(expand_host_list(row.list, "--nodelist"), " ");
    } catch (const Error&) {
      hosts.clear();
    }
    EXPECT_EQ(hosts, row.hosts) << row.list;
  }
}

TEST(ShellText, QuotesWhatAShellWouldTakeApart) {
  EXPECT_EQ(
      shell_text(std::vector<std::string>{"srun", "--nodelist=n1", "a b", "it's", "$(x)", ""}),
      "srun --nodelist=n1 'a b' 'it'\\''s' '$(x)' ''");
}

// Programs for hosts.

std::vector<TaskEnd> run(const TempDir& folder, std::vector<std::vector<std::string>> programs,
                         double seconds = 60) {
  std::vector<HostTask> tasks;
  for (auto& arguments : programs) {
    const std::string name = "n" + std::to_string(tasks.size());
    tasks.push_back({name, std::move(arguments), (folder.path() / name).string()});
  }
  return run_tasks(tasks, {.together = 2, .seconds = seconds}, [](const TaskProgress&) {});
}

TEST(HostTasks, SayHowEachEnded) {
  const TempDir folder;
  const auto ends = run(folder, {{"true"},
                                 {"sh", "-c", "echo first; echo 'no disk' >&2; exit 4"},
                                 {"/nowhere/program"},
                                 {"sh", "-c", "kill -9 $$"}});
  EXPECT_EQ(ends[0].state, TaskState::Done);
  EXPECT_EQ(ends[1].state, TaskState::Failed);
  EXPECT_EQ(ends[1].status, 4);
  EXPECT_EQ(ends[1].reason, "no disk");
  EXPECT_EQ(ends[2].reason, "/nowhere/program: No such file or directory");
  EXPECT_EQ(ends[3].reason, "ended by signal 9");
}

TEST(HostTasks, StopThoseThatAreLate) {
  const TempDir folder;
  const auto ends = run(folder, {{"sleep", "600"}, {"sleep", "600"}, {"true"}}, 0.1);
  EXPECT_EQ(ends[0].state, TaskState::Late);
  EXPECT_EQ(ends[1].state, TaskState::Late);
  EXPECT_EQ(ends[2].state, TaskState::Late) << "waited for its turn";
}

}  // namespace
}  // namespace ncclog::testing

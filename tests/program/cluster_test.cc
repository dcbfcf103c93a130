// One job on two hosts under a real Slurm: each scans its own logs, one merges. Two virtual nodes on
// this machine, loopback only; skipped where Slurm is not installed or cannot be started.

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "support/paths.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace ncclog::testing {
namespace {

namespace fs = std::filesystem;

const char* const kLogOf[] = {
    "n1:41:41 [0] NCCL INFO NCCL version 2.28.9+cuda13.0\n"
    "n1:41:41 [0] NCCL INFO ncclCommInitRank comm 0x5a rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId "
    "60 commId 0x9c1b - Init COMPLETE\n"
    "n1:41:41 [0] NCCL INFO comm 0x5a rank 0 nRanks 2 nNodes 2 localRanks 1 localRank 0 MNNVL 0\n",
    "n2:52:52 [0] NCCL INFO NCCL version 2.28.9+cuda13.0\n"
    "n2:52:52 [0] NCCL INFO ncclCommInitRank comm 0x6b rank 1 nranks 2 cudaDev 0 nvmlDev 0 busId "
    "60 commId 0x9c1b - Init COMPLETE\n"
    "n2:52:60 [0] misc/shmutils.cc:87 NCCL WARN Error: failed to extend /dev/shm/nccl-AbCd12 to "
    "9637892 bytes, error: No space left on device (28)\n"};

constexpr const char* kConfiguration =
    "ClusterName=trial\nAuthType=auth/munge\nSlurmUser=root\nProctrackType=proctrack/pgid\n"
    "TaskPlugin=task/none\nJobAcctGatherType=jobacct_gather/none\n"
    "AccountingStorageType=accounting_storage/none\nSelectType=select/linear\n"
    "SwitchType=switch/none\nMpiDefault=none\nReturnToService=2\nKillWait=2\n"
    "PartitionName=all Nodes=n1,n2 Default=YES State=UP\n";

/// A Slurm of its own, with the nodes n1 and n2.
class Slurm {
 public:
  Slurm() {
    for (const char* name : {"state", "spool.n1", "spool.n2"}) {
      fs::create_directory(folder_.path() / name);
    }
    const std::string key = folder_.add("munge.key", std::string(1024, 'k'));
    fs::permissions(key, fs::perms::owner_read);
    // Who asks munge for a credential has to come to its socket.
    fs::permissions(folder_.path(), fs::perms::owner_all | fs::perms::others_exec |
                                        fs::perms::group_exec);
    write_configuration();
    runs_ = start({"munged", "--force", "--key-file=" + key, "--socket=" + in("munge.socket"),
                   "--pid-file=" + in("munged.pid"), "--log-file=" + in("munged.log"),
                   "--seed-file=" + in("seed")}) &&
            start({"slurmctld", "-f", conf_, "-i"}) && start({"slurmd", "-f", conf_, "-N", "n1"}) &&
            start({"slurmd", "-f", conf_, "-N", "n2"}) && is_idle();
  }

  ~Slurm() {
    for (const char* name : {"d.n1.pid", "d.n2.pid", "ctld.pid", "munged.pid"}) {
      std::ifstream file(in(name));
      pid_t pid = 0;
      if (file >> pid && pid > 1) kill(pid, SIGKILL);
    }
  }
  Slurm(const Slurm&) = delete;
  Slurm& operator=(const Slurm&) = delete;

  bool runs() const { return runs_; }
  const TempDir& folder() const { return folder_; }

  Outcome run(std::vector<std::string> arguments) const {
    const char* const path = std::getenv("PATH");
    return run_command(
        {.arguments = std::move(arguments),
         .folder = folder_.path().string(),
         .environment = {{"SLURM_CONF", conf_},
                         {"SOURCE_DATE_EPOCH", "1700000000"},
                         {"PATH", std::string(path == nullptr ? "" : path) + ":/usr/sbin"}}});
  }

 private:
  std::string in(const std::string& name) const { return (folder_.path() / name).string(); }

  void write_configuration() {
    char host[256] = {};
    gethostname(host, sizeof(host) - 1);
    const std::string name = host;
    const int port = 20000 + getpid() % 20000;  // Tests may run side by side.
    std::string text = kConfiguration;
    const auto add = [&](const std::string& line) { text += line + "\n"; };
    add("AuthInfo=socket=" + in("munge.socket"));
    add("SlurmctldHost=" + name + "(127.0.0.1)");
    add("SlurmctldPort=" + std::to_string(port));
    add("StateSaveLocation=" + in("state"));
    add("SlurmdSpoolDir=" + in("spool.%n"));
    add("SlurmctldPidFile=" + in("ctld.pid"));
    add("SlurmdPidFile=" + in("d.%n.pid"));
    add("SlurmctldLogFile=" + in("ctld.log"));
    add("SlurmdLogFile=" + in("d.%n.log"));
    for (const int node : {1, 2}) {
      add("NodeName=n" + std::to_string(node) + " NodeHostname=" + name +
          " NodeAddr=127.0.0.1 CPUs=1 Port=" + std::to_string(port + node));
    }
    conf_ = folder_.add("slurm.conf", text);
  }

  bool start(std::vector<std::string> arguments) const {
    return run(std::move(arguments)).exit_code == 0;
  }

  bool is_idle() const {
    for (int i = 0; i < 100; ++i) {
      if (run({"sinfo", "--noheader", "--format=%T %D"}).standard_output == "idle 2\n") return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    return false;
  }

  TempDir folder_;
  std::string conf_;
  bool runs_ = false;
};

bool has_slurm() {
  for (const char* program : {"/usr/sbin/munged", "/usr/sbin/slurmctld", "/usr/sbin/slurmd"}) {
    if (!fs::exists(program)) return false;
  }
  return geteuid() == 0;
}

TEST(Cluster, ScansOnTheNodesOfSlurmAndMerges) {
  if (!has_slurm()) GTEST_SKIP() << "needs slurm-wlm and munge, and root";
  const Slurm slurm;
  if (!slurm.runs()) GTEST_SKIP() << "Slurm cannot be started here";
  slurm.folder().add("logs/n1/nccl.log", kLogOf[0]);
  slurm.folder().add("logs/n2/nccl.log", kLogOf[1]);
  const std::string program = ncclog_binary().string();
  const std::string logs = (slurm.folder().path() / "logs").string();

  const Outcome all = slurm.run({program, "cluster", "--slurm", "--nodelist", "n[1-2]", "--format",
                                 "json", logs + "/%h"});
  EXPECT_EQ(all.exit_code, 1) << all.standard_error;
  const Outcome whole =
      slurm.run({program, "analyze", "--format", "json", "--expect-hosts", "n[1-2]", logs});
  EXPECT_EQ(all.standard_output, whole.standard_output);

  // A node's scan is killed: its host is unknown, and the others' lines are told.
  const std::string wrapper = slurm.folder().add(
      "ncclog", "#!/bin/sh\n[ \"$SLURMD_NODENAME\" = n2 ] && kill -9 $$\nexec '" + program +
                    "' \"$@\"\n");
  fs::permissions(wrapper, fs::perms::owner_all);
  const Outcome partly =
      slurm.run({program, "cluster", "--slurm", "--nodelist", "n[1-2]", "--program", wrapper,
                 "--format", "json", "--fail-on", "never", logs + "/%h"});
  EXPECT_EQ(partly.exit_code, 3) << partly.standard_error;
  EXPECT_NE(partly.standard_error.find("ncclog: n2: "), std::string::npos) << partly.standard_error;
  EXPECT_NE(partly.standard_output.find("No line comes from 1 of 2 hosts: n2."), std::string::npos)
      << partly.standard_output;
  for (const auto& entry : fs::directory_iterator(slurm.folder().path())) {
    EXPECT_EQ(entry.path().filename().string().find("ncclog-parts"), std::string::npos);
  }
}

TEST(Cluster, NamesNoHostThatCouldBeAnOption) {
  const Outcome outcome =
      run_command({.arguments = {ncclog_binary().string(), "cluster", "--slurm", "--nodelist",
                                 "n1,-oProxyCommand=x", "logs"}});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.standard_error.find("not the name of a host"), std::string::npos)
      << outcome.standard_error;
}

TEST(Cluster, PrintsLinesForOtherLaunchers) {
  const Outcome outcome = run_command(
      {.arguments = {ncclog_binary().string(), "cluster", "--print", "ssh", "--nodelist", "n[1-2]",
                     "--program", "ncclog", "/logs of mine"}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  EXPECT_EQ(outcome.standard_output,
            "mkdir -m 700 ncclog-parts\n"
            R"(ssh n1 'ncclog scan --output ncclog-parts/n1.part -- '\''/logs of mine'\''' &)"
            "\n"
            R"(ssh n2 'ncclog scan --output ncclog-parts/n2.part -- '\''/logs of mine'\''' &)"
            "\n"
            "wait\n"
            "ncclog analyze ncclog-parts --expect-hosts n1,n2\n");
}

TEST(Scan, ADiskThatIsFullIsSaid) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "needs /dev/full";
  const TempDir folder;
  const std::string log = folder.add("a.log", kLogOf[0]);
  const Outcome outcome =
      run_command({.arguments = {ncclog_binary().string(), "scan", log, "-o", "/dev/full"}});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.standard_error.find("/dev/full"), std::string::npos) << outcome.standard_error;
}

}  // namespace
}  // namespace ncclog::testing

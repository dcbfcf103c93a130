// One job on two hosts under a real Slurm: each scans its own logs, one merges. Two virtual nodes on
// this machine, loopback only; skipped where Slurm is not installed or cannot be started.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "support/paths.h"
#include "support/process.h"
#include "support/slurm.h"
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

TEST(Cluster, ScansOnTheNodesOfSlurmAndMerges) {
  const Slurm slurm;
  if (!slurm.why_not().empty()) GTEST_SKIP() << slurm.why_not();
  slurm.folder().add("logs/n1/nccl.log", kLogOf[0]);
  slurm.folder().add("logs/n2/nccl.log", kLogOf[1]);
  const std::string program = ncclog_binary().string();
  const std::string logs = (slurm.folder().path() / "logs").string();

  const Outcome all = slurm.run(
      {program, "cluster", "--slurm", "--nodelist", "n[1-2]", "--format", "json", logs + "/%h"});
  EXPECT_EQ(all.exit_code, 1) << all.standard_error;
  const Outcome whole =
      slurm.run({program, "analyze", "--format", "json", "--expect-hosts", "n[1-2]", logs});
  EXPECT_EQ(all.standard_output, whole.standard_output);

  // A node's scan is killed: its host is unknown, and the others' lines are told.
  const std::string wrapper = slurm.folder().add(
      "ncclog",
      "#!/bin/sh\n[ \"$SLURMD_NODENAME\" = n2 ] && kill -9 $$\nexec '" + program + "' \"$@\"\n");
  fs::permissions(wrapper, fs::perms::owner_all);
  const Outcome partly =
      slurm.run({program, "cluster", "--slurm", "--nodelist", "n[1-2]", "--program", wrapper,
                 "--format", "json", "--fail-on", "never", logs + "/%h"});
  EXPECT_EQ(partly.exit_code, 3) << partly.standard_error;
  EXPECT_NE(partly.standard_output.find("seen on 1 of 2 hosts."), std::string::npos)
      << partly.standard_output;
  EXPECT_NE(partly.standard_error.find("ncclog: n2: "), std::string::npos) << partly.standard_error;
  EXPECT_NE(partly.standard_output.find("No line comes from 1 of 2 hosts: n2."), std::string::npos)
      << partly.standard_output;
  for (const auto& entry : fs::directory_iterator(slurm.folder().path())) {
    EXPECT_EQ(entry.path().filename().string().find("ncclog-parts"), std::string::npos);
  }
}

TEST(Cluster, AsksSlurmForTheNodesOfAJob) {
  const Slurm slurm;
  if (!slurm.why_not().empty()) GTEST_SKIP() << slurm.why_not();
  slurm.folder().add("logs/n1/nccl.log", kLogOf[0]);
  slurm.folder().add("logs/n2/nccl.log", kLogOf[1]);
  const std::string logs = (slurm.folder().path() / "logs").string();
  const std::string fifo = (slurm.folder().path() / "up").string();
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const std::string look =
      ncclog_binary().string() + " cluster --slurm -q --jobid $job " + logs + "/%h; echo $?";
  const Outcome out = slurm.run(
      {"/bin/sh", "-c",
       "job=$(sbatch --parsable --nodes=2 --output=/dev/null --wrap 'echo > " + fifo +
           "; exec sleep 300'); read up < " + fifo + "; " + look +
           "; scancel $job; until squeue --noheader --states=all --jobs=$job --format=%T | grep -q "
           "CANCELLED; do sleep 0.2; done; " +
           look});
  const std::string said =
      "PROBLEM   Rank 1 on n2: no space left in /dev/shm for NCCL's shared memory.\n1\n";
  EXPECT_EQ(out.standard_output, said + said) << out.standard_error;
}

/// As after a job that failed: a batch job looks at nodes that are not its own.
TEST(Cluster, LooksAtOtherNodesFromABatchJob) {
  const Slurm slurm;
  if (!slurm.why_not().empty()) GTEST_SKIP() << slurm.why_not();
  slurm.folder().add("logs/nccl.log", kLogOf[1]);
  const std::string folder = slurm.folder().path().string();
  // sbatch --wait looks every ten seconds; a pipe knows at once.
  const std::string status = folder + "/status";
  ASSERT_EQ(mkfifo(status.c_str(), 0600), 0);
  const Outcome batch = slurm.run(
      {"sbatch", "--nodelist=n1", "--output=" + folder + "/batch.out", "--wrap",
       ncclog_binary().string() + " cluster --slurm --nodelist n2 --format json " +
           "--fail-on never --parts " + folder + " " + folder + "/logs; echo $? > " + status});
  ASSERT_EQ(batch.exit_code, 0) << batch.standard_error;
  const Outcome ended = run_command({.arguments = {"timeout", "60", "cat", status}});
  EXPECT_EQ(ended.standard_output, "0\n") << read_file(folder + "/batch.out");
  EXPECT_NE(read_file(folder + "/batch.out").find("Rank 1 on n2 (pid 52): no space left"),
            std::string::npos)
      << read_file(folder + "/batch.out");
}

/// Programs of that name that do what Slurm's would, as scripts.
class FakeSlurm {
 public:
  FakeSlurm() {
    folder_.add("logs/n1/nccl.log", kLogOf[0]);
    folder_.add("logs/n2/nccl.log", kLogOf[1]);
    add("srun",
        "while :; do case $1 in --nodelist=*) export SLURMD_NODENAME=${1#--nodelist=};; --*) ;; "
        "*) break;; esac; shift; done\nexec \"$@\"\n");
    for (const char* silent : {"squeue", "scontrol", "sacct"}) add(silent, "exit 1\n");
  }

  void add(const std::string& name, const std::string& script) const {
    fs::permissions(folder_.add("bin/" + name, "#!/bin/sh\n" + script), fs::perms::owner_all);
  }

  std::string in(const std::string& name) const { return (folder_.path() / name).string(); }

  /// `ncclog cluster --slurm` with these arguments, in the folder.
  Outcome run(std::vector<std::string> arguments) const {
    std::vector<std::string> words = {ncclog_binary().string(), "cluster", "--slurm"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return command(std::move(words));
  }

  Outcome command(std::vector<std::string> words) const {
    return run_command({.arguments = std::move(words),
                        .folder = folder_.path().string(),
                        .environment = {{"PATH", in("bin") + ":/usr/bin:/bin"}}});
  }

  /// Whether a folder for parts is left.
  bool has_parts() const {
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      if (entry.path().filename().string().starts_with("ncclog-parts")) return true;
    }
    return false;
  }

 private:
  TempDir folder_;
};

/// What the tools print of a job that runs, that ended, and that the controller has forgotten.
TEST(Cluster, FindsTheNodesOfJobsThatRunAndThatEnded) {
  const struct {
    const char* squeue;
    const char* scontrol;
    const char* sacct;
  } rows[] = {
      {"echo '4711 RUNNING n[1-2]'", "exit 1", "exit 1"},
      {"echo '4711 RUNNING n1'; echo '4712 RUNNING n2'", "exit 1", "exit 1"},
      {"echo '4711 FAILED n[1-2]'", "exit 1", "exit 1"},
      {"exit 1", "printf 'JobId=4711\\n   ReqNodeList=(null)\\n   NodeList=n[1-2]\\n'", "exit 1"},
      {"exit 1", "exit 1", "echo 'n[1-2]'"},
  };
  for (const auto& row : rows) {
    const FakeSlurm slurm;
    slurm.add("squeue", row.squeue);
    slurm.add("scontrol", row.scontrol);
    slurm.add("sacct", row.sacct);
    const Outcome out = slurm.run({"--jobid", "4711", "-q", slurm.in("logs/%h")});
    EXPECT_EQ(out.exit_code, 1) << row.squeue << out.standard_error;
    EXPECT_EQ(out.standard_output,
              "PROBLEM   Rank 1 on n2: no space left in /dev/shm for NCCL's shared memory.\n");
  }
}

TEST(Cluster, AJobWithoutNodesIsSaidToBeSo) {
  const FakeSlurm slurm;
  slurm.add("squeue", "echo '4711 PENDING'");
  const Outcome out = slurm.run({"--jobid", "4711", slurm.in("logs/%h")});
  EXPECT_EQ(out.exit_code, 2);
  EXPECT_NE(out.standard_error.find("Slurm calls it PENDING"), std::string::npos)
      << out.standard_error;
}

TEST(Cluster, AHostThatGaveNothingIsInTheHeadlineAndTheStatus) {
  const FakeSlurm slurm;
  const Outcome out = slurm.run({"--nodelist", "n[1-4]", slurm.in("logs/%h")});
  EXPECT_EQ(out.exit_code, 3) << "beside an error that was found";
  EXPECT_NE(out.standard_output.find("seen on 2 of 4 hosts."), std::string::npos)
      << out.standard_output;
  EXPECT_EQ(out.standard_error,
            "ncclog: n[3-4]: " + slurm.in("logs/%h") + ": no such file or folder\n");
  EXPECT_EQ(out.standard_output.find("ncclog-parts"), std::string::npos) << "it is removed";
  const Outcome quiet = slurm.run({"--nodelist", "n[1-4]", "-q", slurm.in("logs/%h")});
  EXPECT_NE(quiet.standard_output.find("seen on 2 of 4 hosts."), std::string::npos);
  EXPECT_FALSE(slurm.has_parts());
}

TEST(Cluster, WhyNoHostGaveAPartIsSaid) {
  const FakeSlurm slurm;
  const Outcome out = slurm.run({"--nodelist", "n[1-2]", slurm.in("elsewhere/%h")});
  EXPECT_EQ(out.exit_code, 2);
  EXPECT_EQ(out.standard_error,
            "ncclog: cluster: none of 2 nodes gave a part\n"
            "  hint: n[1-2]: " +
                slurm.in("elsewhere/%h") + ": no such file or folder\n");
}

TEST(Cluster, OneThatHangsIsLateAndTheOthersAreMerged) {
  const FakeSlurm slurm;
  slurm.add("scan",
            "echo 'srun: Required node not available (down, drained or reserved)'\n"
            "[ $SLURMD_NODENAME = n2 ] && exec sleep 300\nexec '" +
                ncclog_binary().string() + "' \"$@\"\n");
  const Outcome out = slurm.run({"--nodelist", "n[1-2]", "--time-limit", "8", "--program",
                                 slurm.in("bin/scan"), slurm.in("logs/%h")});
  EXPECT_EQ(out.exit_code, 3);
  EXPECT_EQ(out.standard_error,
            "ncclog: n2: not done after 8 s: srun: Required node not available (down, drained or "
            "reserved)\n");
}

TEST(Cluster, SignalsEndTheScansAndLeaveNothing) {
  const FakeSlurm slurm;
  for (const char* signal : {"INT", "TERM", "HUP", "KILL"}) {
    slurm.add("scan", "echo $$ > '" + slurm.in("pid") + "'\nexec sleep 300\n");
    fs::remove(slurm.in("pid"));
    const Outcome out = slurm.command(
        {"/bin/bash", "-c",
         "set -m; " + ncclog_binary().string() + " cluster --slurm --nodelist n1 --program " +
             slurm.in("bin/scan") +
             " logs & job=$!; until [ -s pid ]; do sleep 0.05; done; kill -" + signal +
             " $job; wait $job; echo status $?; " +
             "for i in $(seq 100); do kill -0 $(cat pid) 2>/dev/null || exit 0; sleep 0.1; done; " +
             "kill -9 $(cat pid); echo still there"});
    EXPECT_EQ(out.standard_output.find("still there"), std::string::npos) << signal;
    if (std::string(signal) == "KILL") continue;  // What that leaves nobody can remove.
    EXPECT_NE(out.standard_output.find("status 1"), std::string::npos) << out.standard_output;
    EXPECT_FALSE(slurm.has_parts()) << signal;
  }
}

TEST(Cluster, NamesNoHostThatCouldBeAnOption) {
  const Outcome outcome = run_command({.arguments = {ncclog_binary().string(), "cluster", "--slurm",
                                                     "--nodelist", "n1,-oProxyCommand=x", "logs"}});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.standard_error.find("not the name of a host"), std::string::npos)
      << outcome.standard_error;
}

/// A remote shell begins in the home folder, wherever this one stands.
TEST(Cluster, PrintsLinesForOtherLaunchersThatHoldAnywhere) {
  const Outcome outcome = run_command(
      {.arguments = {ncclog_binary().string(), "cluster", "--print", "ssh", "--nodelist", "n[1-2]",
                     "--program", "ncclog", "--rules", "own rules", "/logs of mine", "more"},
       .folder = "/tmp"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  const auto scan = [](const std::string& host) {
    return "ssh -n " + host + " 'ncclog scan --output /tmp/ncclog-parts/" + host +
           R"(.part --rules '\''/tmp/own rules'\'' -- '\''/logs of mine'\'' /tmp/more' &)" + "\n";
  };
  EXPECT_EQ(outcome.standard_output, "mkdir -m 700 /tmp/ncclog-parts\n" + scan("n1") + scan("n2") +
                                         "wait\nncclog analyze --rules '/tmp/own rules' "
                                         "/tmp/ncclog-parts --expect-hosts 'n[1-2]'\n");
}

/// Bit `number` of the file is the other one.
std::string flipped(std::string bytes, size_t number) {
  bytes[number / 8] = static_cast<char>(bytes[number / 8] ^ (1 << number % 8));
  return bytes;
}

TEST(Scan, ADamagedPartIsNamedAndTheRestMerged) {
  const TempDir folder;
  const auto path = [&](const char* name) { return (folder.path() / name).string(); };
  run_command({.arguments = {ncclog_binary().string(), "scan", "-o", path("good.part"),
                             sample_logs("healthy").string()}});
  run_command({.arguments = {ncclog_binary().string(), "scan", "-o", path("other.part"),
                             sample_logs("bad-ifname").string()}});
  const std::string whole = read_file(path("other.part"));
  std::vector<std::string> damaged = {"", whole.substr(0, 9), whole.substr(0, whole.size() / 2)};
  // Places far from each other, the beginning and the end among them.
  for (size_t bit = 3; bit < 8 * whole.size(); bit += whole.size() / 3)
    damaged.push_back(flipped(whole, bit));
  for (const std::string& bytes : damaged) {
    folder.add("other.part", bytes);
    const Outcome merged = run_command({.arguments = {ncclog_binary().string(), "analyze",
                                                      path("good.part"), path("other.part")}});
    EXPECT_EQ(merged.exit_code, 3) << merged.standard_error;
    EXPECT_NE(merged.standard_output.find("other.part"), std::string::npos)
        << merged.standard_output;
    EXPECT_NE(merged.standard_output.find("2 ranks on 1 host"), std::string::npos)
        << merged.standard_output;
  }
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

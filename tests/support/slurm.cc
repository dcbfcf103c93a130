#include "support/slurm.h"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace ncclog::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfiguration =
    "ClusterName=trial\nAuthType=auth/munge\nSlurmUser=root\nProctrackType=proctrack/pgid\n"
    "TaskPlugin=task/none\nJobAcctGatherType=jobacct_gather/none\n"
    "AccountingStorageType=accounting_storage/none\nSelectType=select/linear\n"
    "SwitchType=switch/none\nMpiDefault=none\nReturnToService=2\nKillWait=2\n"
    "PartitionName=all Nodes=n1,n2 Default=YES State=UP\n";

bool is_installed() {
  for (const char* program : {"/usr/sbin/munged", "/usr/sbin/slurmctld", "/usr/sbin/slurmd"}) {
    if (!fs::exists(program)) return false;
  }
  return geteuid() == 0;
}

}  // namespace

Slurm::Slurm() {
  if (!is_installed()) {
    why_not_ = "needs slurm-wlm and munge, and root";
    return;
  }
  for (const char* name : {"state", "spool.n1", "spool.n2"}) {
    fs::create_directory(folder_.path() / name);
  }
  const std::string key = folder_.add("munge.key", std::string(1024, 'k'));
  fs::permissions(key, fs::perms::owner_read);
  // Who asks munge for a credential has to come to its socket.
  fs::permissions(folder_.path(),
                  fs::perms::owner_all | fs::perms::others_exec | fs::perms::group_exec);
  write_configuration();
  const bool runs = start({"munged", "--force", "--key-file=" + key,
                           "--socket=" + in("munge.socket"), "--pid-file=" + in("munged.pid"),
                           "--log-file=" + in("munged.log"), "--seed-file=" + in("seed")}) &&
                    start({"slurmctld", "-f", conf_, "-i"}) &&
                    start({"slurmd", "-f", conf_, "-N", "n1"}) &&
                    start({"slurmd", "-f", conf_, "-N", "n2"}) && takes_jobs();
  if (!runs) why_not_ = "Slurm cannot be started here";
}

Slurm::~Slurm() {
  for (const char* name : {"d.n1.pid", "d.n2.pid", "ctld.pid", "munged.pid"}) {
    std::ifstream file(in(name));
    pid_t pid = 0;
    if (file >> pid && pid > 1) kill(pid, SIGKILL);
  }
}

Outcome Slurm::run(std::vector<std::string> arguments) const {
  const char* const path = std::getenv("PATH");
  return run_command(
      {.arguments = std::move(arguments),
       .folder = folder_.path().string(),
       .environment = {{"SLURM_CONF", conf_},
                       {"SOURCE_DATE_EPOCH", "1700000000"},
                       {"PATH", std::string(path == nullptr ? "" : path) + ":/usr/sbin"}}});
}

void Slurm::write_configuration() {
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

bool Slurm::start(std::vector<std::string> arguments) const {
  return run(std::move(arguments)).exit_code == 0;
}

bool Slurm::takes_jobs() const {
  // Slurm lets it wait until both nodes are there.
  return start({"srun", "--immediate=60", "--nodes=2", "true"});
}

}  // namespace ncclog::testing

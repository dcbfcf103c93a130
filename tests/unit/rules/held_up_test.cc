// Law: what ended or stopped a rank leads; that the others wait for that rank follows from it.

#include <gtest/gtest.h>

#include "base/text.h"
#include "support/call_log.h"
#include "unit/rules/sample_rules.h"

namespace ncclog::testing {
namespace {

constexpr int kRounds = 5;

/// Rank 1 (pid 51) does not come to the last AllReduce of rank 0, whose watchdog gives up.
std::string missing_call() {
  CallLog log;
  log.init(0, 2, 1).init(1, 2, 1);
  for (int i = 0; i < kRounds; ++i) log.call(0, 1).call(1, 1);
  return log.call(0, 1).timeout(0, kRounds + 1).text();
}

/// Rank 1 does not come to the last Recv that it always made.
std::string missing_message() {
  CallLog log;
  log.init(0, 2, 1).init(1, 2, 1);
  for (int i = 0; i < kRounds; ++i) {
    log.call(0, 1).call(1, 1).call(0, 1, "Send", 512, 1);
    if (i + 1 < kRounds) log.call(1, 1, "Recv", 512, 0);
  }
  return log.timeout(0, 2 * kRounds, "SEND").text();
}

/// "cause → what follows from it" of each error or warning that follows from no other.
std::string order_of(const std::string& log) {
  std::string out;
  std::string followers;
  for (const Finding& finding : diagnose(load_rulebook(), log).findings) {
    if (finding.severity == Severity::Info) continue;
    const bool follows = followers.find(finding.id + " ") != followers.npos;
    followers += join(finding.explains, " ") + " ";
    if (!follows) out += finding.id + " → " + join(finding.explains, " ") + "\n";
  }
  return out;
}

struct Fault {
  std::string lines;
  std::string cause;
  std::string also;  ///< What follows from the cause besides the hang.
};

std::string xid(int pid, int bus) {
  return "Jan 05 12:00:00 n3 kernel: NVRM: Xid (PCI:0000:0" + std::to_string(bus) +
         ":00): 79, pid=" + std::to_string(pid) + ", name=python3, GPU has fallen off the bus.\n";
}

const std::vector<Fault> kFaults = {
    {xid(51, 2), "xid-79-off-bus", "watchdog-timeout-unexplained "},
    {"E0304 10:11:43.000000 4000 torch/distributed/elastic/multiprocessing/api.py:874] failed "
     "(exitcode: -9) local_rank: 1 (pid: 51) of binary: /usr/bin/python3\n",
     "process-killed", ""},
    {"[rank1]: RuntimeError: CUDA error: an illegal memory access was encountered\n",
     "cuda-illegal-access", "watchdog-timeout-unexplained "},
    {"[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has a "
     "total capacity of 79.15 GiB of which 1.2 GiB is free.\n",
     "gpu-out-of-memory", ""},
};

TEST(HeldUp, AFaultOfTheRankThatIsBehindLeads) {
  for (const Fault& fault : kFaults) {
    const std::string leads = fault.cause + " → " + fault.also;
    EXPECT_EQ(order_of(missing_call() + fault.lines), leads + "collective-rank-missing\n");
    EXPECT_EQ(order_of(missing_message() + fault.lines), leads + "send-recv-unmatched\n");
  }
}

TEST(HeldUp, AnExceptionOfTheRankThatIsBehindLeads) {
  const std::string raised =
      "[rank1]: Traceback (most recent call last):\n"
      "[rank1]:   File \"/opt/train.py\", line 88, in <module>\n"
      "[rank1]:     main()\n"
      "[rank1]: ValueError: loss is nan\n";
  EXPECT_EQ(order_of(raised + missing_call()),
            "program-exception-first → collective-rank-missing\n");
  EXPECT_EQ(order_of(raised + missing_message()),
            "program-exception-first → send-recv-unmatched\n");
}

TEST(HeldUp, AFaultOfAnotherRankExplainsNothing) {
  EXPECT_EQ(order_of(missing_call() + xid(50, 1)),
            "collective-rank-missing → watchdog-timeout-unexplained\n"
            "xid-79-off-bus → watchdog-timeout-unexplained\n");
}

}  // namespace
}  // namespace ncclog::testing

// Law: whatever a log shows around a garbled segment name, nobody is sent to enlarge /dev/shm
// or to switch shared memory off.

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/text.h"
#include "rules/load_rules.h"
#include "unit/rules/sample_rules.h"

namespace ncclog::testing {
namespace {

constexpr std::string_view kFallback =
    " NCCL INFO cuMem host allocations do not appear to be working; falling back to a /dev/shm/ "
    "based implementation. This could be due to the container runtime disabling NUMA support. To "
    "disable this warning, set NCCL_CUMEM_HOST_ENABLE=0\n";

/// A rank of host dev-7 up to its initialisation.
std::string rank_lines(int rank, bool fell_back) {
  const std::string n = std::to_string(rank);
  const std::string speaker = "dev-7:410" + n + ":410" + n + " [" + n + "]";
  std::string log = speaker + " NCCL INFO Bootstrap: Using eth0:10.8.0.7<0>\n" + speaker +
                    " NCCL INFO NCCL version 2.27.3+cuda12.9\n";
  if (fell_back) log += speaker + std::string(kFallback);
  return log + speaker + " NCCL INFO ncclCommInitRankConfig comm 0x5" + n + " rank " + n +
         " nranks 2 cudaDev " + n + " nvmlDev " + n + " busId " + n +
         "000 commId 0x51 - Init START\n";
}

constexpr std::string_view kGarbled =
    "dev-7:4101:4177 [1] misc/shmutils.cc:134 NCCL WARN Error while attaching to shared memory "
    "segment /dev/shm/nccl-\xd3 (size 0), error: No such file or directory (2)\n";
constexpr std::string_view kSmallMount = "shm              64M   64M     0 100% /dev/shm\n";

struct Variant {
  std::string_view what;
  std::string log;
  std::string_view findings;  ///< Above info, in their order.
};

const Variant kVariants[] = {
    {"one rank fell back", rank_lines(0, false) + rank_lines(1, true),
     "shm-attach-garbled-size0 cumem-host-fallback"},
    {"no rank fell back", rank_lines(0, false) + rank_lines(1, false),
     "shm-attach-garbled-size0 shm-stale-segment"},
    {"a rank has no lines", rank_lines(1, true), "shm-attach-garbled-size0"},
    {"the line alone", "", "shm-attach-garbled-size0"},
    {"a small and full mount", std::string(kSmallMount), "shm-attach-garbled-size0"},
};

std::string loud(const Diagnosis& diagnosis) {
  std::vector<std::string> ids;
  for (const Finding& finding : diagnosis.findings) {
    if (finding.severity != Severity::Info) ids.push_back(finding.id);
  }
  return join(ids, " ");
}

TEST(GarbledSegment, LeadsToWhatTheLogSupportsAndNeverToMoreSpace) {
  const Rulebook rulebook = load_rulebook();
  for (const Variant& variant : kVariants) {
    const Diagnosis diagnosis = diagnose(rulebook, variant.log + std::string(kGarbled));
    EXPECT_EQ(loud(diagnosis), variant.findings) << variant.what;
    for (const Finding& finding : diagnosis.findings) {
      const std::string advice = join(finding.fix, " ") + join(finding.check, " ");
      for (const std::string_view folly : {"--shm-size", "NCCL_SHM_DISABLE", "nlarge", "medium:"}) {
        EXPECT_EQ(advice.find(folly), std::string::npos) << finding.id << ": " << variant.what;
      }
    }
  }
}

}  // namespace
}  // namespace ncclog::testing

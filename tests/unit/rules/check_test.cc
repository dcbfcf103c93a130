#include "rules/check.h"

#include <gtest/gtest.h>

namespace ncclog::testing {
namespace {

TEST(FindChecks, SayWhatToRunWhyAndWhere) {
  struct Row {
    std::string text;
    std::vector<std::string> hosts;
    Check check;
  };
  const Row kRows[] = {
      {"Did that rank start?", {"n1"}, {"", "Did that rank start?", ""}},
      {"ip -br a    # in the container", {"n1"}, {"ip -br a", "in the container", "n1"}},
      {"ip -br a    # in the container",
       {},
       {"ip -br a", "in the container", "every host of the job"}},
      {"ip -br a    # on every host",
       {"n1"},
       {"ip -br a", "on every host", "every host of the job"}},
      {"grep 'NET/' LOGS    # why", {"n1"}, {"grep 'NET/' LOGS", "why", "here"}},
      {"ncclog show env LOGS    # who has it",
       {"n1"},
       {"ncclog show env LOGS", "who has it", "here"}},
      {"sinfo -R    # why", {"n1"}, {"sinfo -R", "why", "here"}},
      {"ncclog doctor    # a host", {"n1"}, {"ncclog doctor", "a host", "n1"}},
      {"du CATALOGS    # ncclog show net LOGS",
       {"n1"},
       {"du CATALOGS", "ncclog show net LOGS", "n1"}},
      {"id    # who",
       {"gpu-node-01", "gpu-node-02", "gpu-node-04"},
       {"id", "who", "gpu-node-[01-02,04]"}},
      {"id    # who", {"a1.x", "a10.x", "a2.x", "b", "c"}, {"id", "who", "a[1-2].x,a10.x,b,c"}},
      {"id    # who", {"9", "99"}, {"id", "who", "9,99"}},
      {"id    # who", {std::string(300, 'x')}, {"id", "who", "its hosts"}},
  };
  for (const Row& row : kRows) {
    Finding finding;
    finding.hosts = row.hosts;
    finding.check = {row.text};
    EXPECT_EQ(find_checks(finding), std::vector{row.check}) << row.text;
  }
}

}  // namespace
}  // namespace ncclog::testing

#include "rules/applies_to.h"

#include <gtest/gtest.h>

#include "rules/rule_tools.h"
#include "unit/rules/sample_rules.h"

namespace ncclog::testing {
namespace {

const std::string kClosed =
    "n1:7:9 [0] misc/socket.cc:57 NCCL WARN Net : Connection closed by remote peer n2<40123>\n";

Finding finding_for(const std::string& versions, const std::string& log,
                    const std::string& per = "job") {
  return finding_of(sample_rule("my-rule", "{event: peer_closed}",
                                "applies_to: " + versions + "\nper: " + per + "\n"),
                    log);
}

struct Row {
  const char* versions;
  const char* banner;
  bool found;
  Confidence confidence;
};

constexpr Row kRows[] = {
    {"{nccl: \">=2.22 <2.25\"}", "NCCL version 2.22.3+cuda12.6", true, Confidence::Likely},
    {"{nccl: \">=2.22 <2.25\"}", "NCCL version 2.25.1+cuda12.6", false, {}},
    {"{nccl: [2.18, \">=2.25\"]}", "NCCL version 2.25.1+cuda12.6", true, Confidence::Likely},
    {"{nccl: 2.22, cuda: 11}", "NCCL version 2.22.3+cuda12.6", false, {}},
    {"{nccl: 2.22, cuda: 12}", "NCCL version 2.22.3+cuda12.6", true, Confidence::Likely},
    {"{nccl: \">=2.22\"}", "", true, Confidence::Possible},
    {"{nccl: 2.22, pytorch: \">=2.6\"}", "NCCL version 2.22.3+cuda12.6", true,
     Confidence::Possible},
    {"{nccl: 2.18, pytorch: \">=2.6\"}", "NCCL version 2.22.3+cuda12.6", false, {}},
};

TEST(AppliesTo, AnUnknownVersionMakesAFindingAGradeLessSure) {
  for (const Row& row : kRows) {
    const Finding finding = finding_for(
        row.versions, std::string("n1:7:7 [0] NCCL INFO ") + row.banner + "\n" + kClosed);
    EXPECT_EQ(finding.id, row.found ? "my-rule" : "") << row.versions << " " << row.banner;
    if (!row.found) continue;
    EXPECT_EQ(finding.confidence, row.confidence) << row.versions << " " << row.banner;
  }
}

TEST(AppliesTo, AProcessIsJudgedByItsOwnVersion) {
  const std::string log =
      "n1:7:7 [0] NCCL INFO NCCL version 2.22.3+cuda12.6\n"
      "n1:7:9 [0] misc/socket.cc:57 NCCL WARN Net : Connection closed by remote peer n2<40123>\n"
      "n2:8:8 [0] NCCL INFO NCCL version 2.18.5+cuda12.2\n"
      "n2:8:9 [0] misc/socket.cc:57 NCCL WARN Net : Connection closed by remote peer n1<40124>\n"
      "n3:9:9 [0] misc/socket.cc:57 NCCL WARN Net : Connection closed by remote peer n1<40125>\n";
  EXPECT_EQ(finding_for("{nccl: 2.18}", log, "process").hosts,
            (std::vector<std::string>{"n2", "n3"}));
  EXPECT_EQ(finding_for("{nccl: 2.22}", log, "process").hosts,
            (std::vector<std::string>{"n1", "n3"}));
  EXPECT_EQ(finding_for("{nccl: 2.20}", log, "process").id, "");
}

struct Wrong {
  const char* versions;
  const char* message;
};

constexpr Wrong kWrong[] = {
    {"{ncl: 2.22}", "rules/my-rule.yaml:9:14: unknown key 'ncl' | did you mean 'nccl'?"},
    {"{nccl: 2.x}",
     "rules/my-rule.yaml:9:20: '2.x' is no range of versions | write \">=2.22 "
     "<2.25\", or 2.22 for all its releases"},
    {"2.22", "rules/my-rule.yaml:9:13: expected ranges of versions by product, found a text"},
};

TEST(AppliesTo, IsCheckedWhenTheRuleIsLoaded) {
  for (const Wrong& row : kWrong) {
    EXPECT_EQ(error_of([&] { finding_for(row.versions, ""); }), row.message) << row.versions;
  }
}

TEST(AppliesTo, IsShownWithTheRule) {
  const Rulebook rulebook = rulebook_of(
      {sample_rule("my-rule", "{event: peer_closed}", "applies_to: {nccl: [2.18, \">=2.22\"]}\n")});
  EXPECT_NE(show_rule(rulebook, "my-rule").find("applies to  nccl 2.18 or >=2.22\n"),
            std::string::npos);
}

}  // namespace
}  // namespace ncclog::testing

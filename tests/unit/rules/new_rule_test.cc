#include <gtest/gtest.h>

#include <filesystem>

#include "app/read/read_example.h"
#include "rules/rule_tools.h"
#include "support/paths.h"
#include "support/temp_dir.h"
#include "unit/rules/sample_rules.h"

namespace ncclog::testing {
namespace {

std::string text_for(const std::string& line) {
  return new_rule_text("my-rule", line, job_from_text(line));
}

constexpr const char* kSimilarLines[] = {
    "",
    "n1:7:9 [0] misc/socket.cc:57 NCCL WARN Net : Connection closed by remote peer n2<40123>",
    "n1:7:9 [0] misc/shmutils.cc:129 NCCL WARN Error while attaching to shared memory segment "
    "/dev/shm/nccl-ab12 (size 0), error: No such file or directory (2)",
    "n1:7:9 [0] odd.cc:1 NCCL WARN Frob (17) of \"rail\" [0x7f] went \\ away | ^ $ {3}",
    "nothing that anybody prints: 12 \t tabs \x01 and \xff bytes",
};

TEST(NewRule, LoadsAsItIsAndFiresOnItsLine) {
  for (const char* line : kSimilarLines) {
    Rule rule = load_rule(text_for(line), "my-rule.yaml");
    rule.quiet.clear();
    const RuleTest test = test_rules(rulebook_of({std::move(rule)}), true, read_example);
    EXPECT_TRUE(test.failures.empty() || std::string_view(line).starts_with("nothing"))
        << text_for(line) << test.failures.front().what;
  }
}

TEST(NewRule, FailsItsTestUntilItHasANearMiss) {
  for (const char* line : kSimilarLines) {
    const Rulebook rulebook = rulebook_of({load_rule(text_for(line), "my-rule.yaml")});
    EXPECT_FALSE(test_rules(rulebook, true, read_example).failures.empty()) << line;
  }
}

TEST(NewRule, ProposesTheFieldsOfAKnownLine) {
  const std::string text = text_for(kSimilarLines[2]);
  EXPECT_NE(
      text.find("    - event: shm_attach_failed\n"
                "      where:  # Keep what makes this fault; drop what only this line says.\n"),
      text.npos)
      << text;
  EXPECT_NE(text.find("        name: \"/dev/shm/nccl-ab12\"\n"), text.npos) << text;
  EXPECT_NE(text.find("        # size: 0\n"), text.npos) << text;
}

TEST(NewRule, ProposesAPatternForAnotherLine) {
  EXPECT_NE(text_for("n1:7:9 [0] odd.cc:1 NCCL WARN Frob (17) gone")
                .find("- line: \"NCCL WARN Frob \\\\([0-9]+\\\\) gone\"\n"),
            std::string::npos);
}

TEST(NewRule, IsWrittenOnceAndUnderAFreeId) {
  const TempDir dir;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(dir.path());
  const Rulebook rulebook = rulebook_of({sample_rule("taken", "{event: peer_closed}")});
  EXPECT_EQ(write_new_rule(rulebook, "my-rule", "network", "text"), "network/my-rule.yaml");
  EXPECT_EQ(read_file(dir.path() / "network/my-rule.yaml"), "text");
  EXPECT_EQ(error_of([&] { write_new_rule(rulebook, "my-rule", "network", "text"); }),
            "network/my-rule.yaml: the file is there already");
  EXPECT_EQ(error_of([&] { write_new_rule(rulebook, "taken", "", "text"); }),
            "rules new: there is a rule 'taken' | it is in rules/taken.yaml; choose another id, or "
            "see 'ncclog rules show taken'");
  std::filesystem::current_path(before);
  EXPECT_EQ(error_of([] { new_rule_text("My_Rule", "", Job{}); }),
            "rules new: 'My_Rule' is no id | ids are words in lower case, joined by '-'");
}

}  // namespace
}  // namespace ncclog::testing

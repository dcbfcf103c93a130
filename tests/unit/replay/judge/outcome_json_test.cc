#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "replay/judge/outcome.h"
#include "support/json_schema.h"
#include "support/paths.h"
#include "support/sample_plan.h"

namespace ncclog {
namespace {

using nlohmann::json;
using testing::sample_outcome;

std::string complaints(const std::string& outcome) {
  const json schema = json::parse(
      testing::read_file(testing::source_dir() / "src/replay/judge/outcome.schema.json"));
  return join(testing::schema_errors(schema, json::parse(outcome)), "\n");
}

TEST(OutcomeJson, KeepsEveryMember) {
  EXPECT_EQ(parse_outcome(write_outcome(sample_outcome()), "outcome.json"), sample_outcome());
  EXPECT_EQ(parse_outcome(write_outcome(ReplayOutcome()), "outcome.json"), ReplayOutcome());
}

TEST(OutcomeJson, FitsItsSchema) {
  EXPECT_EQ(complaints(write_outcome(sample_outcome())), "");
  EXPECT_EQ(complaints(write_outcome(ReplayOutcome())), "");
}

TEST(OutcomeJson, UnknownIsNull) {
  ReplayOutcome outcome = sample_outcome();
  outcome.runs[0].ranks[0].pid = -1;
  outcome.runs[0].seconds = std::nan("");
  const json written = json::parse(write_outcome(outcome));
  EXPECT_EQ(written["runs"][0]["ranks"][0]["pid"], nullptr);
  EXPECT_EQ(written["runs"][0]["ranks"][0]["exit_code"], nullptr);
  EXPECT_EQ(written["runs"][1]["front"], nullptr);
  EXPECT_EQ(written["runs"][0]["seconds"], 0);
}

TEST(OutcomeJson, SaysWhereItIsWrong) {
  json outcome = json::parse(write_outcome(sample_outcome()));
  outcome["runs"][1]["end"] = "hing";
  try {
    parse_outcome(outcome.dump(), "outcome.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "outcome.json: runs[1].end");
    EXPECT_STREQ(error.what(), "unknown end of a run 'hing'");
    EXPECT_EQ(error.hint(), "did you mean 'hung'?");
  }
}

TEST(OutcomeJson, RefusesAKeyThatStandsTwice) {
  try {
    parse_outcome("{\"runs\": [],\n\"runs\": []}", "outcome.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "outcome.json:2:1");
    EXPECT_STREQ(error.what(), "the key 'runs' stands twice in one object");
  }
}

}  // namespace
}  // namespace ncclog

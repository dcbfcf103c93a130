#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "replay/judge/verdict.h"
#include "support/json_schema.h"
#include "support/paths.h"
#include "support/replay_samples.h"

namespace ncclog {
namespace {

using nlohmann::json;
using testing::completed_run;
using testing::hung_run;
using testing::like_the_record;
using testing::outcome_of;
using testing::skipping_plan;

json schema_of(const char* name) {
  return json::parse(testing::read_file(testing::source_dir() / "src/replay" / name));
}

std::string schema_complaints(const std::string& text) {
  return join(testing::schema_errors(schema_of("judge/result.schema.json"), json::parse(text)),
              "\n");
}

ReplayResult timed_result() {
  const ReplayPlan plan = skipping_plan();
  RunOutcome clean = completed_run(MadeIn::Clean);
  clean.settings = {{"NCCL_ALGO", "Ring"}};
  clean.timings = {{.call = 0,
                    .op = "AllReduce",
                    .bytes = 4096,
                    .runs = 20,
                    .cold_us = 90,
                    .median_us = 20,
                    .least_us = 18,
                    .most_us = 30,
                    .algbw = 92.7,
                    .busbw = 92.7}};
  RunOutcome defect = hung_run(MadeIn::Defect, *plan.hypothesis.front);
  defect.settings = clean.settings;
  return make_result(plan, std::string(64, 'b'), outcome_of({defect, clean}),
                     std::vector<ReadBack>(2, like_the_record()));
}

TEST(MakeResult, HoldsATimeAgainstTheSlowestPathBetweenTheGpus) {
  const ReplayResult result = timed_result();
  ASSERT_EQ(result.timings.size(), 1u);
  EXPECT_EQ(result.timings[0].settings, "NCCL_ALGO=Ring");
  EXPECT_EQ(result.timings[0].link_type, "NVL");
  EXPECT_DOUBLE_EQ(result.timings[0].share, 92.7 / 370.8);
  EXPECT_EQ(result.verdict.kind, ReplayVerdictKind::ReproducedHypothesis);
  EXPECT_EQ(result.communicators, std::vector<std::string>{"0x5ca1e"});
}

TEST(MakeResult, KnowsNoShareOfALinkThatNoLineNames) {
  RunOutcome clean = completed_run(MadeIn::Clean);
  clean.timings = {{.op = "AllReduce", .busbw = 5}};
  const ReplayResult result = make_result(skipping_plan(), "b", outcome_of({clean}), {});
  EXPECT_EQ(result.timings.at(0).share, -1);
}

TEST(ResultSchema, HasTheOutcomesOwnParts) {
  const json result = schema_of("judge/result.schema.json");
  const json outcome = schema_of("judge/outcome.schema.json");
  for (const auto& [name, part] : outcome["$defs"].items()) {
    EXPECT_EQ(result["$defs"].value(name, json()), part) << name;
  }
  EXPECT_EQ(result["$defs"]["outcome"]["properties"], outcome["properties"]);
  EXPECT_EQ(result["properties"]["hypothesis"],
            schema_of("plan/plan.schema.json")["properties"]["hypothesis"]);
}

TEST(WriteResult, FitsItsSchemaAndIsReadAsItWasWritten) {
  for (const ReplayResult& result :
       {timed_result(), make_result(skipping_plan(), "b", outcome_of({}), {})}) {
    const std::string text = write_result(result);
    EXPECT_EQ(schema_complaints(text), "");
    EXPECT_EQ(parse_result(text, "result.json"), result);
    EXPECT_EQ(write_result(parse_result(text, "result.json")), text);
  }
}

TEST(ParseResult, NamesThePlaceOfWhatIsNoResult) {
  json document = json::parse(write_result(timed_result()));
  document["verdict"]["kind"] = "reproduced-hypothesys";
  try {
    parse_result(document.dump(), "result.json");
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "result.json: verdict.kind");
    EXPECT_EQ(error.what(), std::string("unknown kind of verdict 'reproduced-hypothesys'"));
    EXPECT_EQ(error.hint(), "did you mean 'reproduced-hypothesis'?");
  }
  EXPECT_THROW(parse_result("{\"schema\": \"ncclog.replay/1\"}", "plan.json"), Error);
}

}  // namespace
}  // namespace ncclog

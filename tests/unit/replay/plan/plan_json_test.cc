#include "replay/plan/plan_json.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "replay/plan/plan.h"
#include "support/json_schema.h"
#include "support/paths.h"
#include "support/refusal.h"
#include "support/sample_plan.h"

namespace ncclog {
namespace {

using nlohmann::json;
using testing::sample_plan;

json schema() {
  return json::parse(
      testing::read_file(testing::source_dir() / "src/replay/plan/plan.schema.json"));
}

std::string complaints(const json& plan) {
  return join(testing::schema_errors(schema(), plan), "\n");
}

std::string plan_refusal(std::string_view text) {
  return testing::refusal_of([&] { parse_plan(text, "plan.json"); });
}

/// The sample with one value put at a JSON pointer.
std::string sample_with(const char* pointer, const json& value) {
  json plan = json::parse(write_plan(sample_plan()));
  plan[json::json_pointer(pointer)] = value;
  return plan.dump();
}

TEST(PlanJson, KeepsEveryMember) {
  EXPECT_EQ(parse_plan(write_plan(sample_plan()), "plan.json"), sample_plan());
  EXPECT_EQ(parse_plan(write_plan(ReplayPlan()), "plan.json"), ReplayPlan());
}

TEST(PlanJson, FitsItsSchema) {
  EXPECT_EQ(complaints(json::parse(write_plan(sample_plan()))), "");
  EXPECT_EQ(complaints(json::parse(write_plan(ReplayPlan()))), "");
  EXPECT_EQ(complaints(json::parse(sample_with("/ranks/0/calls/2/op", "AllRedcue")))
                .find("/ranks/0/calls/2/op: \"AllRedcue\" is none of"),
            0U);
  EXPECT_EQ(complaints(json::parse(sample_with("/extra", 1))), "/: has unknown \"extra\"");
}

TEST(PlanJson, PlansOfLogsFitTheSchemaAndAreSound) {
  int plans = 0;
  for (const auto& folder :
       std::filesystem::directory_iterator(testing::source_dir() / "tests/golden")) {
    const auto path = folder.path() / "expected.json";
    if (!exists(path)) continue;
    const std::string text = testing::read_file(path);
    if (text.find(ReplayPlan::kSchema) == std::string::npos) continue;
    ++plans;
    const ReplayPlan plan = parse_plan(text, path.string());
    EXPECT_EQ(complaints(json::parse(text)), "") << path;
    EXPECT_EQ(write_plan(plan), text) << path;
    EXPECT_FALSE(is_refused(check_plan(plan))) << path;
  }
  EXPECT_GE(plans, 5);
}

TEST(PlanJson, WritesACallOnALine) {
  const std::string text = write_plan(sample_plan());
  const char* kCall =
      "\n        {\"communicator\": 0, \"index\": 0, \"op\": \"AllReduce\", \"count\": 1048576, "
      "\"datatype\": \"float32\", \"redop\": \"avg\", \"in_place\": true},\n";
  EXPECT_NE(text.find(kCall), std::string::npos) << text;
}

TEST(PlanJson, ReductionsOfTheJobAreAllTheSame) {
  ReplayPlan plan = sample_plan();
  plan.ranks[0].calls[2].redop = 9;
  const std::string text = write_plan(plan);
  EXPECT_NE(text.find("\"redop\": \"user\""), std::string::npos);
  EXPECT_EQ(parse_plan(text, "plan.json").ranks[0].calls[2].redop, 5);
}

TEST(PlanJson, KeepsNumbersWithoutAName) {
  ReplayPlan plan = sample_plan();
  plan.ranks[0].calls[2].datatype = 99;
  plan.ranks[0].calls[2].redop = -7;
  EXPECT_EQ(parse_plan(write_plan(plan), "plan.json"), plan);
}

TEST(PlanJson, SaysWhereItIsWrongAndWhatIsNear) {
  struct Row {
    const char* pointer;
    json value;
    const char* refusal;
  };
  const Row kRows[] = {
      {"/ranks/1/calls/2/op", "AllRedcue",
       "plan.json: ranks[1].calls[2].op: unknown function 'AllRedcue' (did you mean 'AllReduce'?)"},
      {"/ranks/1/calls/2/datatype", "flaot32",
       "plan.json: ranks[1].calls[2].datatype: unknown datatype 'flaot32' (did you mean "
       "'float32'?)"},
      {"/ranks/1/calls/2/redop", "mean",
       "plan.json: ranks[1].calls[2].redop: unknown reduction 'mean' (one of: sum, "
       "prod, max, min, avg, user)"},
      {"/ranks/1/calls/2/made_in", "never",
       "plan.json: ranks[1].calls[2].made_in: unknown kind of run 'never' (one of: both, clean, "
       "defect)"},
      {"/ranks/1/calls/2/counts", 1,
       "plan.json: ranks[1].calls[2]: unknown key 'counts' (did you mean 'count'?)"},
      {"/hypothesis/kind", "missing",
       "plan.json: hypothesis.kind: unknown kind of defect 'missing' (one of: none, missing-call, "
       "extra-call, other-call, message, stall)"},
      {"/ranks/0/calls/0/count", "many",
       "plan.json: ranks[0].calls[0].count: a whole number is expected, not a text"},
      {"/ranks/0/calls/0/count", 1.5,
       "plan.json: ranks[0].calls[0].count: a whole number is expected, not a number that is not "
       "whole"},
      {"/ranks/0/calls/0/count", uint64_t{1} << 63,
       "plan.json: ranks[0].calls[0].count: not a number from -9223372036854775808 to "
       "9223372036854775807"},
      {"/ranks/0/calls/0/index", -1,
       "plan.json: ranks[0].calls[0].index: not a number from 0 to 18446744073709551615"},
      {"/ranks/0/host_group", nullptr,
       "plan.json: ranks[0].host_group: a whole number is expected, not null"},
      {"/communicators/1/ranks/0", 3000000000LL,
       "plan.json: communicators[1].ranks[0]: not a number from -2147483648 to 2147483647"},
      {"/ranks/0/calls/2/in_place", 1,
       "plan.json: ranks[0].calls[2].in_place: true or false is expected, not a whole number"},
      {"/ranks", {{"calls", 1}}, "plan.json: ranks: a list is expected, not an object"},
      {"/ranks/0", 7, "plan.json: ranks[0]: an object is expected, not a whole number"},
      {"/schema", "ncclog.replay/2",
       "plan.json: schema: a replay plan of another version: ncclog.replay/2 (this ncclog reads "
       "ncclog.replay/1)"},
      {"/schema", "ncclog.report/1",
       "plan.json: schema: not a replay plan, but ncclog.report/1 (this ncclog reads "
       "ncclog.replay/1)"},
      {"/schema", 1,
       "plan.json: not a replay plan: it names no schema (this ncclog reads ncclog.replay/1)"},
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(plan_refusal(sample_with(row.pointer, row.value)), row.refusal) << row.pointer;
  }
}

TEST(PlanJson, MissesKeys) {
  json plan = json::parse(write_plan(sample_plan()));
  plan["ranks"][1]["calls"][0].erase("count");
  EXPECT_EQ(plan_refusal(plan.dump()), "plan.json: ranks[1].calls[0]: 'count' is missing");
  plan = json::parse(write_plan(sample_plan()));
  plan["ranks"][1]["calls"][2].erase("redop");
  EXPECT_EQ(plan_refusal(plan.dump()), "plan.json: ranks[1].calls[2]: 'redop' is missing");
}

TEST(PlanJson, RefusesWhatIsNoJson) {
  const std::string nested = std::string(1000000, '[');
  EXPECT_EQ(plan_refusal(""), "plan.json: the file is empty");
  EXPECT_EQ(plan_refusal(" \n"), "plan.json: the file is empty");
  EXPECT_EQ(plan_refusal("{\"schema\":\n  nothing}"), "plan.json:2:4: no JSON from here on");
  EXPECT_EQ(plan_refusal("\xff\xfe{}"), "plan.json:1:1: no JSON from here on");
  EXPECT_EQ(plan_refusal("{\"schema\": \"\xc3(\"}"), "plan.json:1:14: no JSON from here on");
  EXPECT_EQ(plan_refusal("{\"x\": 1e999}"), "plan.json: a number is out of range");
  EXPECT_EQ(plan_refusal(nested), "plan.json:1:1000001: no JSON from here on");
  EXPECT_EQ(plan_refusal(nested + std::string(1000000, ']')),
            "plan.json: a replay plan is expected, not a list");
  EXPECT_EQ(plan_refusal(std::string(kMaxReplayText + 1, ' ')), "plan.json: longer than 32 MiB");
}

TEST(PlanJson, RefusesAKeyThatStandsTwice) {
  std::string text = write_plan(sample_plan());
  EXPECT_EQ(
      plan_refusal("{\"schema\": \"ncclog.replay/1\",\n  \"ranks\": [], \"ranks\": []}"),
      "plan.json:2:16: the key 'ranks' stands twice in one object (leave one of the two out)");
  const size_t call = text.find("\"count\": ");
  text.insert(call, "\"count\": 1, ");
  EXPECT_TRUE(plan_refusal(text).ends_with(
      ": the key 'count' stands twice in one object (leave one of the two out)"))
      << plan_refusal(text);
}

TEST(PlanJson, RepairsTextsThatAreNotUtf8) {
  ReplayPlan plan = sample_plan();
  plan.ranks[0].host = "oak\xff\n\"";
  EXPECT_EQ(parse_plan(write_plan(plan), "plan.json").ranks[0].host, "oak\uFFFD\n\"");
}

TEST(PlanJson, NamesAPlanByItsBytes) {
  EXPECT_EQ(plan_hash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

/// "count@27", from 0; "none".
std::string found_in(const std::string& text) {
  try {
    parse_json_document(text, "text");
    return "none";
  } catch (const Error& error) {
    const std::string what = error.what();
    const size_t column = std::stoul(error.where().substr(error.where().rfind(':') + 1));
    const size_t quote = what.find('\'') + 1;
    return what.substr(quote, what.rfind('\'') - quote) + "@" + std::to_string(column - 1);
  }
}

struct RepeatedRow {
  const char* text;
  const char* found;
};

constexpr RepeatedRow kRepeated[] = {
    {R"({"count": 8, "op": "Send", "count": 9})", "count@27"},
    {R"({"a": {"count": 8}, "b": {"count": 9}})", "none"},
    {R"([{"a": 1}, {"a": 2}])", "none"},
    {R"({"a": {"b": 1}, "b": 2})", "none"},
    {R"({"a": {"b": 1, "b": 2}, "a": 2})", "b@15"},
    {R"({"a": [{"b": 1}], "c": {}, "a" : 3})", "a@27"},
    {R"({"a": "a", "b": ["a", "a"]})", "none"},
    {R"({"a": "\"a\": ", "b": "}{"})", "none"},
    {R"({"a\\": 1, "a\"": 2, "a": 3})", "none"},
    {R"({"count": 1, "c\u006funt": 2})", "count@13"},
    {R"({"b": 1, "a": 1, "a": 2, "b": 2, "a": 3})", "a@17"},
    {R"({"": 1, "": 2})", "@8"},
    {"{}", "none"},
    {"[]", "none"},
    {"\"a\"", "none"},
    {"1", "none"},
};

TEST(RepeatedKey, LooksAtEachObjectByItself) {
  for (const RepeatedRow& row : kRepeated) EXPECT_EQ(found_in(row.text), row.found) << row.text;
}

TEST(RepeatedKey, DepthCostsNothing) {
  constexpr int kDeep = 200000;
  std::string text;
  for (int i = 0; i < kDeep; ++i) text += R"({"a":)";
  text += "1" + std::string(kDeep, '}');
  EXPECT_EQ(found_in(text), "none");
}

}  // namespace
}  // namespace ncclog

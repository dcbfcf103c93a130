#include "replay/judge/outcome.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "support/json_schema.h"
#include "support/paths.h"
#include "support/sample_plan.h"

namespace ncclog::testing {
namespace {

using nlohmann::json;

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

/// A rank's calls by letter: A, B, C are collectives on communicator 0, a, b on communicator 1,
/// '>' sends to rank 1 and '<' receives from rank 0, both on communicator 0.
std::vector<PlannedCall> calls_by(std::string_view letters) {
  std::vector<PlannedCall> calls;
  std::map<std::pair<int, bool>, uint64_t> next;
  for (char letter : letters) {
    PlannedCall call{.communicator = letter >= 'a' ? 1 : 0, .op = "AllReduce", .count = 4};
    if (letter == '>') call.op = "Send", call.root = 1;
    if (letter == '<') call.op = "Recv", call.root = 0;
    call.index = 20 + next[{call.communicator, call.op != "AllReduce"}]++;
    calls.push_back(call);
  }
  return calls;
}

/// How far a rank came in the calls named by letters.
struct Came {
  const char* calls;
  uint64_t entered;
  uint64_t completed;
  std::vector<uint64_t> open;
};

struct FrontRow {
  const char* what;
  std::vector<Came> ranks;
  std::optional<FrontLine> front;
};

ReplayPlan plan_of(const FrontRow& row) {
  ReplayPlan plan;
  plan.communicators.resize(2);
  for (size_t rank = 0; rank < row.ranks.size(); ++rank) {
    plan.ranks.push_back({.recorded_rank = static_cast<int>(rank)});
    plan.ranks.back().calls = calls_by(row.ranks[rank].calls);
    for (auto& communicator : plan.communicators) {
      communicator.ranks.push_back(static_cast<int>(rank));
    }
  }
  return plan;
}

std::vector<RankOutcome> outcomes_of(const FrontRow& row) {
  std::vector<RankOutcome> outcomes;
  for (const Came& came : row.ranks) {
    RankOutcome outcome;
    outcome.rank = static_cast<int>(outcomes.size());
    outcome.entered = came.entered;
    outcome.completed = came.completed;
    outcome.open = came.open;
    outcomes.push_back(outcome);
  }
  return outcomes;
}

std::string text_of(const std::optional<FrontLine>& front) {
  if (!front) return "none";
  std::string text = "communicator " + std::to_string(front->communicator) + ", call " +
                     std::to_string(front->index);
  for (int rank : front->entered) text += " +" + std::to_string(rank);
  for (int rank : front->missing) text += " -" + std::to_string(rank);
  return text;
}

const FrontRow kFronts[] = {
    {"nobody is in a call", {{"AAA", 3, 3, {}}, {"AAA", 2, 2, {}}}, std::nullopt},
    {"one did not come", {{"AAA", 3, 2, {2}}, {"AAA", 2, 2, {}}}, FrontLine{0, 22, {0}, {1}}},
    {"one has no such call", {{"AAA", 3, 2, {2}}, {"AA", 2, 2, {}}}, FrontLine{0, 22, {0}, {1}}},
    {"all came and stand",
     {{"AAA", 3, 1, {1, 2}}, {"AAA", 2, 1, {1}}},
     FrontLine{0, 21, {0, 1}, {}}},
    {"one is a call ahead, as the root of a broadcast is",
     {{"AAA", 3, 2, {2}}, {"AAA", 1, 1, {}}},
     FrontLine{0, 21, {0}, {1}}},
    {"a later call on another stream is through",
     {{"Aab", 3, 0, {0}}, {"Aab", 2, 0, {0}}},
     FrontLine{0, 20, {0, 1}, {}}},
    {"the first communicator in the plan's order counts",
     {{"Aa", 2, 0, {0, 1}}, {"aA", 1, 0, {0}}, {"aA", 2, 0, {0, 1}}},
     FrontLine{0, 20, {0, 2}, {1}}},
    {"a message without its other end",
     {{">>", 2, 1, {1}}, {"<A", 1, 1, {}}},
     FrontLine{0, 21, {0}, {1}}},
    {"both ends of a message stand",
     {{">", 1, 0, {0}}, {"<", 1, 0, {0}}},
     FrontLine{0, 20, {0, 1}, {}}},
    {"a collective counts before a message",
     {{"A>", 2, 0, {0, 1}}, {"A<", 0, 0, {}}},
     FrontLine{0, 20, {0}, {1}}},
};

TEST(FrontLine, IsTheFirstCallThatNotAllCompleted) {
  for (const FrontRow& row : kFronts) {
    EXPECT_EQ(text_of(front_line(plan_of(row), MadeIn::Defect, outcomes_of(row))),
              text_of(row.front))
        << row.what;
  }
}

TEST(FrontLine, PrefersTheHypothesis) {
  const FrontRow row = {"", {{"Aa", 2, 0, {0, 1}}, {"aA", 1, 0, {0}}}, {}};
  ReplayPlan plan = plan_of(row);
  plan.hypothesis.front = FrontLine{1, 20, {}, {}};
  EXPECT_EQ(front_line(plan, MadeIn::Defect, outcomes_of(row))->communicator, 1);
  plan.hypothesis.front = FrontLine{7, 20, {}, {}};
  EXPECT_EQ(front_line(plan, MadeIn::Defect, outcomes_of(row))->communicator, 0);
}

TEST(FrontLine, LooksAtMessagesFirstIfTheyAreTheHypothesis) {
  const FrontRow row = {"", {{"A>", 2, 0, {0, 1}}, {"A<", 0, 0, {}}}, {}};
  ReplayPlan plan = plan_of(row);
  plan.hypothesis.kind = DefectKind::Message;
  plan.ranks[0].calls[1].index = 77;
  EXPECT_EQ(front_line(plan, MadeIn::Defect, outcomes_of(row))->index, 77U);
}

TEST(FrontLine, IsWhereDataAreWrongIfThatIsBeforeTheHang) {
  const FrontRow row = {"", {{"AAA", 3, 2, {2}}, {"AAA", 2, 2, {}}}, {}};
  std::vector<RankOutcome> outcomes = outcomes_of(row);
  outcomes[0].verified = {.calls = 2, .elements = 8, .wrong = 3};
  outcomes[0].verified.first = WrongElement{1, 0, "1", "2"};
  EXPECT_EQ(text_of(front_line(plan_of(row), MadeIn::Defect, outcomes)),
            "communicator 0, call 21 +0 +1");
  outcomes[0].verified.first->call = 2;
  EXPECT_EQ(text_of(front_line(plan_of(row), MadeIn::Defect, outcomes)),
            "communicator 0, call 22 +0 -1");
}

TEST(FrontLine, CountsTheCallsOfItsModeOnly) {
  const FrontRow row = {"", {{"AAA", 3, 2, {2}}, {"AAA", 2, 2, {}}}, {}};
  ReplayPlan plan = plan_of(row);
  plan.ranks[0].calls[0].made_in = MadeIn::Clean;
  plan.ranks[1].calls[0].made_in = MadeIn::Clean;
  // Two calls are left in the defect run, and `entered` counts those.
  std::vector<RankOutcome> outcomes = outcomes_of(row);
  outcomes[0].entered = 2, outcomes[0].completed = 1, outcomes[0].open = {1};
  outcomes[1].entered = 1, outcomes[1].completed = 1;
  EXPECT_EQ(text_of(front_line(plan, MadeIn::Defect, outcomes)), "communicator 0, call 22 +0 -1");
}

TEST(IsCompleted, TrustsNothingBehindTheLastOpenCallThatIsKnown) {
  RankOutcome rank;
  rank.entered = 10;
  rank.completed = 2;
  rank.open = {2, 5};
  const std::vector<bool> expected = {true,  true,  false, true,  true, false,
                                      false, false, false, false, false};
  for (uint64_t place = 0; place < expected.size(); ++place) {
    EXPECT_EQ(is_completed(rank, place), expected[place]) << place;
  }
}

}  // namespace
}  // namespace ncclog::testing

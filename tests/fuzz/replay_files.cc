// Any bytes as a plan, an outcome, a result, or a line that a rank of a replay sends. What is read
// is written so that it is read again as the same; what makes sense to the check is carried on with.

#include "base/error.h"
#include "fuzz/fuzz.h"
#include "replay/judge/verdict.h"
#include "replay/plan/build_plan.h"
#include "replay/plan/plan_json.h"
#include "replay/run/protocol.h"

namespace ncclog::fuzz {
namespace {

/// `follow` takes what was read.
template <typename Read, typename Write, typename Follow>
void read_and_write(std::string_view bytes, Read read, Write write, Follow follow) {
  try {
    const auto value = read(bytes, "file.json");
    const std::string text = write(value);
    require_equal(write(read(text, "again")), text);
    follow(value);
  } catch (const Error& error) {
    require(!std::string_view(error.what()).empty());
  }
}

void carry_on(const ReplayPlan& plan) {
  if (is_refused(check_plan(plan))) return;
  longest_seconds(plan.deadlines, runs_of(plan));
  cost_words(plan, runs_of(plan));
  nccl_tests_lines(plan);
  completed_calls(plan);
}

}  // namespace

void fuzz_plan(std::string_view bytes) { read_and_write(bytes, parse_plan, write_plan, carry_on); }

void fuzz_outcome(std::string_view bytes) {
  read_and_write(bytes, parse_outcome, write_outcome, [](const ReplayOutcome&) {});
}

void fuzz_result(std::string_view bytes) {
  read_and_write(bytes, parse_result, write_result, [](const ReplayResult& result) {
    time_comparisons(result.timings);
    replay_measurements(result);
  });
}

/// A plan, a byte 0, an outcome, which may be of any other plan.
void fuzz_verdict(std::string_view bytes) {
  const std::vector<std::string_view> files = parts_of(bytes, '\0', 2);
  if (files.size() < 2) return;
  try {
    const ReplayPlan plan = parse_plan(files[0], "plan.json");
    const ReplayOutcome outcome = parse_outcome(files[1], "outcome.json");
    if (is_refused(check_plan(plan))) return;
    const ReplayResult result = make_result(plan, plan_hash(files[0]), outcome, {});
    require_equal(write_result(parse_result(write_result(result), "again")), write_result(result));
  } catch (const Error&) {
  }
}

void fuzz_rank_message(std::string_view bytes) {
  if (const auto message = parse_line<RankMessage>(bytes)) {
    const std::string line = write_line(*message);
    const auto again = parse_line<RankMessage>(line.substr(0, line.size() - 1));
    require(again && write_line(*again) == line);
  }
  parse_line<RunOrder>(bytes);
}

}  // namespace ncclog::fuzz

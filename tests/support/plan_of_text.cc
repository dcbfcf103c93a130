#include "support/plan_of_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "log/event_reader.h"
#include "model/derive/build_job.h"
#include "replay/plan/build_plan.h"
#include "replay/plan/recorded_calls.h"

namespace ncclog::testing {
namespace {

std::string numbers(const std::vector<int>& values) {
  return fmt::format("{}", fmt::join(values, ","));
}

std::string_view mark(MadeIn made_in) {
  if (made_in == MadeIn::Both) return "";
  return made_in == MadeIn::Clean ? "+" : "-";
}

}  // namespace

RecordedCalls recorded_of(const Job& job, std::string_view text, uint64_t last) {
  CallRecorder recorder(job, call_windows(job, covered_members(job), last));
  EventReader events([&](const Line&, const Event& event, int) { recorder.add(event); });
  uint64_t number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    events.add({text.substr(at, end - at), ++number});
    at = end + 1;
  }
  events.finish();
  return recorder.take();
}

ReplayPlan plan_of_text(std::string_view text, const PlanOptions& options,
                        const std::vector<Suspicion>& suspicions) {
  const Job job = job_from_text(text);
  refuse_unknown_calls(job, covered_members(job), suspicions);
  const RecordedCalls recorded = recorded_of(job, text, options.last);
  return build_plan({job, suspicions, {"log.txt"}}, recorded, options);
}

std::string program_words(const PlannedRank& rank) {
  std::string words;
  for (size_t c = 0; c < rank.calls.size(); ++c) {
    const PlannedCall& call = rank.calls[c];
    const bool opens = call.group >= 0 && (c == 0 || rank.calls[c - 1].group != call.group);
    const bool closes =
        call.group >= 0 && (c + 1 == rank.calls.size() || rank.calls[c + 1].group != call.group);
    words +=
        fmt::format("{}{}{}{}", c == 0 ? "" : " ", opens ? "{" : "", mark(call.made_in), call.op);
    if (call.op == "Send" || call.op == "Recv") words += fmt::format("({})", call.root);
    if (call.communicator != 0) words += fmt::format("@{}", call.communicator);
    words += fmt::format("#{}{}", call.index, closes ? "}" : "");
  }
  return words;
}

std::string plan_words(const ReplayPlan& plan) {
  std::string words;
  for (size_t r = 0; r < plan.ranks.size(); ++r) {
    words += fmt::format("{}: {}\n", r, program_words(plan.ranks[r]));
  }
  const Hypothesis& hypothesis = plan.hypothesis;
  if (hypothesis.kind == DefectKind::None) return words;
  words += fmt::format("{} by {}", to_string(hypothesis.kind), numbers(hypothesis.diverged));
  if (hypothesis.front) {
    const FrontLine& front = *hypothesis.front;
    words += fmt::format(" at {}#{}, entered {}, missing {}", front.communicator, front.index,
                         numbers(front.entered), numbers(front.missing));
  }
  return words + "\n";
}

bool clean_run_completes(const ReplayPlan& plan) {
  const bool buffers = std::any_of(
      plan.losses.begin(), plan.losses.end(),
      [](const std::string& loss) { return loss.find("NCCL has room") != std::string::npos; });
  return clean_run_ends(plan, buffers);
}

}  // namespace ncclog::testing

#include "diagnose/calls/recorder_analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/majority.h"
#include "base/text.h"
#include "diagnose/outcome/stop_evidence.h"
#include "log/line/prefix.h"
#include "log/stack_lines.h"

namespace ncclog {
namespace {

constexpr std::string_view kDigits = "0123456789";

/// A collective as the analysis describes it.
struct AnalysedCall {
  bool lacks = false;  ///< Not all ranks joined it; else they differ in it.
  int64_t number = -1;
  std::string group;  ///< "0:default_pg"; empty: not printed.
  std::string op;     ///< "all_reduce"
  std::string state;  ///< On the ranks that have it: "scheduled", "started", "completed".
  std::string error;
  std::string caller;  ///< "evaluate, sft.py:30": the innermost frame that is not PyTorch's.
  std::set<int> missing;
  std::set<int> expected;  ///< Empty: only counted.
  std::vector<Evidence> lines;

  std::vector<int> present() const {
    std::vector<int> ranks;
    std::ranges::set_difference(expected, missing, std::back_inserter(ranks));
    return ranks;
  }
  /// "collective 41 of default_pg, all_reduce".
  std::string words() const {
    const size_t colon = group.find(':');
    std::string name = colon == group.npos ? group : group.substr(colon + 1);
    if (!name.empty() && name != "default_pg" && colon != group.npos) {
      name += fmt::format(" (group {})", group.substr(0, colon));
    }
    return fmt::format("collective {}{}{}", number, name.empty() ? "" : " of " + name,
                       op.empty() ? "" : ", " + op);
  }
};

/// "{0, 1, 2}"; a count alone names nobody.
std::set<int> ranks_of_set(std::string_view list) {
  std::set<int> ranks;
  if (!list.starts_with('{')) return ranks;
  for (const std::string_view word : split(list.substr(1), ',')) {
    const auto rank = parse_int(trim(word.substr(0, word.find('}'))));
    if (rank && *rank >= 0 && *rank <= INT32_MAX) ranks.insert(static_cast<int>(*rank));
  }
  return ranks;
}

/// What stands behind "missing ranks: "; nullopt: another property.
std::optional<std::string_view> value_behind(std::string_view text, std::string_view key) {
  const bool is_it = text.starts_with(key) && text.substr(key.size()).starts_with(": ");
  return is_it ? std::optional(trim(text.substr(key.size() + 2))) : std::nullopt;
}

void add_detail(std::string_view text, const Record& record, AnalysedCall& call) {
  if (const auto group = value_behind(text, "group info")) call.group = printable(*group);
  if (const auto op = value_behind(text, "collective"))
    call.op = printable(op->substr(op->find(':') + 1));
  if (const auto state = value_behind(text, "collective state")) call.state = printable(*state);
  if (const auto all = value_behind(text, "expected ranks")) call.expected = ranks_of_set(*all);
  const auto missing = value_behind(text, "missing ranks");
  const auto error = value_behind(text, "error msg");
  if (missing) call.missing = ranks_of_set(*missing);
  if (error) call.error = printable(*error);
  if (missing || error) call.lines.push_back(evidence_of(record));
  // "evaluate at /srv/sft.py:30"
  const size_t at = text.find(" at ");
  const bool is_own = at != text.npos && text.find(": ") == text.npos &&
                      text.find("torch/") == text.npos && call.caller.empty();
  if (is_own) {
    const std::string_view file = text.substr(at + 4);
    call.caller =
        printable(fmt::format("{}, {}", text.substr(0, at), file.substr(file.rfind('/') + 1)));
  }
}

/// Of all processes that printed one, as the lines came.
std::vector<AnalysedCall> find_analysed_calls(const Job& job) {
  std::vector<AnalysedCall> calls;
  for (const SpeakerLog& log : job.logs) {
    if (!log.stack_lines) continue;
    bool is_open = false;
    for (const Record record : *log.stack_lines) {
      const std::string line = record.text();
      const StackLine read = parse_stack_line(line, parse_prefix(line).length);
      if (read.kind != StackLine::Kind::Analysis) continue;
      const bool lacks = read.text.starts_with("Not all ranks joining");
      if (!lacks && !read.text.starts_with("Collective ") &&
          !read.text.starts_with("Input/output mismatch")) {
        if (is_open) add_detail(read.text, record, calls.back());
        continue;
      }
      const std::string_view number =
          read.text.substr(std::min(read.text.find_first_of(kDigits), read.text.size()));
      calls.push_back({.lacks = lacks});
      calls.back().number =
          parse_int(number.substr(0, number.find_first_not_of(kDigits))).value_or(-1);
      calls.back().lines.push_back(evidence_of(record));
      is_open = true;
    }
  }
  return calls;
}

/// The first call of each group that `counts`: what follows it differs because of that.
template <typename Counts>
std::vector<const AnalysedCall*> first_of_groups(const Job& job, Counts counts) {
  std::map<std::string_view, const AnalysedCall*> first;
  for (const AnalysedCall& call : job.answers.of<&find_analysed_calls>(job)) {
    if (!counts(call)) continue;
    const AnalysedCall*& known = first[call.group];
    if (known == nullptr || call.number < known->number) known = &call;
  }
  std::vector<const AnalysedCall*> calls;
  for (const auto& [group, call] : first) calls.push_back(call);
  std::ranges::sort(calls, {}, [](const auto* call) { return call->lines.front().where; });
  return calls;
}

std::string lacking_words(const AnalysedCall& call) {
  const std::vector<int> missing(call.missing.begin(), call.missing.end());
  const std::vector<int> present = call.present();
  const std::string others = present.empty() ? "the others" : ranks_phrase(present);
  const std::string caller = call.caller.empty() ? "" : fmt::format(" ({})", call.caller);
  return fmt::format("{} {} no record of {}, {} {}{}", ranks_phrase(missing),
                     missing.size() == 1 ? "has" : "have", call.words(),
                     call.state == "completed" ? "which" : "in which",
                     others + (call.state == "completed" ? " completed" : " waited"), caller);
}

/// Which ranks an error's text calls the odd ones.
std::set<int> culprits_in(std::string_view error) {
  constexpr std::string_view kCulprit = "Culprit rank ";
  std::set<int> ranks;
  for (size_t at = error.find(kCulprit); at != error.npos; at = error.find(kCulprit, at + 1)) {
    const std::string_view rest = error.substr(at + kCulprit.size());
    const auto rank = parse_int(rest.substr(0, rest.find_first_not_of(kDigits)));
    if (rank && *rank <= INT32_MAX) ranks.insert(static_cast<int>(*rank));
  }
  return ranks;
}

/// "input sizes '[[4]]' instead of '[[8]]'" of the first error, "Expected input sizes: '[[8]]' does
/// not match found input sizes: '[[4]]'".
std::string first_error(std::string_view error) {
  constexpr std::string_view kExpected = "Expected ";
  constexpr std::string_view kFound = " does not match found ";
  const size_t begin = error.find(kExpected);
  const size_t found = error.find(kFound);
  if (begin == error.npos || found == error.npos || found < begin) return std::string(error);
  const auto parts = [](std::string_view text) {
    const size_t colon = std::min(text.find(": "), text.size());
    return std::pair(text.substr(0, colon), text.substr(std::min(colon + 2, text.size())));
  };
  const auto [what, expected] =
      parts(error.substr(begin + kExpected.size(), found - begin - kExpected.size()));
  std::string_view rest = error.substr(found + kFound.size());
  rest = rest.substr(0, rest.find(", Culprit rank "));
  const std::string of = what == "collective type" ? "" : std::string(what) + " ";
  return fmt::format("{}{} instead of {}", of, parts(rest).second, expected);
}

}  // namespace

FactValue analysis_lacking(const Job& job, const Instance&) {
  const auto calls = first_of_groups(job, [](const auto& call) { return !call.missing.empty(); });
  if (calls.empty()) return unknown();
  FactValue value = yes({});
  std::vector<std::string> phrases;
  std::set<int> named;
  std::set<int> waiting;
  for (const AnalysedCall* call : calls) {
    phrases.push_back(lacking_words(*call));
    value.evidence.insert(value.evidence.end(), call->lines.begin(), call->lines.end());
    const std::vector<int> present = call->present();
    waiting.insert(present.begin(), present.end());
    if (are_few(call->missing.size(), present.size())) {
      named.insert(call->missing.begin(), call->missing.end());
    }
  }
  for (const int rank : named) {
    if (!waiting.contains(rank)) blame(process_of_rank(job, rank), rank, value);
  }
  value.what = few_of(phrases, kMostNamed, "; ");
  return value;
}

FactValue analysis_mismatch(const Job& job, const Instance&) {
  const auto calls = first_of_groups(job, [](const AnalysedCall& call) {
    const bool is_state = call.error.find("_MISMATCH") != std::string::npos &&
                          call.error.find("COLLECTIVE_TYPE_") == std::string::npos &&
                          call.error.find("SIZE_OR_") == std::string::npos &&
                          call.error.find("_DTYPE_") == std::string::npos;
    return !call.lacks && !is_state;
  });
  if (calls.empty()) return unknown();
  FactValue value = yes({});
  std::vector<std::string> phrases;
  for (const AnalysedCall* call : calls) {
    const std::set<int> odd = culprits_in(call->error);
    const std::string who = ranks_phrase({odd.begin(), odd.end()});
    phrases.push_back(fmt::format(
        "ranks differ in {}{}", call->words(),
        call->error.empty()
            ? ", in the sums of its input and output sizes"
            : fmt::format(": {}{}", who.empty() ? "" : who + " ", first_error(call->error))));
    value.evidence.insert(value.evidence.end(), call->lines.begin(), call->lines.end());
    const size_t others = call->expected.size() - std::min(odd.size(), call->expected.size());
    if (others < 2 || !are_few(odd.size(), others)) continue;
    for (const int rank : odd) blame(process_of_rank(job, rank), rank, value);
  }
  value.what = few_of(phrases, kMostNamed, "; ");
  return value;
}

}  // namespace ncclog

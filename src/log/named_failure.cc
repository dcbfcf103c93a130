#include "log/named_failure.h"

#include <algorithm>
#include <optional>
#include <span>
#include <tuple>

#include "base/text.h"
#include "log/literal_set.h"
#include "log/wording/other_programs.h"

namespace ncclog {
namespace {

/// A row as its table has it.
struct ListedFailure {
  std::string_view names;
  std::string_view text;
  std::string_view sort;
  std::string_view finding;
  std::string_view meaning;
};

constexpr ListedFailure kCuda[] = {
#include "log/failures/cuda.inc"
};
constexpr ListedFailure kErrno[] = {
#include "log/failures/errno.inc"
};
constexpr ListedFailure kFabric[] = {
#include "log/failures/fabric.inc"
};
constexpr ListedFailure kFrameworks[] = {
#include "log/failures/frameworks.inc"
};
constexpr ListedFailure kLaunchers[] = {
#include "log/failures/launchers.inc"
};
constexpr ListedFailure kNccl[] = {
#include "log/failures/nccl.inc"
};
constexpr ListedFailure kVerbs[] = {
#include "log/failures/verbs.inc"
};

/// In lower case: a line says that something failed.
constexpr std::string_view kFailed[] = {"error",    "fail",   "fatal",  "exception",
                                        "abort",    "unable", "cannot", "could not",
                                        "critical", "panic",  "can't"};

/// A list, and the words in lower case of which one must stand beside a text that others use too.
struct FailureList {
  std::string_view name;
  std::span<const ListedFailure> rows;
  std::span<const std::string_view> beside;
};

constexpr std::string_view kOfGpus[] = {"cuda", "hip", "gpu", "nccl"};
constexpr std::string_view kOfFabrics[] = {"ucx", "ucp_", "uct_", "libfabric", "fi_", "ofi", "efa"};
constexpr std::string_view kOfMpi[] = {"mpi", "slurm", "srun", "orte", "prte", "ssh", "pod"};
constexpr std::string_view kOfVerbs[] = {"ibv", "ib_", "/ib", "mlx", "roce", "rdma", "completion"};

constexpr FailureList kLists[] = {
    {"cuda", kCuda, kOfGpus},          {"verbs", kVerbs, kOfVerbs},
    {"nccl", kNccl, kOfGpus},          {"fabric", kFabric, kOfFabrics},
    {"launchers", kLaunchers, kOfMpi}, {"frameworks", kFrameworks, kFailed},
    {"errno", kErrno, kFailed},
};

constexpr char kCommon = '~';

/// One identifier or text of a row, and how it is looked for.
struct Phrase {
  const NamedFailure* failure = nullptr;
  bool is_common = false;  ///< It counts only beside `list`'s words.
  const FailureList* list = nullptr;
};

FailureSort sort_of(std::string_view word) {
  if (word == "harmless") return FailureSort::Harmless;
  return word == "consequence" ? FailureSort::Consequence : FailureSort::Cause;
}

/// The other way to begin a text: programs differ in whether a message begins with a capital.
std::string with_other_case(std::string_view text) {
  std::string other(text);
  const char c = other.front();
  if (is_alpha(c)) other.front() = static_cast<char>(c ^ 0x20);
  return other;
}

struct Index {
  std::vector<NamedFailure> failures;
  std::vector<std::string> literals;
  std::vector<Phrase> phrases;    ///< By literal.
  std::optional<LiteralSet> set;  ///< Of all literals.

  void add(std::string_view text, const Phrase& phrase) {
    if (text.empty()) return;
    literals.emplace_back(text);
    phrases.push_back(phrase);
  }
};

Index make_index() {
  Index index;
  for (const FailureList& list : kLists) {
    for (const ListedFailure& row : list.rows) {
      index.failures.push_back(
          {row.names, row.text, sort_of(row.sort), row.finding, row.meaning, list.name});
    }
  }
  const NamedFailure* failure = index.failures.data();
  for (const FailureList& list : kLists) {
    for (const ListedFailure& row : list.rows) {
      const auto add = [&](std::string_view text, bool is_name) {
        const bool is_common = text.starts_with(kCommon);
        if (is_common) text.remove_prefix(1);
        const Phrase phrase{failure, is_common, &list};
        index.add(text, phrase);
        if (!text.empty() && !is_name) index.add(with_other_case(text), phrase);
      };
      for (const std::string_view name : split(row.names, '|')) add(name, true);
      add(row.text, false);
      ++failure;
    }
  }
  // Hundreds of literals one by one cost more than tables after some thirty lines.
  constexpr size_t kWorthTables = size_t{4} << 10;
  index.set.emplace(index.literals, kWorthTables);
  return index;
}

const Index& failure_index() {
  static const Index index = make_index();
  return index;
}

/// No letter, digit or underscore goes on with what stands from `begin` to `end`.
bool is_whole(std::string_view line, size_t begin, size_t end) {
  const auto goes_on = [&](size_t inside, size_t outside) {
    return outside < line.size() && is_word(line[inside]) && is_word(line[outside]);
  };
  return !(begin > 0 && goes_on(begin, begin - 1)) && !goes_on(end - 1, end);
}

/// Whether one of the words stands in the text with no letter before it.
bool begins_a_word(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) {
    for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
      if (at == 0 || !is_alpha(text[at - 1])) return true;
    }
    return false;
  });
}

/// The line goes on after what failed, or only tells of it. `before` and `after` are what stands
/// around the words, in lower case.
bool is_no_report(std::string_view before, std::string_view after) {
  constexpr std::string_view kGoesOn[] = {
      "retry",        "retries",  "retriable", "will try", "try again",  "trying",  "ignor",
      "falling back", "fallback", "skipping",  "no error", "succeeded",  "instead", "halved",
      "caught",       "catching", "eager",     "handler",  "search for "};
  constexpr std::string_view kMild[] = {"warning", "[info", " info", "info:", " debug", "[debug"};
  constexpr std::string_view kCode[] = {"raise ", "except ", "if ",     "case ", "#",
                                        "//",     "* ",      "file \"", "catch "};
  constexpr std::string_view kFalse[] = {": false", "=false", " = false", " count 0"};
  const bool is_none = before == "0 " || before.ends_with(" 0 ") || before.ends_with(" no ") ||
                       before.ends_with("not ");
  return is_none || is_zero(after) || starts_with_one_of(after, kFalse) ||
         holds_one_of(before, kGoesOn) || holds_one_of(after, kGoesOn) ||
         holds_one_of(before, kMild) || starts_with_one_of(trim(before), kCode);
}

}  // namespace

const std::vector<NamedFailure>& named_failures() { return failure_index().failures; }

const std::vector<std::string>& named_failure_needles() { return failure_index().literals; }

std::string_view words_of(const NamedFailure& failure) {
  std::string_view text = failure.text.empty() ? failure.names : failure.text;
  if (text.starts_with(kCommon)) text.remove_prefix(1);
  return failure.text.empty() ? text.substr(0, text.find('|')) : text;
}

std::string_view name_of(const NamedFailure& failure) {
  if (failure.text.empty()) return {};
  std::string_view name = failure.names.substr(0, failure.names.find('|'));
  if (name.starts_with(kCommon)) name.remove_prefix(1);
  return name;
}

const NamedFailure* named_failure_in(std::string_view line, std::string_view* words) {
  const Index& index = failure_index();
  // What is found, its end, and what it is worth. The set tells places in any order, so nothing may
  // be left to the order: of equals the one that stands first counts, then the row that does.
  const NamedFailure* best = nullptr;
  size_t best_end = 0;
  size_t best_size = 0;
  using Worth = std::tuple<FailureSort, size_t, size_t, size_t>;
  Worth best_worth;
  std::string lower;
  index.set->any_of(line, [&](size_t number, size_t end) {
    const Phrase& phrase = index.phrases[number];
    const size_t size = index.literals[number].size();
    if (!is_whole(line, end - size, end)) return false;
    if (phrase.is_common) {
      // Only the words around it can say whose failure it is, or that it is one.
      if (lower.empty()) lower = lower_case(line);
      const std::string_view all = lower;
      if (!begins_a_word(all.substr(0, end - size), phrase.list->beside) &&
          !begins_a_word(all.substr(end), phrase.list->beside)) {
        return false;
      }
    }
    const Worth worth(phrase.failure->sort, line.size() - size, end, number);
    if (best != nullptr && best_worth <= worth) return false;
    best = phrase.failure;
    best_worth = worth;
    best_end = end;
    best_size = size;
    return false;
  });
  if (best == nullptr || best->sort == FailureSort::Harmless) return nullptr;
  // "transport retry counter exceeded" is tried again by nobody: only the words around count.
  if (lower.empty()) lower = lower_case(line);
  const std::string_view all = lower;
  const size_t begin = best_end - best_size;
  if (words != nullptr) *words = line.substr(begin, best_size);
  return is_no_report(all.substr(0, begin), all.substr(best_end)) ? nullptr : best;
}

}  // namespace ncclog

#include "replay/plan.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace ncclog {
namespace {

struct KindWord {
  DefectKind kind;
  std::string_view word;
};

constexpr KindWord kKindWords[] = {
    {DefectKind::None, "none"},
    {DefectKind::MissingCall, "missing-call"},
    {DefectKind::ExtraCall, "extra-call"},
    {DefectKind::OtherCall, "other-call"},
    {DefectKind::Message, "message"},
    {DefectKind::Stall, "stall"},
};

constexpr std::string_view kMadeInWords[] = {"both", "clean", "defect"};

}  // namespace

std::string_view to_string(MadeIn made_in) { return kMadeInWords[static_cast<size_t>(made_in)]; }

std::optional<MadeIn> parse_made_in(std::string_view word) {
  const auto* found = std::find(std::begin(kMadeInWords), std::end(kMadeInWords), word);
  if (found == std::end(kMadeInWords)) return std::nullopt;
  return static_cast<MadeIn>(found - std::begin(kMadeInWords));
}

std::string_view to_string(DefectKind kind) { return kKindWords[static_cast<size_t>(kind)].word; }

std::optional<DefectKind> parse_defect_kind(std::string_view word) {
  for (const KindWord& row : kKindWords) {
    if (row.word == word) return row.kind;
  }
  return std::nullopt;
}

std::vector<PlannedCall> calls_in(const PlannedRank& rank, MadeIn mode) {
  std::vector<PlannedCall> calls;
  std::copy_if(rank.calls.begin(), rank.calls.end(), std::back_inserter(calls),
               [mode](const PlannedCall& call) {
                 return call.made_in == MadeIn::Both || call.made_in == mode;
               });
  return calls;
}

int host_group_count(const ReplayPlan& plan) {
  std::set<int> groups;
  for (const PlannedRank& rank : plan.ranks) groups.insert(rank.host_group);
  return static_cast<int>(groups.size());
}

bool has_defect(const ReplayPlan& plan) {
  return std::any_of(plan.ranks.begin(), plan.ranks.end(), [](const PlannedRank& rank) {
    return std::any_of(rank.calls.begin(), rank.calls.end(),
                       [](const PlannedCall& call) { return call.made_in != MadeIn::Both; });
  });
}

}  // namespace ncclog

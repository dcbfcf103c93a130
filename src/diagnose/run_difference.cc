#include "diagnose/run_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <tuple>

#include "base/text.h"
#include "diagnose/influences.h"

namespace ncclog {
namespace {

constexpr size_t kItemsShown = 4;

/// "a, b, c, d and 2 more".
std::string few(const std::vector<std::string>& parts) {
  if (parts.size() <= kItemsShown) return join(parts, ", ");
  return fmt::format("{} and {} more", join(std::span(parts).first(kItemsShown), ", "),
                     parts.size() - kItemsShown);
}

std::string items_text(const std::map<std::string, Evidence>& items) {
  std::vector<std::string> names;
  for (const auto& [name, line] : items) names.push_back(name);
  return few(names);
}

/// A side of which only what the other run lacks is told, with lines that show it.
DifferenceSide own_items(const Trait& own, const Trait& other) {
  std::map<std::string, Evidence> items;
  DifferenceSide side;
  for (const auto& [name, line] : own.items) {
    if (other.items.contains(name)) continue;
    items.emplace(name, line);
    const bool shows = line.where.line != 0 && side.evidence.size() < Trait::kMaxEvidence;
    if (shows) side.evidence.push_back(line);
  }
  side.value =
      items.empty() ? "nothing that the other run lacks" : "only here: " + items_text(items);
  return side;
}

std::string value_of(const Trait& trait) {
  return trait.items.empty() ? trait.value : items_text(trait.items);
}

DifferenceSide side_of(const Trait& own, const Trait& other) {
  return own.items.empty() ? DifferenceSide{own.value, {}, own.evidence} : own_items(own, other);
}

RowState state_of(const Trait& trait) { return trait.is_note ? RowState::Note : RowState::Differs; }

/// Traits that only one of the runs has, and of which the other one's logs do not tell.
struct Untold {
  std::vector<const Trait*> traits;
  bool is_good = false;  ///< The good run has them.
};

/// By topic, what the other run lacks, and whose they are.
using UntoldRows = std::map<std::tuple<Topic, bool, std::string>, Untold>;

class Comparison {
 public:
  Comparison(const ComparedRun& good, const ComparedRun& bad) : good_(good), bad_(bad) {}

  RunDifference take() {
    walk();
    add_untold();
    std::stable_sort(
        out_.rows.begin(), out_.rows.end(), [](const DifferenceRow& a, const DifferenceRow& b) {
          return std::tie(a.state, a.topic, a.name) < std::tie(b.state, b.topic, b.name);
        });
    find_causes();
    return std::move(out_);
  }

 private:
  /// Both lists are sorted: they are walked side by side.
  void walk() {
    auto good = good_.traits.begin();
    auto bad = bad_.traits.begin();
    while (good != good_.traits.end() || bad != bad_.traits.end()) {
      const int order = compare(good, bad);
      if (order == 0) {
        add_both(*good++, *bad++);
      } else if (order < 0) {
        add_single(*good++, true);
      } else {
        add_single(*bad++, false);
      }
    }
  }

  using Place = std::vector<Trait>::const_iterator;

  int compare(Place good, Place bad) const {
    if (good == good_.traits.end()) return 1;
    if (bad == bad_.traits.end()) return -1;
    const auto a = std::tie(good->topic, good->name);
    const auto b = std::tie(bad->topic, bad->name);
    return a < b ? -1 : b < a ? 1 : 0;
  }

  void add_both(const Trait& good, const Trait& bad) {
    if (are_alike(good, bad)) {
      ++out_.alike;
      return;
    }
    const RowState state = good.is_note ? RowState::Note : state_of(bad);
    DifferenceRow row{good.topic, good.name, state, side_of(good, bad), side_of(bad, good)};
    row.explains = good.explains;
    row.explains.insert(row.explains.end(), bad.explains.begin(), bad.explains.end());
    out_.rows.push_back(std::move(row));
  }

  void add_single(const Trait& trait, bool is_good) {
    const Absence absence = absence_of(is_good ? bad_.job : good_.job, trait);
    if (absence.state == Absence::State::Irrelevant) return;
    if (absence.state == Absence::State::Unknown) {
      // What does not matter is not worth saying that it is not known.
      if (trait.is_note) return;
      Untold& untold = untold_[{trait.topic, is_good, absence.why}];
      untold.is_good = is_good;
      untold.traits.push_back(&trait);
      return;
    }
    DifferenceRow row{trait.topic, trait.name, state_of(trait), {}, {}, trait.explains};
    (is_good ? row.good : row.bad) = {value_of(trait), {}, trait.evidence};
    out_.rows.push_back(std::move(row));
  }

  void add_untold() {
    for (const auto& [key, untold] : untold_) {
      const auto& [topic, is_good, why] = key;
      DifferenceRow row{topic, {}, RowState::NotComparable};
      DifferenceSide& known = is_good ? row.good : row.bad;
      (is_good ? row.bad : row.good).gap = why;
      if (untold.traits.size() == 1) {
        const Trait& only = *untold.traits.front();
        row.name = only.name;
        known = {value_of(only), {}, only.evidence};
      } else {
        known = {untold_text(untold), {}, untold.traits.front()->evidence};
      }
      out_.rows.push_back(std::move(row));
    }
  }

  static std::string untold_text(const Untold& untold) {
    std::vector<std::string> parts;
    for (const Trait* trait : untold.traits) {
      const bool is_setting = trait->topic == Topic::Setting;
      parts.push_back(is_setting ? fmt::format("{}={}", trait->name, trait->value) : trait->name);
    }
    return few(parts);
  }

  void find_causes() {
    for (size_t effect = 0; effect < out_.rows.size(); ++effect) {
      if (out_.rows[effect].state != RowState::Differs) continue;
      for (size_t cause = 0; cause < out_.rows.size(); ++cause) {
        if (explains(out_.rows[cause], out_.rows[effect]) && root_of(out_, cause) != effect) {
          out_.rows[effect].causes.push_back(cause);
        }
      }
    }
  }

  static bool explains(const DifferenceRow& cause, const DifferenceRow& effect) {
    if (cause.state != RowState::Differs || &cause == &effect) return false;
    if (may_explain({cause.topic, cause.name}, {effect.topic, effect.name})) return true;
    if (cause.topic == effect.topic) {
      return std::find(cause.explains.begin(), cause.explains.end(), effect.name) !=
             cause.explains.end();
    }
    if (cause.topic == Topic::Finding && effect.topic == Topic::Warning) {
      return share_a_line(cause.good, effect.good) || share_a_line(cause.bad, effect.bad);
    }
    // Warnings and findings that quote a setting are about it.
    const bool quotes = effect.topic == Topic::Warning || effect.topic == Topic::Finding;
    return cause.topic == Topic::Setting && quotes &&
           (names(effect.good, cause.name) || names(effect.bad, cause.name));
  }

  static bool share_a_line(const DifferenceSide& a, const DifferenceSide& b) {
    return std::any_of(a.evidence.begin(), a.evidence.end(), [&](const Evidence& line) {
      return std::any_of(b.evidence.begin(), b.evidence.end(),
                         [&](const Evidence& other) { return other.where == line.where; });
    });
  }

  static bool names(const DifferenceSide& side, const std::string& setting) {
    return side.value.find(setting) != std::string::npos ||
           std::any_of(side.evidence.begin(), side.evidence.end(), [&](const Evidence& line) {
             return line.text.find(setting) != std::string::npos;
           });
  }

  const ComparedRun& good_;
  const ComparedRun& bad_;
  RunDifference out_;
  UntoldRows untold_;
};

}  // namespace

std::string_view to_string(RowState state) {
  switch (state) {
    case RowState::Differs:
      return "differs";
    case RowState::Note:
      return "note";
    case RowState::NotComparable:
      return "not_comparable";
  }
  return {};
}

RunDifference compare_runs(const ComparedRun& good, const ComparedRun& bad) {
  return Comparison(good, bad).take();
}

size_t count_rows(const RunDifference& difference, RowState state) {
  return static_cast<size_t>(
      std::count_if(difference.rows.begin(), difference.rows.end(),
                    [&](const DifferenceRow& row) { return row.state == state; }));
}

size_t root_of(const RunDifference& difference, size_t row) {
  while (!difference.rows[row].causes.empty()) row = difference.rows[row].causes.front();
  return row;
}

}  // namespace ncclog

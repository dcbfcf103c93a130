#include "report/difference_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "model/library_name.h"
#include "report/text_layout.h"
#include "report/text_parts.h"
#include "rules/finding_traits.h"

namespace ncclog {
namespace {

constexpr int kValueColumns = 90;  ///< Of a value inside a sentence.

/// How a topic is worded.
struct TopicWords {
  std::string_view title;    ///< In front of the trait's name; empty: that says it all.
  std::string_view missing;  ///< Where a run has nothing of the sort.
};

TopicWords words_of(Topic topic) {
  switch (topic) {
    case Topic::Setting:
      return {"setting", "not set"};
    case Topic::Version:
      return {"version of", "none"};
    case Topic::Network:
      return {"", "none"};
    case Topic::Interface:
      return {"interfaces:", "none"};
    case Topic::Shape:
      return {"", "none"};
    case Topic::Transport:
      return {"transport", "no connection"};
    case Topic::Channels:
      return {"channels:", "none"};
    case Topic::Topology:
      return {"topology:", "none"};
    case Topic::Algorithm:
      return {"algorithm of", "not called"};
    case Topic::Timing:
      return {"time:", "not printed"};
    case Topic::Calls:
      return {"calls:", "not called"};
    case Topic::Warning:
      return {"warning", "not printed"};
    case Topic::UnknownLine:
      return {"unknown line", "not printed"};
    case Topic::Finding:
      return {"finding", "not found"};
  }
  return {};
}

std::string clipped(const std::string& value) { return clip(printable(value), kValueColumns); }

/// The run that alone has something, where the other one is known to have nothing of the sort.
std::string_view only_run(const DifferenceRow& row) {
  const auto has = [](const DifferenceSide& side) {
    return !side.value.empty() || !side.evidence.empty();
  };
  if (has(row.good) == has(row.bad)) return {};
  return has(row.good) ? "GOOD" : "BAD";
}

std::string in_both(const DifferenceRow& row) {
  return fmt::format("{}: {} in GOOD, {} in BAD", clipped(title_of(row)),
                     clipped(side_text(row, row.good)), clipped(side_text(row, row.bad)));
}

/// "NCCL_ALGO is not set in GOOD and Ring in BAD", "BAD alone has finding shm-no-space".
std::string clause(const DifferenceRow& row) {
  const std::string_view only = only_run(row);
  const std::string name = clipped(row.name);
  if (row.topic == Topic::Setting) {
    return fmt::format("{} is {} in GOOD and {} in BAD", name, clipped(side_text(row, row.good)),
                       clipped(side_text(row, row.bad)));
  }
  if (only.empty()) return in_both(row);
  if (row.topic == Topic::Finding) return fmt::format("{} alone has finding {}", only, name);
  if (row.topic == Topic::Warning) return fmt::format("{} alone warns \"{}\"", only, name);
  return in_both(row);
}

std::vector<size_t> effects_of(const RunDifference& difference, size_t root) {
  std::vector<size_t> effects;
  for (size_t i = 0; i < difference.rows.size(); ++i) {
    const bool differs = difference.rows[i].state == RowState::Differs;
    if (differs && i != root && root_of(difference, i) == root) effects.push_back(i);
  }
  return effects;
}

std::string count_of_others(size_t effects, size_t others) {
  if (others == 1) return "the other difference";
  if (effects == others) return fmt::format("all {} other differences", others);
  return fmt::format("{} of the {} other differences", effects, others);
}

std::string headline_of_differences(const RunDifference& difference) {
  const std::vector<size_t> order = shown_order(difference);
  const DifferenceRow& first = difference.rows[order.front()];
  const std::vector<size_t> effects = effects_of(difference, order.front());
  const size_t others = order.size() - 1;
  if (!effects.empty()) {
    return fmt::format("{}; that may explain {}, first of all: {}.", clause(first),
                       count_of_others(effects.size(), others),
                       clause(difference.rows[effects.front()]));
  }
  if (others == 0) return clause(first) + "; nothing else differs in what these logs show.";
  return fmt::format("{}; {}.", clause(first), plural(others, "other difference"));
}

}  // namespace

std::string_view to_string(DifferenceStatus status) {
  switch (status) {
    case DifferenceStatus::Same:
      return "same";
    case DifferenceStatus::Different:
      return "different";
    case DifferenceStatus::CannotCompare:
      return "cannot_compare";
  }
  return {};
}

RunDifference difference_of(const Report& good, const Report& bad) {
  std::set<int> ranks;
  if (good.job.nranks == bad.job.nranks) {
    // Who lacks a file in one run is no difference in settings.
    const std::set<int> a = ranks_with_settings(good.job);
    const std::set<int> b = ranks_with_settings(bad.job);
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(),
                          std::inserter(ranks, ranks.end()));
  }
  const auto traits = [&](const Report& report) {
    std::vector<Trait> all = traits_of(report.job, ranks);
    std::vector<Trait> findings = finding_traits(report.diagnosis, report.job);
    all.insert(all.end(), std::make_move_iterator(findings.begin()),
               std::make_move_iterator(findings.end()));
    std::sort(all.begin(), all.end(), [](const Trait& a, const Trait& b) {
      return std::tie(a.topic, a.name) < std::tie(b.topic, b.name);
    });
    return all;
  };
  return compare_runs({good.job, traits(good)}, {bad.job, traits(bad)});
}

DifferenceStatus status_of(const RunDifference& difference) {
  if (count_rows(difference, RowState::Differs) > 0) return DifferenceStatus::Different;
  return difference.alike > 0 ? DifferenceStatus::Same : DifferenceStatus::CannotCompare;
}

std::string headline_of(const RunDifference& difference) {
  const size_t unknown = count_rows(difference, RowState::NotComparable);
  switch (status_of(difference)) {
    case DifferenceStatus::Different:
      return headline_of_differences(difference);
    case DifferenceStatus::CannotCompare:
      return "The logs of the two runs tell nothing about the same thing.";
    case DifferenceStatus::Same:
      break;
  }
  const std::string gaps =
      unknown == 0 ? "" : fmt::format(" What one of them does not show stands below.");
  return "Nothing differs in what the logs of both runs show." + gaps;
}

std::vector<size_t> shown_order(const RunDifference& difference) {
  std::vector<std::pair<size_t, std::vector<size_t>>> roots;
  for (size_t i = 0; i < difference.rows.size(); ++i) {
    const DifferenceRow& row = difference.rows[i];
    if (row.state == RowState::Differs && row.causes.empty()) {
      roots.emplace_back(i, effects_of(difference, i));
    }
  }
  std::stable_sort(roots.begin(), roots.end(), [&](const auto& a, const auto& b) {
    const auto key = [&](const auto& root) {
      return std::tuple(difference.rows[root.first].topic, -std::ssize(root.second));
    };
    return key(a) < key(b);
  });
  std::vector<size_t> order;
  for (const auto& [root, effects] : roots) {
    order.push_back(root);
    order.insert(order.end(), effects.begin(), effects.end());
  }
  return order;
}

std::string run_text(const Job& job) {
  std::vector<std::string> parts;
  std::string size = job.nranks ? plural(static_cast<uint64_t>(*job.nranks), "rank") : "";
  if (job.nhosts > 0) {
    size += (size.empty() ? "" : " on ") + plural(static_cast<uint64_t>(job.nhosts), "host");
  }
  if (!size.empty()) parts.push_back(std::move(size));
  if (!job.nccl_versions.empty())
    parts.push_back(fmt::format("{} {}", library_name(job), join(job.nccl_versions, ", ")));
  if (!job.network.name.empty()) parts.push_back("network " + job.network.name);
  if (job.runs.size() > 1) parts.push_back(fmt::format("{} runs in one", job.runs.size()));
  return parts.empty() ? "no line of NCCL" : join(parts, ", ");
}

std::string title_of(const DifferenceRow& row) {
  const std::string_view title = words_of(row.topic).title;
  if (row.name.empty()) return std::string(to_string(row.topic));
  return title.empty() ? row.name : fmt::format("{} {}", title, row.name);
}

std::string side_text(const DifferenceRow& row, const DifferenceSide& side) {
  if (!side.gap.empty()) return "not known: " + side.gap;
  if (!side.value.empty()) return side.value;
  const bool is_there = !side.evidence.empty();
  return is_there ? "empty" : std::string(words_of(row.topic).missing);
}

std::string row_sentence(const DifferenceRow& row) {
  if (row.state != RowState::NotComparable) {
    const std::string_view only = only_run(row);
    const bool by_name = row.topic == Topic::Finding || row.topic == Topic::UnknownLine;
    return by_name && !only.empty() ? fmt::format("{} only in {}", clipped(title_of(row)), only)
                                    : in_both(row);
  }
  const bool good_tells = row.good.gap.empty();
  const DifferenceSide& known = good_tells ? row.good : row.bad;
  return fmt::format("{}: {} in {}; not known of {}: {}", title_of(row),
                     clipped(side_text(row, known)), good_tells ? "GOOD" : "BAD",
                     good_tells ? "BAD" : "GOOD", good_tells ? row.bad.gap : row.good.gap);
}

}  // namespace ncclog

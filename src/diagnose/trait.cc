#include "diagnose/trait.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <tuple>

#include "base/text.h"
#include "diagnose/trait_tables.h"
#include "log/address.h"

namespace ncclog {
namespace {

/// A topic: its word, and why a run may lack a trait of it.
struct TopicRow {
  std::string_view word;
  Absence (*absence)(const Job& job, const Trait& other);
};

/// Rules find what they find; what they could not judge stands in the run's own report.
Absence finding_absence(const Job&, const Trait&) { return proven(); }

constexpr TopicRow kRows[kTopics] = {
    {"setting", setting_absence},     {"version", version_absence},
    {"network", network_absence},     {"interface", interface_absence},
    {"shape", shape_absence},         {"topology", topology_absence},
    {"transport", transport_absence}, {"channels", channel_absence},
    {"algorithm", algorithm_absence}, {"timing", timing_absence},
    {"calls", call_absence},          {"finding", finding_absence},
    {"warning", warning_absence},     {"unknown_line", warning_absence},
};

const TopicRow& row_of(Topic topic) { return kRows[static_cast<size_t>(topic)]; }

constexpr double kShareThatCounts = 0.1;

bool same_shares(const std::map<std::string, double>& a, const std::map<std::string, double>& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](const auto& x, const auto& y) {
           return x.first == y.first && std::abs(x.second - y.second) <= kShareThatCounts;
         });
}

bool same_items(const std::map<std::string, Evidence>& a,
                const std::map<std::string, Evidence>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.first == y.first; });
}

bool same_measure(const Measure& a, const Measure& b) {
  const auto [less, more] = std::minmax(a.value, b.value);
  return more - less < a.least || more < less * a.ratio;
}

const std::string& compared(const Trait& trait) {
  return trait.alike.empty() ? trait.value : trait.alike;
}

bool is_name_char(char c) { return is_word(c) || c == '-' || c == '.'; }

bool is_address(std::string_view word) {
  if (parse_ipv4(word)) return true;
  const bool is_hex =
      std::all_of(word.begin(), word.end(), [](char c) { return is_hex_digit(c) || c == ':'; });
  return is_hex && std::count(word.begin(), word.end(), ':') > 1;
}

bool is_host(const Job& job, std::string_view word) {
  const auto is_known = [&](std::string_view name) {
    return std::binary_search(job.hosts.begin(), job.hosts.end(), name, std::less<>());
  };
  return is_known(word) || is_known(word.substr(0, word.find('.')));
}

/// Takes the word at the start of `text`, with the colons of an IPv6 address in it.
std::string_view take_name(std::string_view& text) {
  size_t end = 0;
  while (end < text.size() && is_name_char(text[end])) ++end;
  size_t longer = end;
  while (longer < text.size() && (is_hex_digit(text[longer]) || text[longer] == ':')) ++longer;
  if (is_address(text.substr(0, longer))) end = longer;
  while (end > 1 && !is_word(text[end - 1])) --end;
  const std::string_view name = text.substr(0, end);
  text.remove_prefix(end);
  return name;
}

}  // namespace

std::string_view to_string(Topic topic) { return row_of(topic).word; }

bool are_alike(const Trait& a, const Trait& b) {
  if (a.measure && b.measure) return same_measure(*a.measure, *b.measure);
  if (!a.shares.empty() || !b.shares.empty()) return same_shares(a.shares, b.shares);
  if (!a.items.empty() || !b.items.empty()) return same_items(a.items, b.items);
  return compared(a) == compared(b);
}

std::vector<Trait> traits_of(const Job& job, const std::set<int>& ranks) {
  Traits traits;
  add_setting_traits(job, ranks, traits);
  add_version_traits(job, traits);
  add_network_traits(job, traits);
  add_interface_traits(job, traits);
  add_shape_traits(job, traits);
  add_transport_traits(job, traits);
  add_channel_traits(job, traits);
  add_topology_traits(job, traits);
  add_algorithm_traits(job, traits);
  add_timing_traits(job, traits);
  add_call_traits(job, traits);
  add_warning_traits(job, traits);
  std::stable_sort(traits.begin(), traits.end(), [](const Trait& a, const Trait& b) {
    return std::tie(a.topic, a.name) < std::tie(b.topic, b.name);
  });
  return traits;
}

Absence absence_of(const Job& job, const Trait& other) {
  return row_of(other.topic).absence(job, other);
}

Trait trait_of(Topic topic, std::string name, const StatedValues& values) {
  Trait trait{.topic = topic, .name = std::move(name)};
  for (const auto& [value, line] : values.lines) {
    trait.value += (trait.value.empty() ? "" : ", ") + value;
    const bool shows = line.where.line != 0 && trait.evidence.size() < Trait::kMaxEvidence;
    if (shows) trait.evidence.push_back(line);
  }
  return trait;
}

bool has_spoken(const Job& job, Subsystem subsystem) {
  return std::any_of(job.processes.begin(), job.processes.end(), [&](const Process& process) {
    return process.subsystems.test(static_cast<size_t>(subsystem));
  });
}

bool has_initialised(const Job& job) {
  return std::any_of(job.logs.begin(), job.logs.end(), [](const SpeakerLog& log) {
    return std::any_of(log.comms.all.begin(), log.comms.all.end(),
                       [](const CommSegment& segment) { return segment.completed.line != 0; });
  });
}

std::string without_names(const Job& job, std::string_view text) {
  std::string out;
  while (!text.empty()) {
    if (!is_name_char(text.front()) && text.front() != ':') {
      out += text.front();
      text.remove_prefix(1);
      continue;
    }
    const std::string_view name = take_name(text);
    if (name.empty()) {
      out += text.front();
      text.remove_prefix(1);
    } else {
      out += is_address(name) || is_host(job, name) ? std::string_view("*") : name;
    }
  }
  return out;
}

std::string shares_text(const std::map<std::string, int64_t>& counts) {
  std::vector<std::pair<std::string, int64_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  if (sorted.size() == 1) return fmt::format("{} ({})", sorted[0].first, sorted[0].second);
  const auto shares = shares_of(counts);
  std::vector<std::string> parts;
  for (const auto& [what, count] : sorted) {
    parts.push_back(fmt::format("{} {:.0f}% ({})", what, 100 * shares.at(what), count));
  }
  return join(parts, ", ");
}

std::map<std::string, double> shares_of(const std::map<std::string, int64_t>& counts) {
  double whole = 0;
  for (const auto& [what, count] : counts) whole += static_cast<double>(count);
  std::map<std::string, double> shares;
  for (const auto& [what, count] : counts) shares[what] = static_cast<double>(count) / whole;
  return shares;
}

}  // namespace ncclog

#include "diagnose/compare/run_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <span>
#include <tuple>

#include "base/text.h"
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

namespace {

constexpr std::string_view kWithin = "within a host";
constexpr std::string_view kBetween = "between hosts";
constexpr std::string_view kAny = "";

/// Names are beginnings of names.
struct Influence {
  Topic topic;
  std::string_view name;
  Topic on;
  std::string_view what;
};

using enum Topic;

constexpr Influence kInfluences[] = {
    // How ranks of a host reach each other (graph/paths.cc, transport/p2p.cc, transport/shm.cc).
    {Setting, "NCCL_P2P_", Transport, kWithin},
    {Setting, "NCCL_P2P_", Transport, "within hosts"},
    {Setting, "NCCL_P2P_", Topology, "paths between GPUs"},
    {Setting, "NCCL_P2P_", Channels, kAny},
    {Setting, "NCCL_P2P_", Algorithm, kAny},
    {Setting, "NCCL_P2P_", Timing, kAny},
    {Setting, "NCCL_P2P_PXN_LEVEL", Transport, kBetween},
    {Setting, "NCCL_IGNORE_DISABLED_P2P", Transport, kWithin},
    {Setting, "NCCL_SHM_", Transport, kWithin},
    {Setting, "NCCL_SHM_", Timing, kAny},
    {Setting, "NCCL_CUMEM_", Transport, kWithin},
    {Setting, "NCCL_CUMEM_", Timing, kAny},
    {Setting, "NCCL_NVB_", Transport, kWithin},
    {Setting, "NCCL_NVB_", Channels, kAny},
    {Setting, "NCCL_HOSTID", Shape, kAny},
    {Setting, "NCCL_HOSTID", Transport, kAny},
    {Setting, "NCCL_HOSTID", Channels, kAny},
    {Setting, "NCCL_MNNVL_", Transport, kAny},
    {Setting, "NCCL_MNNVL_", Channels, kAny},
    {Setting, "NCCL_RUNTIME_CONNECT", Timing, kAny},
    // Which network, which devices of it, how (net.cc, transport/net*.cc, bootstrap.cc).
    {Setting, "NCCL_NET", Network, kAny},
    {Setting, "NCCL_NET", Interface, kAny},
    {Setting, "NCCL_NET", Transport, kBetween},
    {Setting, "NCCL_NET", Channels, kAny},
    {Setting, "NCCL_NET", Timing, kAny},
    {Setting, "NCCL_IB_", Network, kAny},
    {Setting, "NCCL_IB_", Interface, kAny},
    {Setting, "NCCL_IB_", Transport, kBetween},
    {Setting, "NCCL_IB_", Channels, kAny},
    {Setting, "NCCL_IB_", Timing, kAny},
    {Setting, "NCCL_SOCKET_", Interface, kAny},
    {Setting, "NCCL_SOCKET_", Channels, kAny},
    {Setting, "NCCL_SOCKET_", Timing, kAny},
    {Setting, "NCCL_OOB_", Interface, kAny},
    {Setting, "NCCL_DMABUF_", Network, "GPU Direct RDMA"},
    {Setting, "NCCL_DMABUF_", Transport, kBetween},
    {Setting, "NCCL_PXN_", Transport, kBetween},
    {Setting, "NCCL_CROSS_NIC", Transport, kBetween},
    {Setting, "NCCL_CROSS_NIC", Channels, kAny},
    // How many channels, which algorithms (graph/search.cc, graph/tuning.cc, graph/connect.cc).
    {Setting, "NCCL_TOPO_FILE", Topology, kAny},
    {Setting, "NCCL_TOPO_FILE", Transport, kAny},
    {Setting, "NCCL_TOPO_FILE", Channels, kAny},
    {Setting, "NCCL_GRAPH_FILE", Channels, kAny},
    {Setting, "NCCL_MIN_", Channels, kAny},
    {Setting, "NCCL_MIN_", Timing, kAny},
    {Setting, "NCCL_MAX_", Channels, kAny},
    {Setting, "NCCL_MAX_", Timing, kAny},
    {Setting, "NCCL_NCHANNELS_", Channels, kAny},
    {Setting, "NCCL_BUFFSIZE", Timing, kAny},
    {Setting, "NCCL_ALGO", Algorithm, kAny},
    {Setting, "NCCL_ALGO", Channels, kAny},
    {Setting, "NCCL_ALGO", Timing, kAny},
    {Setting, "NCCL_PROTO", Algorithm, kAny},
    {Setting, "NCCL_PROTO", Timing, kAny},
    {Setting, "NCCL_PAT_", Algorithm, kAny},
    {Setting, "NCCL_TUNER_", Network, "TUNER plugin"},
    {Setting, "NCCL_TUNER_", Algorithm, kAny},
    {Setting, "NCCL_NVLS_", Channels, kAny},
    {Setting, "NCCL_NVLS_", Topology, "NVLink SHARP"},
    {Setting, "NCCL_NVLS_", Algorithm, kAny},
    {Setting, "NCCL_NVLS_", Timing, kAny},
    {Setting, "NCCL_COLLNET_", Channels, kAny},
    {Setting, "NCCL_COLLNET_", Algorithm, kAny},
    {Setting, "Comm config Net name", Network, kAny},
    {Setting, "Comm config Net name", Transport, kBetween},
    {Setting, "Comm config Min CTAs", Channels, kAny},
    {Setting, "Comm config Max CTAs", Channels, kAny},
    // Another release decides anew.
    {Version, kAny, Topology, "NVLink SHARP"},
    {Version, kAny, Transport, kAny},
    {Version, kAny, Channels, kAny},
    {Version, kAny, Algorithm, kAny},
    {Version, kAny, Timing, kAny},
    {Version, kAny, Warning, kAny},
    // What a job runs on decides how it communicates.
    {Network, kAny, Interface, "devices of"},
    {Network, kAny, Interface, "out-of-band of"},
    {Network, kAny, Transport, kBetween},
    {Network, kAny, Channels, kAny},
    {Network, kAny, Algorithm, kAny},
    {Network, kAny, Timing, kAny},
    {Interface, kAny, Channels, kAny},
    {Interface, kAny, Timing, kAny},
    {Shape, "number of ranks", Shape, "communicators"},
    {Shape, "number of ranks", Shape, "ranks "},
    {Shape, "number of hosts", Shape, "ranks on a host"},
    {Shape, "number of ranks", Topology, "devices of a host"},
    {Shape, "number of ranks", Transport, kAny},
    {Shape, "number of ranks", Channels, kAny},
    {Shape, "number of ranks", Algorithm, kAny},
    {Shape, "number of ranks", Timing, kAny},
    {Shape, "number of ranks", Calls, kAny},
    {Shape, "number of hosts", Transport, kAny},
    {Shape, "number of hosts", Channels, kAny},
    {Shape, "number of hosts", Algorithm, kAny},
    {Shape, "number of hosts", Timing, kAny},
    {Topology, kAny, Transport, kAny},
    {Topology, kAny, Channels, kAny},
    {Topology, kAny, Algorithm, kAny},
    {Topology, kAny, Timing, kAny},
    {Transport, kAny, Channels, kAny},
    {Transport, kAny, Algorithm, kAny},
    {Transport, kAny, Timing, kAny},
    {Channels, "largest communicator", Channels, "rings of"},
    {Channels, "largest communicator", Channels, "trees of"},
    {Channels, kAny, Algorithm, kAny},
    {Channels, kAny, Timing, kAny},
    {Algorithm, kAny, Timing, kAny},
};

}  // namespace

bool may_explain(const DifferenceSubject& cause, const DifferenceSubject& effect) {
  return std::any_of(std::begin(kInfluences), std::end(kInfluences), [&](const Influence& each) {
    return each.topic == cause.topic && each.on == effect.topic &&
           cause.name.starts_with(each.name) && effect.name.starts_with(each.what);
  });
}

namespace {

constexpr size_t kItemsShown = 4;

std::string items_text(const std::map<std::string, Evidence>& items) {
  std::vector<std::string> names;
  for (const auto& [name, line] : items) names.push_back(name);
  return few_of(names, kItemsShown, ", ");
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
    return few_of(parts, kItemsShown, ", ");
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

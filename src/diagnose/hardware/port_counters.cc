// Which counters of ports, links and slots grew, and does the job use those ports?
//
//   before.txt: /sys/class/infiniband/mlx5_1/ports/1/counters/link_downed:2
//   after.txt:  /sys/class/infiniband/mlx5_1/ports/1/counters/link_downed:3
//   + node-a:4242:4300 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB …
//       → port_counter: sort fatal, port mlx5_1 port 1, grew "grew by 1", used yes
//
// Counters are totals since the driver was loaded. One reading is a hint: what it counts may be
// months old. Of two the growth counts. One that fell was reset, or wrapped, and says nothing; one
// that stopped at its end says "at least". A rate needs the times of both readings.
//
// Which of two files is the earlier one, times say; else nothing but that counters grow does: where
// all that changed fell, the files are taken the other way round.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "diagnose/network/interfaces.h"

namespace ncclog {
namespace {

/// A row of port_counters.table, which says what the columns are.
struct CounterMeaning {
  std::string_view names;
  std::string_view effect;
  std::string_view limit;
  std::string_view seconds;
  std::string_view full;
  std::string_view means;
  std::string_view source;
};

constexpr CounterMeaning kCounters[] = {
#include "diagnose/hardware/port_counters.inc"
};

/// nullptr: its growth says nothing.
const CounterMeaning* counter_meaning(std::string_view name) {
  static const auto kByName = [] {
    std::map<std::string, const CounterMeaning*, std::less<>> rows;
    for (const CounterMeaning& row : kCounters) {
      for (const std::string_view each : split(row.names, '|')) rows.emplace(each, &row);
    }
    return rows;
  }();
  std::string key(name);
  constexpr std::string_view kPriority = "_prio";
  const size_t at = key.find(kPriority);
  const size_t digit = at + kPriority.size();
  if (at != key.npos && digit < key.size() && is_digit(key[digit])) key[digit] = 'N';
  const auto row = kByName.find(key);
  return row == kByName.end() ? nullptr : row->second;
}

/// What two files with readings of the same ports have in common: their path without what tells the
/// moments apart, as "before" and "20260105".
std::string without_moment(std::string_view path) {
  constexpr std::string_view kMoments[] = {"before", "after", "pre",     "post", "start", "end",
                                           "begin",  "first", "second",  "last", "old",   "new",
                                           "t0",     "t1",    "initial", "final"};
  std::string kept;
  for (size_t at = 0; at < path.size();) {
    size_t end = at;
    while (end < path.size() && is_alnum(path[end])) ++end;
    const std::string word = lower_case(path.substr(at, end - at));
    constexpr size_t kDate = 6;
    const bool is_date = word.size() >= kDate && std::ranges::all_of(word, is_digit);
    if (!is_date && !equals_one_of(word, kMoments)) kept += word;
    if (end < path.size()) kept += path[end];
    at = end + 1;
  }
  return kept;
}

/// The readings of one counter, the earliest first.
using CounterSeries = std::vector<const PortCounter*>;

/// Whose: what the moments have in common, the host.
using CounterPlace = std::pair<std::string, std::string>;
using SeriesOfPlace = std::map<std::tuple<std::string, int, std::string>, CounterSeries>;

/// Nanoseconds from the first to the last reading; negative: they stand the other way round.
/// nullopt: the times do not tell.
std::optional<int64_t> elapsed_between(const CounterSeries& series) {
  const std::string& from = series.front()->stamp;
  const std::string& to = series.back()->stamp;
  if (const auto forward = nanoseconds_between(from, to)) return forward;
  const auto backward = nanoseconds_between(to, from);
  return backward ? std::optional(-*backward) : std::nullopt;
}

bool is_backward(const SeriesOfPlace& all) {
  bool grew = false;
  bool fell = false;
  for (const auto& [key, series] : all) {
    if (series.size() < 2) continue;
    if (const auto time = elapsed_between(series); time && *time != 0) return *time < 0;
    grew = grew || series.back()->value > series.front()->value;
    fell = fell || series.back()->value < series.front()->value;
  }
  return fell && !grew;
}

/// Who uses a device of a host, as NCCL's lists of devices tell.
struct PortUse {
  size_t processes = 0;
  int last = -1;  ///< Of them, into Job::processes.
  std::vector<int> ranks;
};

struct PortUses {
  std::set<std::string, std::less<>> hosts;    ///< With a list.
  std::set<std::string, std::less<>> devices;  ///< On any host.
  std::map<std::pair<std::string, std::string>, PortUse> by_host;
};

PortUses uses_of_devices(const Job& job) {
  PortUses uses;
  for (const HcaList& list : hca_lists(job)) {
    uses.hosts.emplace(list.host);
    const int rank = nth_process(job, list.process).rank;
    for (const NetDevice& hca : list.hcas) {
      uses.devices.emplace(hca.name);
      PortUse& use = uses.by_host[{std::string(list.host), std::string(hca.name)}];
      // A process may print its list again.
      if (use.last == list.process) continue;
      use.last = list.process;
      ++use.processes;
      if (rank >= 0) use.ranks.push_back(rank);
    }
  }
  return uses;
}

/// "yes", "no"; empty: no list tells. Without a host's name a device of that name on any host may
/// be it, and what is no RDMA device is in no list.
std::string is_used(const PortUses& uses, const PortCounter& counter) {
  const bool has_list =
      counter.host.empty() ? !uses.hosts.empty() : uses.hosts.contains(counter.host);
  const bool is_rdma = counter.text.find("/infiniband/") != std::string::npos ||
                       counter.text.find("link ") != std::string::npos ||
                       counter.source.find("/infiniband") != std::string::npos;
  const bool is_listed = counter.host.empty()
                             ? uses.devices.contains(counter.device)
                             : uses.by_host.contains({counter.host, counter.device});
  if (is_listed) return "yes";
  return has_list && is_rdma ? "no" : "";
}

/// What became of a counter; empty: nothing that is known.
struct CounterChange {
  std::string sort;
  std::string what;  ///< "grew by 3", "is 17"
};

CounterChange change_of(const CounterMeaning& row, const CounterSeries& series, bool backward) {
  const int64_t first = (backward ? series.back() : series.front())->value;
  const int64_t last = (backward ? series.front() : series.back())->value;
  const bool is_full = !row.full.empty() && last == parse_int(row.full);
  const bool fell = std::ranges::adjacent_find(series, [&](const auto* a, const auto* b) {
                      return backward ? a->value < b->value : a->value > b->value;
                    }) != series.end();
  if (fell) return {};
  const std::string_view at_least = is_full ? "at least " : "";
  if (last == first) {
    // Twice the same total, or one: all of it may be old.
    const bool says_something = last > 0 && (series.size() == 1 || is_full);
    return says_something ? CounterChange{"total", fmt::format("is {}{}", at_least, last)}
                          : CounterChange{};
  }
  CounterChange change{std::string(row.effect),
                       fmt::format("grew by {}{}", at_least, last - first)};
  if (row.effect != "rate") return change;
  const auto time = elapsed_between(series);
  const double seconds = time ? std::abs(static_cast<double>(*time)) / 1e9 : 0;
  const double limit = parse_decimal(row.limit).value_or(0);
  const double per = parse_decimal(row.seconds).value_or(1);
  const double rate = seconds > 0 ? static_cast<double>(last - first) / seconds * per : 0;
  change.sort = rate > limit ? "degraded" : "noted";
  if (rate > limit) {
    change.what +=
        fmt::format(", {:.0f} per {}, above {}", rate, per == 60 ? "minute" : "second", row.limit);
  }
  return change;
}

std::vector<TableRow> port_counters(const Job& job) {
  std::map<CounterPlace, SeriesOfPlace> places;
  for (const PortCounter& counter : job.port_counters) {
    places[{without_moment(counter.source), counter.host}]
          [{counter.device, counter.port, counter.name}]
              .push_back(&counter);
  }
  const PortUses uses = uses_of_devices(job);
  std::vector<TableRow> rows;
  for (const auto& [place, all] : places) {
    const bool backward = is_backward(all);
    for (const auto& [key, series] : all) {
      const CounterMeaning* row = counter_meaning(std::get<2>(key));
      const CounterChange change =
          row == nullptr ? CounterChange{} : change_of(*row, series, backward);
      if (change.what.empty()) continue;
      const PortCounter& shown = backward ? *series.front() : *series.back();
      const auto known = uses.by_host.find({shown.host, shown.device});
      const PortUse use = known == uses.by_host.end() ? PortUse{} : known->second;
      const std::string used = is_used(uses, shown);
      const bool is_link = shown.device.starts_with("GPU ");
      std::string port = shown.device;
      if (shown.port >= 0) port += fmt::format(" {} {}", is_link ? "link" : "port", shown.port);
      const std::string_view name = trim(port).empty() ? "a port" : trim(port);
      const bool is_one = use.processes == 1;
      rows.push_back({{change.sort, std::string(name), shown.host, shown.name, change.what,
                       std::string(row->means), used,
                       use.ranks.empty() ? std::string() : ranks_phrase(use.ranks)},
                      {shown.where, shown.text},
                      is_one ? use.last : -1,
                      is_one || used != "yes" ? "" : shown.host});
    }
  }
  return rows;
}

constexpr Field kPortCounterFields[] = {
    {"sort", FieldType::Text,
     "\"fatal\", \"loss\", \"degraded\", \"noted\": it grew so; \"total\": one reading alone."},
    {"port", FieldType::Text, "\"mlx5_1 port 1\", \"GPU 0 link 3\"."},
    {"host"},
    {"counter", FieldType::Text, "As printed."},
    {"change", FieldType::Text, "\"grew by 3\", \"is at least 255\"."},
    {"means"},
    {"used", FieldType::Text, "\"yes\", \"no\": whether NCCL lists that device; else empty."},
    {"who", FieldType::Text, "\"ranks 0-3\", who use it."},
};

}  // namespace

JobTable port_counter_table() { return {"port_counter", kPortCounterFields, port_counters}; }

}  // namespace ncclog

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
// Which of two readings is the earlier one, words and dates of the paths say ("before", "20260105"),
// then times, then words of headings; else nothing but that counters grow does: where all that
// changed fell, the readings are taken the other way round. Readings of devices without a name are
// of any device, so none is the second of another.

#include "diagnose/hardware/port_counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "diagnose/network/interfaces.h"
#include "log/moments.h"

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
  auto row = kByName.find(key);
  // What is the same in all sections is known without them.
  if (row == kByName.end()) row = kByName.find(key.substr(key.find('/') + 1));
  return row == kByName.end() ? nullptr : row->second;
}

/// A date and the time behind it, as names of files carry them.
struct DateWord {
  std::string digits;  ///< "20260105", "20260105120000".
  size_t length = 0;   ///< Bytes; 0: there is none.
};

/// The number that so many digits make; -1: others than digits stand there.
int64_t number_at(std::string_view text, size_t at, size_t count) {
  const std::string_view digits = text.substr(std::min(at, text.size()), count);
  if (digits.size() != count || !std::ranges::all_of(digits, is_digit)) return -1;
  return parse_int(digits).value_or(-1);
}

/// The date with which `text` begins: "20260105", "260105", "2026-01-05", "20260105T120000". Other
/// numbers tell hosts and jobs apart, so year, month and day have to be such.
DateWord date_at(std::string_view text) {
  constexpr std::string_view kSeparators = "-_.";
  constexpr int64_t kOldestShortYear = 2016;  // NCCL is not older.
  const size_t run = std::min(text.find_first_not_of("0123456789"), text.size());
  const bool is_split =
      run == 4 && run < text.size() && kSeparators.find(text[run]) != kSeparators.npos;
  const bool is_short = run == 6;
  if (!is_split && !is_short && run != 8 && run != 12 && run != 14) return {};
  const size_t year_size = is_short ? 2 : 4;
  const size_t gap = is_split ? 1 : 0;
  const int64_t year = number_at(text, 0, year_size) + (is_short ? 2000 : 0);
  const int64_t month = number_at(text, year_size + gap, 2);
  const int64_t day = number_at(text, year_size + 2 + 2 * gap, 2);
  const bool is_year = year >= (is_short ? kOldestShortYear : 1900) && year < 2100;
  if (!is_year || month < 1 || month > 12 || day < 1 || day > 31) return {};
  if (is_split && text[4] != text[7]) return {};
  DateWord date{fmt::format("{:04}{:02}{:02}", year, month, day), year_size + 4 + 2 * gap};

  const auto stands_at = [&](size_t at, std::string_view any) {
    return at < text.size() && any.find(text[at]) != any.npos;
  };
  // "20260105a" is a name.
  const auto ends_at = [&](size_t at) { return at == text.size() || !is_alnum(text[at]); };
  std::string time;
  size_t at = date.length + (stands_at(date.length, "T_-") ? 1 : 0);
  while (time.size() < 6) {
    const int64_t number = number_at(text, at, 2);
    if (number < 0 || number >= (time.empty() ? 24 : 60)) break;
    time += text.substr(at, 2);
    at += 2;
    if (time.size() < 6 && stands_at(at, ":-") && number_at(text, at + 1, 2) >= 0) ++at;
  }
  if (stands_at(at, "Z")) ++at;
  if (time.size() >= 4 && ends_at(at)) return {date.digits + time, at};
  return ends_at(date.length) ? date : DateWord{};
}

/// What readings of the same ports have in common, and what tells their moments apart.
struct Moment {
  std::string common;              ///< The text, with marks for the others.
  std::vector<std::string> words;  ///< Of the same `common` they compare as the moments do.
};

Moment moment_in(std::string_view text) {
  Moment moment;
  for (size_t at = 0; at < text.size();) {
    if (DateWord date = date_at(text.substr(at)); date.length > 0) {
      moment.common += "<date>";
      moment.words.push_back(std::move(date.digits));
      at += date.length;
    } else {
      const size_t begin = at;
      while (at < text.size() && is_alnum(text[at])) ++at;
      const std::string_view word = text.substr(begin, at - begin);
      const auto rank = moment_rank(word);
      moment.common += rank ? "<moment>" : lower_case(word);
      if (rank) moment.words.push_back(std::to_string(*rank));
    }
    if (at < text.size()) moment.common += text[at++];
  }
  return moment;
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

/// Sorts by the words and dates of a text; false: they do not tell.
bool sort_by_words(CounterSeries& series, std::string PortCounter::*text) {
  std::vector<std::pair<Moment, const PortCounter*>> known;
  for (const PortCounter* counter : series) known.emplace_back(moment_in(counter->*text), counter);
  const std::string& common = known.front().first.common;
  if (std::ranges::any_of(known, [&](const auto& one) { return one.first.common != common; })) {
    return false;
  }
  std::ranges::stable_sort(known, {}, [](const auto& one) { return one.first.words; });
  if (known.front().first.words == known.back().first.words) return false;
  std::ranges::transform(known, series.begin(), [](const auto& one) { return one.second; });
  return true;
}

void turn(SeriesOfPlace& all) {
  for (auto& [key, series] : all) std::ranges::reverse(series);
}

/// Puts the earliest reading first, as far as something tells which it is.
void order_readings(SeriesOfPlace& all) {
  const auto words_tell = [&](std::string PortCounter::*text) {
    bool tell = false;
    for (auto& [key, series] : all) tell |= sort_by_words(series, text);
    return tell;
  };
  if (words_tell(&PortCounter::source)) return;
  bool grew = false;
  bool fell = false;
  for (const auto& [key, series] : all) {
    if (const auto time = elapsed_between(series); time && *time != 0) {
      if (*time < 0) turn(all);
      return;
    }
    grew |= series.back()->value > series.front()->value;
    fell |= series.back()->value < series.front()->value;
  }
  if (words_tell(&PortCounter::stamp)) return;
  if (fell && !grew) turn(all);
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
  std::string what;  ///< "grew by 3", "is 17", "is active"
};

// States of GPUs, as nvidia-smi -q and listings of NVLinks show them.
//
//   HW Thermal Slowdown         : Active        → throttled, "is active"
//   Current Power Limit         : 200.00 W
//   Default Power Limit         : 700.00 W      → below, "is 200 W, by default 700 W"
//   Link 0: <inactive> … Link 17: <inactive>    → links: "18 of 18 NVLinks are inactive"

constexpr std::string_view kStates[] = {"throttled", "repair", "broken", "memory", "below"};

/// ", its SM clock 345 of 1980 MHz"; empty: it is not known, or near to the most.
std::string clock_words(const SeriesOfPlace& all, std::string_view device) {
  int64_t now = INT64_MAX;
  int64_t most = 0;
  for (const auto& [key, series] : all) {
    const std::string& name = std::get<2>(key);
    if (std::get<0>(key) != device || (name != "SM" && !name.ends_with("/SM"))) continue;
    for (const PortCounter* each : series) {
      now = std::min(now, each->value);
      most = std::max(most, each->value);
    }
  }
  if (now == INT64_MAX || most / 2 < now) return {};
  return fmt::format(", its SM clock {} of {} MHz", now, most);
}

CounterChange state_of(const CounterMeaning& row, const CounterSeries& series,
                       const SeriesOfPlace& all) {
  const PortCounter& last = *series.back();
  CounterChange change{std::string(row.effect), {}};
  if (row.effect == "memory" && last.value > 0) change.what = fmt::format("is {}", last.value);
  if (row.effect == "throttled" && last.value > 0) {
    change.what = "is active" + clock_words(all, last.device);
  }
  if ((row.effect == "repair" || row.effect == "broken") && last.value > 0) change.what = "is yes";
  if (row.effect != "below") return change;
  const std::string section = last.name.substr(0, last.name.find('/') + 1);
  const auto usual = all.find({last.device, last.port, section + std::string(row.limit)});
  if (usual == all.end() || last.value >= usual->second.back()->value) return change;
  change.what = fmt::format("is {} W, by default {} W{}", last.value, usual->second.back()->value,
                            clock_words(all, last.device));
  return change;
}

/// How many of a GPU's NVLinks are inactive, if some are: on all GPUs with the same number together.
/// Where a link is up beside them, one that is down may be broken; where none is, the machine may
/// have no bridge.
std::vector<TableRow> inactive_links(const SeriesOfPlace& all, std::string_view host) {
  struct Links {
    size_t inactive = 0;
    size_t all = 0;
    const PortCounter* shown = nullptr;
  };
  std::map<std::string_view, Links> by_device;
  bool some_up = false;
  for (const auto& [key, series] : all) {
    const PortCounter& last = *series.back();
    if (last.name != "inactive") continue;
    Links& links = by_device[last.device];
    ++links.all;
    some_up |= last.value == 0;
    if (last.value > 0 && ++links.inactive == 1) links.shown = &last;
  }
  std::map<std::pair<size_t, size_t>, std::vector<std::string_view>> alike;
  for (const auto& [device, links] : by_device) {
    if (links.inactive > 0) alike[{links.inactive, links.all}].push_back(device);
  }
  std::vector<TableRow> rows;
  for (const auto& [count, devices] : alike) {
    std::vector<std::string> names(devices.begin(), devices.end());
    const std::string who = few_of(names, 8, ", ");
    const PortCounter& shown = *by_device[devices.front()].shown;
    rows.push_back(
        {{some_up ? "link_down" : "no_links", who, std::string(host), "NVLinks",
          fmt::format("{} of {} NVLinks are inactive", count.first, count.second),
          "the link is inactive", "", "", host.empty() ? who : fmt::format("{} on {}", who, host)},
         {shown.where, shown.text},
         -1,
         std::string(host)});
  }
  return rows;
}

CounterChange change_of(const CounterMeaning& row, const CounterSeries& series) {
  const int64_t first = series.front()->value;
  const int64_t last = series.back()->value;
  const bool is_full = !row.full.empty() && last == parse_int(row.full);
  const bool fell = !std::ranges::is_sorted(series, {}, &PortCounter::value);
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
  const double seconds = time ? static_cast<double>(*time) / 1e9 : 0;
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

/// What a row weighs against others: what its counter tells of, then whether other ports count
/// something else, then how much.
struct Weight {
  std::ptrdiff_t effect = 0;
  bool is_common = false;
  int64_t less = 0;

  auto operator<=>(const Weight&) const = default;
};

Weight weight_of(const CounterMeaning& row, const CounterSeries& series, size_t values) {
  constexpr std::string_view kEffects[] = {"fatal", "loss", "rate", "noted", "below"};
  const int64_t first = series.size() == 1 ? 0 : series.front()->value;
  return {std::ranges::find(kEffects, row.effect) - std::begin(kEffects), values < 2,
          first - series.back()->value};
}

/// The heaviest first. A hint names its port where the one before is of another port.
std::vector<TableRow> in_order(std::vector<std::pair<Weight, TableRow>> weighed) {
  constexpr size_t kSort = 0;
  std::ranges::stable_sort(weighed, {}, &std::pair<Weight, TableRow>::first);
  std::vector<TableRow> rows;
  std::string before;
  for (auto& [weight, row] : weighed) {
    const bool is_hint = row.fields[kSort] == "total" || row.fields[kSort] == "noted";
    std::string& place = row.fields.back();
    if (is_hint && place == before) {
      place.clear();
    } else if (is_hint) {
      before = place;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<TableRow> port_counters(const Job& job) {
  std::map<CounterPlace, SeriesOfPlace> places;
  // One device without a name is in a file whose counters have different names.
  std::map<std::pair<std::string_view, std::string_view>, int> nameless;
  for (const PortCounter& counter : job.port_counters) {
    if (counter.device.empty()) ++nameless[{counter.source, counter.name}];
  }
  for (const PortCounter& counter : job.port_counters) {
    Moment moment = moment_in(counter.source);
    std::string common = std::move(moment.common);
    const bool is_alone = counter.device.empty() &&
                          (moment.words.empty() || nameless[{counter.source, counter.name}] > 1);
    if (is_alone) common += fmt::format(":{}:{}", counter.source, counter.where.line);
    places[{std::move(common), counter.host}][{counter.device, counter.port, counter.name}]
        .push_back(&counter);
  }
  const PortUses uses = uses_of_devices(job);
  std::vector<std::pair<Weight, TableRow>> rows;
  for (auto& [place, all] : places) {
    order_readings(all);
    std::map<std::string_view, std::set<int64_t>> values;
    for (const auto& [key, series] : all) values[std::get<2>(key)].insert(series.back()->value);
    for (const auto& [key, series] : all) {
      const CounterMeaning* row = counter_meaning(std::get<2>(key));
      if (row == nullptr || row->effect == "links") continue;
      const bool is_state = equals_one_of(row->effect, kStates);
      const CounterChange change = is_state ? state_of(*row, series, all) : change_of(*row, series);
      if (change.what.empty()) continue;
      const PortCounter& shown = *series.back();
      const auto known = uses.by_host.find({shown.host, shown.device});
      const PortUse use = known == uses.by_host.end() ? PortUse{} : known->second;
      const std::string used = is_used(uses, shown);
      const bool is_link = shown.device.starts_with("GPU ");
      std::string port = shown.device;
      if (shown.port >= 0) port += fmt::format(" {} {}", is_link ? "link" : "port", shown.port);
      const std::string_view name = trim(port).empty() ? "a port" : trim(port);
      const bool is_one = use.processes == 1;
      const std::string whose =
          shown.host.empty() ? std::string(name) : fmt::format("{} on {}", name, shown.host);
      rows.emplace_back(
          weight_of(*row, series, values[std::get<2>(key)].size()),
          TableRow{{change.sort, std::string(name), shown.host, shown.name, change.what,
                    std::string(row->means), used,
                    use.ranks.empty() ? std::string() : ranks_phrase(use.ranks), whose},
                   {shown.where, shown.text},
                   is_one ? use.last : -1,
                   is_one || used != "yes" ? "" : shown.host});
    }
  }
  std::vector<TableRow> ordered = in_order(std::move(rows));
  for (const auto& [place, all] : places) {
    for (TableRow& row : inactive_links(all, place.second)) ordered.push_back(std::move(row));
  }
  return ordered;
}

constexpr Field kPortCounterFields[] = {
    {"sort", FieldType::Text,
     "\"fatal\", \"loss\", \"degraded\", \"noted\": it grew so; \"total\": one reading alone; of a "
     "GPU "
     "\"throttled\", \"below\", \"repair\", \"broken\", \"memory\", \"link_down\", \"no_links\"."},
    {"port", FieldType::Text, "\"mlx5_1 port 1\", \"GPU 0 link 3\", \"GPU 00000000:1B:00.0\"."},
    {"host"},
    {"counter", FieldType::Text, "As printed."},
    {"change", FieldType::Text, "\"grew by 3\", \"is at least 255\"."},
    {"means"},
    {"used", FieldType::Text, "\"yes\", \"no\": whether NCCL lists that device; else empty."},
    {"who", FieldType::Text, "\"ranks 0-3\", who use it."},
    {"place", FieldType::Text,
     "\"mlx5_1 port 1 on node-a\"; empty of a total or a note behind one of the same port."},
};

}  // namespace

bool tells_of_faults(std::string_view name) { return counter_meaning(name) != nullptr; }

JobTable port_counter_table() { return {"port_counter", kPortCounterFields, port_counters}; }

}  // namespace ncclog

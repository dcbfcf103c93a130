// What do the kernels' logs say about the GPUs, switches, adapters and processes of the job?
//
//   node-a.dmesg: NVRM: Xid (PCI:0000:1b:00): 79, pid=4242, name=python3, GPU has fallen off the
//   bus.
//       → kernel_event: kind xid, code 79, class off_bus, host node-a, bus_id 0000:1b:00, who
//         "rank 2, pid 4242"
//   NVRM: Xid (PCI:0008:01:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x004505c6 …)
//       → class nvlink_fatal, unit NETIR_LINK_EVT, link 8
//   NVRM: Xid (PCI:0000:dc:00): 45, pid=1818990, …, Ch 00000001 caused by previous Xid 149
//       → code 149, class nvlink_fatal: it took a channel of the program down
//       → class channel, where a line says that this 149 was not fatal
//   NVRM: Xid (PCI:0000:1b:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset
//   Required)
//       → class recovery, unit "GPU Reset Required"; noted, where it changed back to None later
//   NVRM: Xid (PCI:0000:01:00): 31, GPU has fallen off the bus
//       → class other: the number says one thing and the text another
//
// What a number means is a row of xids.table; rules ask for its class. dmesg counts from boot, so
// only lines with a wall clock are placed before or after the job's beginning and NCCL's first
// failure. What was over before the job began, and an error of a GPU or a switch that a job outlived,
// did not end it: rules ask for what "concerns" the job.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
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
#include "diagnose/outcome/end_marks.h"
#include "diagnose/outcome/first_failure.h"
#include "diagnose/outcome/job_span.h"
#include "diagnose/outcome/outcome.h"
#include "log/messages.h"

namespace ncclog {
namespace {

/// A row of xids.table, which says what the columns are.
struct XidMeaning {
  std::string_view code;
  std::string_view sort;
  std::string_view words;
  std::string_view means;
};

constexpr XidMeaning kXids[] = {
#include "diagnose/hardware/xids.inc"
};

/// A row of sxids.table, likewise.
struct SxidMeaning {
  std::string_view code;
  std::string_view sort;
  std::string_view means;
};

constexpr SxidMeaning kSxids[] = {
#include "diagnose/hardware/sxids.inc"
};

/// The row of that number in a table; nullptr: it has none.
const auto* meaning_in(const auto& table, std::string_view code) {
  const auto* const row =
      std::ranges::find(table, code, [](const auto& each) { return each.code; });
  return row == std::end(table) ? nullptr : row;
}

const XidMeaning* xid_meaning(std::string_view code) { return meaning_in(kXids, code); }

/// What an Xid's line says beside its number.
struct XidReading {
  std::string code;   ///< As printed, or the one that 45 names as its cause.
  std::string sort;   ///< The class, with nvlink_fatal and nvlink_nonfatal.
  std::string means;  ///< In words; empty: nothing knows.
  std::string unit;   ///< "NETIR_LINK_EVT": NVIDIA's subcode; "GPU Reset Required".
  std::string link;   ///< "8"; empty: none.
};

/// The number behind "caused by previous Xid ". 45: the driver tears a channel down, after another
/// Xid or after the process was killed. Newer drivers name the other one, and its own line may be
/// missing.
std::optional<int64_t> previous_code(const KernelEvent& event) {
  constexpr int kConsequence = 45;
  constexpr std::string_view kCause = "caused by previous Xid ";
  const size_t at = event.text.find(kCause);
  if (event.code != kConsequence || at == std::string::npos) return std::nullopt;
  const std::string_view rest = std::string_view(event.text).substr(at + kCause.size());
  return parse_int(rest.substr(0, rest.find_first_not_of("0123456789")));
}

/// Takes "NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x…" apart. Without one of the two words the class
/// stays "other": a placeholder's text tells nothing.
void read_nvlink5(std::string_view text, XidReading& reading) {
  const std::vector<std::string_view> words = split_blanks(text);
  reading.sort = "other";
  for (size_t w = 1; w < words.size(); ++w) {
    const bool fatal = words[w] == "Fatal";
    if (fatal || words[w] == "Nonfatal") {
      reading.sort = fatal ? "nvlink_fatal" : "nvlink_nonfatal";
      reading.unit = words[w - 1];
    }
    // Link -1: of none in particular.
    const auto link = words[w - 1] == "Link" ? parse_int(words[w]) : std::nullopt;
    if (link && *link >= 0) reading.link = std::to_string(*link);
  }
}

/// Words of the text that lines of another number say, where it lacks those of its own.
const XidMeaning* contradiction(const XidMeaning* own, std::string_view text) {
  const auto says = [&](const XidMeaning& row) {
    return !row.words.empty() && text.find(row.words) != text.npos;
  };
  if (own != nullptr && says(*own)) return nullptr;
  const auto* const other = std::ranges::find_if(kXids, says);
  return other == std::end(kXids) || other == own ? nullptr : other;
}

/// Host, GPU and number of Xids 144 to 150, and the worst class that their lines tell.
using NvlinkSorts = std::map<std::tuple<std::string_view, std::string_view, int64_t>, std::string>;

NvlinkSorts nvlink_sorts(const Job& job) {
  NvlinkSorts sorts;
  for (const KernelEvent& event : job.kernel_events) {
    const XidMeaning* row = xid_meaning(std::to_string(event.code));
    if (event.kind != kKindIndex<Xid> || row == nullptr || row->sort != "nvlink5") continue;
    XidReading reading;
    read_nvlink5(event.text, reading);
    std::string& sort = sorts[{event.host, event.bus_id, event.code}];
    if (sort != "nvlink_fatal") sort = reading.sort;
  }
  return sorts;
}

/// What the driver asks for by Xid 154: "GPU Reset Required" of "… from 0x0 (None) to 0x1 (GPU Reset
/// Required)"; empty: nothing, or the line is cut.
std::string_view recovery_action(std::string_view text) {
  const size_t begin = text.rfind('(');
  const size_t end = text.find(')', begin);
  if (text.find(" to ") > begin || end == text.npos) return {};
  const std::string_view action = text.substr(begin + 1, end - begin - 1);
  return action == "None" ? "" : action;
}

/// Of each host and GPU the last Xid 154: what was asked for before may have been done.
using LastActions = std::map<std::pair<std::string_view, std::string_view>, std::string_view>;

LastActions last_actions(const Job& job) {
  constexpr int kActionChanged = 154;
  LastActions last;
  for (const KernelEvent& event : job.kernel_events) {
    if (event.kind != kKindIndex<Xid> || event.code != kActionChanged) continue;
    last[{event.host, event.bus_id}] = recovery_action(event.text);
  }
  return last;
}

XidReading read_xid(const KernelEvent& event, const NvlinkSorts& sorts,
                    const LastActions& actions) {
  const std::optional<int64_t> cause = previous_code(event);
  XidReading reading{.code = std::to_string(cause.value_or(event.code))};
  const XidMeaning* row = xid_meaning(reading.code);
  reading.sort = row == nullptr ? "other" : row->sort;
  if (row != nullptr) reading.means = row->means;
  if (cause) {
    // Whatever it was, it ended what the program did on that GPU, unless its own line knows better.
    if (reading.sort == "nvlink5") {
      const auto own_line = sorts.find({event.host, event.bus_id, *cause});
      const bool is_mild = own_line != sorts.end() && own_line->second == "nvlink_nonfatal";
      reading.sort = is_mild ? "channel" : "nvlink_fatal";
    }
    reading.means += reading.means.empty() ? "seen in Xid 45" : ", seen in Xid 45";
    return reading;
  }
  if (reading.sort == "nvlink5") read_nvlink5(event.text, reading);
  if (reading.sort == "recovery") {
    reading.unit = recovery_action(event.text);
    const auto last = actions.find({event.host, event.bus_id});
    if (reading.unit.empty() || last == actions.end() || last->second.empty()) {
      reading.sort = "noted";
    }
  }
  // A row that waits for a reset, as its line says.
  if (row != nullptr && row->code == "63" && event.text.find("reset") != std::string::npos) {
    reading.sort = "repair";
  }
  if (const XidMeaning* other = contradiction(row, event.text)) {
    reading.sort = "other";
    reading.means += fmt::format("{}but \"{}\" is Xid {}'s text", row == nullptr ? "" : ", ",
                                 other->words, other->code);
  }
  return reading;
}

/// The class of an SXid by what stands behind its number. Lines of details follow one that says it.
std::string_view sort_of_switch_error(std::string_view text) {
  if (text.find(" NVSwitch fatal error ") != text.npos) return "switch_fatal";
  if (text.find(" NVSwitch non-fatal error ") != text.npos) return "switch_nonfatal";
  const size_t number = text.find("): ");
  const size_t end = text.find(", ", number);
  const std::string_view said = end == text.npos ? "" : text.substr(end + 2);
  if (said.starts_with("Fatal")) return "switch_fatal";
  if (said.starts_with("Non-fatal")) return "switch_nonfatal";
  return said.starts_with("Severity ") || said.starts_with("Data {") ? "details" : "other";
}

/// Switches and numbers of which a line says how severe they are.
using ToldSwitchErrors = std::set<std::tuple<std::string_view, std::string_view, int64_t>>;

ToldSwitchErrors told_switch_errors(const Job& job) {
  ToldSwitchErrors told;
  for (const KernelEvent& event : job.kernel_events) {
    if (event.kind != kKindIndex<Sxid>) continue;
    if (!sort_of_switch_error(event.text).starts_with("switch_")) continue;
    told.emplace(event.host, event.bus_id, event.code);
  }
  return told;
}

/// Where no line says how severe it is, the number does.
XidReading read_sxid(const KernelEvent& event, const ToldSwitchErrors& told) {
  XidReading reading{.code = std::to_string(event.code)};
  reading.sort = sort_of_switch_error(event.text);
  const bool is_told = told.contains({event.host, event.bus_id, event.code});
  if (is_told || reading.sort.starts_with("switch_")) return reading;
  const SxidMeaning* row = meaning_in(kSxids, reading.code);
  reading.means = row == nullptr ? "" : row->means;
  reading.sort = row == nullptr         ? "other"
                 : row->sort == "fatal" ? "switch_fatal_by_number"
                                        : "switch_nonfatal";
  return reading;
}

/// A moment by the clock of lines whose times have no zone, and by that of those that have one.
using Moments = std::array<std::optional<LineTime>, 2>;

/// NCCL's first WARN that is fatal.
Moments first_failures(const Job& job) {
  Moments first;
  for (const ReportedWarning& each : reported_warnings(job)) {
    const LineTime time = time_of(each.record);
    if (each.warning.severity != WarnSeverity::Fatal || !time.known()) continue;
    std::optional<LineTime>& known = first[time.has_zone ? 1 : 0];
    if (!known || time.nanoseconds < known->nanoseconds) known = time;
  }
  return first;
}

int64_t input_with(const Job& job, SourceRef where) {
  const JobUnit* unit = unit_of(job, where);
  return unit == nullptr ? -1 : unit->input;
}

/// When the job's logs begin: the first time in each file that stands before NCCL's first
/// initialisation there or, where there is none, before the first work. Files in which kernel lines
/// come first, and those where only failures have times, do not tell.
Moments beginnings(const Job& job) {
  std::map<int64_t, SourceRef> kernels;
  for (const KernelEvent& event : job.kernel_events) {
    kernels.emplace(input_with(job, event.where), event.where);
  }
  std::map<int64_t, SourceRef> inits;
  for (const SpeakerLog& log : job.logs) {
    for (const CommSegment& segment : log.comms.all) {
      for (const SourceRef where : {segment.started, segment.completed}) {
        if (where.line == 0) continue;
        const auto known = inits.emplace(input_with(job, where), where).first;
        known->second = std::min(known->second, where);
      }
    }
  }
  Moments began;
  for (const InputClock& clock : job.clocks) {
    const auto kernel = kernels.find(clock.input);
    for (const bool has_zone : {false, true}) {
      const PulseClock& pulse = clock.pulse.clock(has_zone);
      const auto init = inits.find(clock.input);
      const SourceRef shown = init != inits.end() ? init->second : pulse.work.first.where;
      const TimedLine& first = pulse.all.first;
      if (first.where.line == 0 || shown.line == 0 || shown < first.where) continue;
      if (kernel != kernels.end() && kernel->second < shown) continue;
      std::optional<LineTime>& known = began[has_zone ? 1 : 0];
      if (known && known->nanoseconds <= first.nanoseconds) continue;
      known = LineTime{.has_zone = has_zone, .nanoseconds = first.nanoseconds};
    }
  }
  return began;
}

/// How much later a line is than a moment, in nanoseconds; nullopt where the clocks do not tell.
std::optional<int64_t> lateness(std::string_view line, const Moments& moments) {
  const LineTime time = time_of_line(line);
  const std::optional<LineTime>& moment = moments[time.has_zone ? 1 : 0];
  const bool are_known = time.known() && moment;
  if (!are_known || (time.year != moment->year && time.year != 0 && moment->year != 0)) {
    return std::nullopt;
  }
  return time.nanoseconds - moment->nanoseconds;
}

/// How a kernel line stands in time to the job.
struct PlaceInTime {
  std::string words;     ///< "3 min before NCCL's first error"; empty where the clocks do not tell.
  bool is_past = false;  ///< It was over before the job began.
};

PlaceInTime place_in_time(std::string_view line, const Moments& began, const Moments& failures) {
  constexpr int64_t kSecond = 1'000'000'000;
  // What the driver says while a program starts up stands before the first line that has a time.
  constexpr int64_t kStartUp = 300 * kSecond;
  // Times without a year: a line of the winter may be of the one after the job.
  constexpr int64_t kMost = 150 * 24 * 3600 * kSecond;
  const int64_t earlier = -lateness(line, began).value_or(0);
  if (earlier > kStartUp && earlier < kMost) {
    return {duration_words(earlier) + " before the job's logs begin", true};
  }
  const std::optional<int64_t> later = lateness(line, failures);
  if (!later) return {};
  // A clock that shows seconds is not compared more finely.
  if (std::abs(*later) < kSecond) return {"with NCCL's first error"};
  return {fmt::format("{} {} NCCL's first error", duration_words(std::abs(*later)),
                      *later < 0 ? "before" : "after")};
}

/// "job", "others", "past", "outlived".
std::string_view concern(const KernelEvent& event, const PlaceInTime& place, bool finished) {
  const bool is_elsewhere =
      event.relation == KernelRelation::OtherGpu || event.relation == KernelRelation::OtherHost;
  if (is_elsewhere) return "others";
  constexpr uint16_t kOfGpus[] = {kKindIndex<Xid>, kKindIndex<Sxid>, kKindIndex<GpuOffBus>,
                                  kKindIndex<GpuFirmwareSilent>, kKindIndex<GpuStartFailed>};
  const bool was_outlived = finished && std::ranges::find(kOfGpus, event.kind) != std::end(kOfGpus);
  if (place.is_past) return "past";
  return was_outlived ? "outlived" : "job";
}

std::vector<TableRow> kernel_events(const Job& job) {
  if (job.kernel_events.empty()) return {};
  std::set<int64_t> known;
  for (const Death& death : deaths(job)) known.insert(death.pid);
  const NvlinkSorts sorts = nvlink_sorts(job);
  const LastActions actions = last_actions(job);
  const ToldSwitchErrors told = told_switch_errors(job);
  const Moments failures = first_failures(job);
  const Moments began = beginnings(job);
  const bool finished = outcome_of(job).job.state == EndState::Finished;
  const auto number = [](int64_t n) { return n < 0 ? std::string() : std::to_string(n); };
  // The driver says "fallen off the bus" again below the Xid.
  std::set<std::pair<std::string, std::string>> off_bus;
  for (const KernelEvent& event : job.kernel_events) {
    if (event.kind == kKindIndex<Xid>) off_bus.emplace(event.host, event.bus_id);
  }
  // A kernel that faulted is what the GPU cannot switch away from.
  std::set<std::pair<std::string, std::string>> faulted;
  std::vector<TableRow> rows;
  for (const KernelEvent& event : job.kernel_events) {
    const bool is_off_bus = event.kind == kKindIndex<GpuOffBus>;
    if (is_off_bus && off_bus.contains({event.host, event.bus_id})) continue;
    std::vector<std::string> who;
    if (event.rank >= 0) who.push_back(fmt::format("rank {}", event.rank));
    if (event.pid > 0) who.push_back(fmt::format("pid {}", event.pid));
    const PlaceInTime place = place_in_time(event.text, began, failures);
    const bool died = known.contains(event.pid);
    XidReading xid =
        event.kind == kKindIndex<Xid> ? read_xid(event, sorts, actions)
        : event.kind == kKindIndex<Sxid>
            ? read_sxid(event, told)
            : XidReading{.code = number(event.code), .sort = is_off_bus ? "off_bus" : ""};
    if (xid.sort == "program") faulted.emplace(event.host, event.bus_id);
    if (xid.sort == "context" && faulted.contains({event.host, event.bus_id}))
      xid.sort = "context_after_fault";
    rows.push_back(
        {{std::string(all_kinds()[event.kind].name), xid.code, xid.sort, xid.means, xid.unit,
          xid.link, event.host, event.bus_id, number(event.rank), number(event.pid),
          join(who, ", "), std::string(concern(event, place, finished)), died ? "yes" : "no",
          place.words, event.text},
         {event.where, event.text},
         event.process});
  }
  return rows;
}

constexpr Field kKernelEventFields[] = {
    {"kind", FieldType::Text,
     "\"xid\", \"sxid\", \"gpu_off_bus\", \"gpu_firmware_silent\", \"gpu_start_failed\", "
     "\"hca_fault\", \"oom_kill\"."},
    {"code", FieldType::Integer,
     "Of Xid and SXid; the other Xid where it is that one's consequence."},
    {"class", FieldType::Text,
     "Of an Xid: \"off_bus\", \"nvlink\", \"nvlink_fatal\", \"nvlink_nonfatal\", \"memory\", "
     "\"firmware\", \"context\", \"context_after_fault\" (of the same GPU), \"program\", "
     "\"recovery\", \"repair\", \"noted\", \"channel\", "
     "\"other\"; of "
     "an "
     "SXid: \"switch_fatal\", \"switch_fatal_by_number\", \"switch_nonfatal\", \"details\", "
     "\"other\"."},
    {"means", FieldType::Text,
     "What an Xid's number means, and an SXid's whose line does not say how severe it is; empty: "
     "not known."},
    {"unit", FieldType::Text, "Of Xids 144 to 150: the part of NVLink; of 154: the action."},
    {"link", FieldType::Integer, "Of NVLink."},
    {"host"},
    {"bus_id"},
    {"rank", FieldType::Integer},
    {"pid", FieldType::Integer},
    {"who", FieldType::Text, "\"rank 2, pid 4242\", as far as known."},
    {"concerns", FieldType::Text,
     "\"job\"; \"others\": a GPU or host that the job does not use; \"past\": over before the job "
     "began; \"outlived\": of a GPU or a switch, and the job finished."},
    {"known_death", FieldType::Text, "\"yes\": lines of the job tell of the end of that pid."},
    {"when", FieldType::Text,
     "\"3 min before NCCL's first error\", \"2 h before the job's logs begin\", where clocks "
     "tell."},
    {"text", FieldType::Text, "The line."}};

}  // namespace

JobTable kernel_event_table() { return {"kernel_event", kKernelEventFields, kernel_events}; }

}  // namespace ncclog

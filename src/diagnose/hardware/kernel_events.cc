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
//   NVRM: Xid (PCI:0000:01:00): 31, GPU has fallen off the bus
//       → class other: the number says one thing and the text another
//
// What a number means is a row of xids.table; rules ask for its class. dmesg counts from boot, so
// only lines with a wall clock are placed before or after NCCL's first failure.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "diagnose/outcome/end_marks.h"
#include "diagnose/outcome/first_failure.h"
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

/// nullptr: the table has no such number.
const XidMeaning* xid_meaning(std::string_view code) {
  const auto* const row = std::ranges::find(kXids, code, &XidMeaning::code);
  return row == std::end(kXids) ? nullptr : row;
}

/// What an Xid's line says beside its number.
struct XidReading {
  std::string code;   ///< As printed, or the one that 45 names as its cause.
  std::string sort;   ///< The class, with nvlink_fatal and nvlink_nonfatal.
  std::string means;  ///< In words; empty: nothing knows.
  std::string unit;   ///< "NETIR_LINK_EVT": NVIDIA's subcode.
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

XidReading read_xid(const KernelEvent& event) {
  const std::optional<int64_t> cause = previous_code(event);
  XidReading reading{.code = std::to_string(cause.value_or(event.code))};
  const XidMeaning* row = xid_meaning(reading.code);
  reading.sort = row == nullptr ? "other" : row->sort;
  if (row != nullptr) reading.means = row->means;
  if (cause) {
    // Whatever it was, it ended what the program did on that GPU.
    if (reading.sort == "nvlink5") reading.sort = "nvlink_fatal";
    reading.means += reading.means.empty() ? "seen in Xid 45" : ", seen in Xid 45";
    return reading;
  }
  if (reading.sort == "nvlink5") read_nvlink5(event.text, reading);
  if (const XidMeaning* other = contradiction(row, event.text)) {
    reading.sort = "other";
    reading.means += fmt::format("{}but \"{}\" is Xid {}'s text", row == nullptr ? "" : ", ",
                                 other->words, other->code);
  }
  return reading;
}

/// The time of NCCL's first WARN that is fatal, of the lines whose times have a zone, or have none.
std::array<std::optional<LineTime>, 2> first_failures(const Job& job) {
  std::array<std::optional<LineTime>, 2> first;
  for (const ReportedWarning& each : reported_warnings(job)) {
    const LineTime time = time_of(each.record);
    if (each.warning.severity != WarnSeverity::Fatal || !time.known()) continue;
    std::optional<LineTime>& known = first[time.has_zone ? 1 : 0];
    if (!known || time.nanoseconds < known->nanoseconds) known = time;
  }
  return first;
}

/// "3 min before NCCL's first error"; empty where the clocks do not tell.
std::string place_in_time(std::string_view line,
                          const std::array<std::optional<LineTime>, 2>& failures) {
  const LineTime time = time_of_line(line);
  if (!time.known()) return {};
  const std::optional<LineTime>& failure = failures[time.has_zone ? 1 : 0];
  if (!failure || (time.year != failure->year && time.year != 0 && failure->year != 0)) return {};
  const int64_t later = time.nanoseconds - failure->nanoseconds;
  // A clock that shows seconds is not compared more finely.
  if (std::abs(later) < 1'000'000'000) return "with NCCL's first error";
  return fmt::format("{} {} NCCL's first error", duration_words(std::abs(later)),
                     later < 0 ? "before" : "after");
}

std::vector<TableRow> kernel_events(const Job& job) {
  if (job.kernel_events.empty()) return {};
  std::set<int64_t> known;
  for (const Death& death : deaths(job)) known.insert(death.pid);
  const auto failures = first_failures(job);
  const auto number = [](int64_t n) { return n < 0 ? std::string() : std::to_string(n); };
  // The driver says "fallen off the bus" again below the Xid.
  std::set<std::pair<std::string, std::string>> off_bus;
  for (const KernelEvent& event : job.kernel_events) {
    if (event.kind == kKindIndex<Xid>) off_bus.emplace(event.host, event.bus_id);
  }
  std::vector<TableRow> rows;
  for (const KernelEvent& event : job.kernel_events) {
    const bool is_off_bus = event.kind == kKindIndex<GpuOffBus>;
    if (is_off_bus && off_bus.contains({event.host, event.bus_id})) continue;
    std::vector<std::string> who;
    if (event.rank >= 0) who.push_back(fmt::format("rank {}", event.rank));
    if (event.pid > 0) who.push_back(fmt::format("pid {}", event.pid));
    const bool is_elsewhere =
        event.relation == KernelRelation::OtherGpu || event.relation == KernelRelation::OtherHost;
    const bool died = known.contains(event.pid);
    const XidReading xid =
        event.kind == kKindIndex<Xid>
            ? read_xid(event)
            : XidReading{.code = number(event.code), .sort = is_off_bus ? "off_bus" : ""};
    rows.push_back({{std::string(all_kinds()[event.kind].name), xid.code, xid.sort, xid.means,
                     xid.unit, xid.link, event.host, event.bus_id, number(event.rank),
                     number(event.pid), join(who, ", "), is_elsewhere ? "others" : "job",
                     died ? "yes" : "no", place_in_time(event.text, failures), event.text},
                    {event.where, event.text},
                    event.process});
  }
  return rows;
}

constexpr Field kKernelEventFields[] = {
    {"kind", FieldType::Text, "\"xid\", \"sxid\", \"gpu_off_bus\", \"hca_fault\", \"oom_kill\"."},
    {"code", FieldType::Integer,
     "Of Xid and SXid; the other Xid where it is that one's consequence."},
    {"class", FieldType::Text,
     "Of an Xid: \"off_bus\", \"nvlink\", \"nvlink_fatal\", \"nvlink_nonfatal\", \"memory\", "
     "\"firmware\", \"program\", \"noted\", \"channel\", \"other\"."},
    {"means", FieldType::Text, "What an Xid's number means; empty: not known."},
    {"unit", FieldType::Text, "Of Xids 144 to 150: the part of NVLink."},
    {"link", FieldType::Integer, "Of NVLink."},
    {"host"},
    {"bus_id"},
    {"rank", FieldType::Integer},
    {"pid", FieldType::Integer},
    {"who", FieldType::Text, "\"rank 2, pid 4242\", as far as known."},
    {"concerns", FieldType::Text,
     "\"job\", or \"others\": a GPU or host that the job does not use."},
    {"known_death", FieldType::Text, "\"yes\": lines of the job tell of the end of that pid."},
    {"when", FieldType::Text, "\"3 min before NCCL's first error\", where the clocks tell."},
    {"text", FieldType::Text, "The line."}};

}  // namespace

JobTable kernel_event_table() { return {"kernel_event", kKernelEventFields, kernel_events}; }

}  // namespace ncclog

#include "app/read/second_look.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "app/read/scan.h"
#include "diagnose/calls/messages.h"
#include "diagnose/perf/measured/measurement.h"
#include "diagnose/perf/verdict/perf_verdict.h"
#include "input/input_walk.h"
#include "log/event_reader.h"
#include "model/calls.h"

namespace ncclog {
namespace {

/// Takes a record; false: that was enough.
using UseRecord = std::function<bool(const Line& record, const Event& event)>;

/// Whether the lines from this one on are understood as they were when all of them were read, as
/// far as records from line `first` on are concerned: a line that may start a unit belongs to no
/// record before it.
bool is_good_start(const Line& line, uint64_t first) {
  constexpr uint64_t kLongestRecord = 64;
  if (line.number >= first) return true;
  return line.number + kLongestRecord >= first && may_start_unit(line.text);
}

/// Records may come a little late, where lines were joined.
constexpr uint64_t kSlack = 64;

/// The records of one readable thing, those at the lines `wanted` at least, and from the last of
/// them on, up to where `use` has enough. What stands far before one and behind the one before is
/// only unpacked, not understood.
void read_records(UnitReader& input, std::span<const SourceRef> wanted, const UseRecord& use) {
  constexpr uint64_t kFar = 8 * kSlack;
  bool wants_more = true;
  const auto take = [&](const Line& record, const Event& event, int) {
    wants_more = wants_more && use(record, event);
  };
  std::optional<EventReader> events;  // Of a place and those near it.
  for (Line line; wants_more && input.next(line);) {
    while (wanted.size() > 1 && wanted.front().line + kSlack < line.number) {
      wanted = wanted.subspan(1);
      if (!events || wanted.front().line < line.number + kFar) continue;
      events->finish();
      events.reset();
    }
    if (!events && is_good_start(line, wanted.front().line)) events.emplace(take);
    if (events) events->add(line);
  }
  if (events) events->finish();
}

/// Gives the records of the unit or member that the places `wanted`, sorted, are in to `use`: those
/// at these places, and from the last one on, at least; nothing if it is not there.
void read_again(const ReadUnits& read, std::span<const SourceRef> wanted, const UseRecord& use) {
  const SourceRef from = wanted.front();
  const uint64_t index = from.unit / kNumbersPerUnit;
  if (index >= read.units.size()) return;
  if (!read.elsewhere.empty() && !read.elsewhere[read.units[index].input].host.empty()) return;
  const Unit& unit = read.units[index];
  if (read.inputs[unit.input] == "-") return;  // What came from there is gone.
  InputWalk walk(unit, read.inputs[unit.input]);
  while (UnitReader* input = walk.next()) {
    if (walk.current().number != from.unit) continue;
    read_records(*input, wanted, use);
    return;
  }
}

bool made(const CallOwner& owner, const Event& event, const PrintedCall& call) {
  return event.header.pid == owner.pid && event.header.host == owner.host &&
         call.comm == owner.comm && call.is_trace == owner.by_traces;
}

CallOwner owner_of(const Job& job, const CommRank& rank) {
  const SpeakerLog& log = job.logs[rank.log];
  const CommSegment& segment = segment_of(job, rank);
  return {log.speaker.host, log.speaker.pid, segment.comm, is_told_by_traces(segment)};
}

/// Takes a record with its place; false: that was enough.
using UsePlaced = std::function<bool(SourceRef where, const Event& event)>;

/// Gives the records from `from` on to `use`, those of the later units of the same input, too. A
/// member of an archive is one unit.
void read_on(const ReadUnits& read, SourceRef from, const UsePlaced& use) {
  bool wants_more = true;
  const auto read_unit = [&](SourceRef start) {
    read_again(read, {&start, 1}, [&](const Line& record, const Event& event) {
      const SourceRef where{start.unit, record.number};
      if (from <= where) wants_more = use(where, event);
      return wants_more;
    });
  };
  read_unit(from);
  const uint64_t index = from.unit / kNumbersPerUnit;
  if (from.unit % kNumbersPerUnit != 0 || index >= read.units.size()) return;
  for (uint64_t next = index + 1; wants_more && next < read.units.size(); ++next) {
    if (read.units[next].input != read.units[index].input) break;
    read_unit({next * kNumbersPerUnit, 1});
  }
}

std::vector<PlacedCall> read_calls(const ReadUnits& read, const Request& request) {
  std::vector<PlacedCall> calls;
  if (request.most == 0) return calls;
  read_on(read, request.from, [&](SourceRef where, const Event& event) {
    const auto call = read_call(event);
    const bool is_meant = call && made(request.owner, event, *call);
    if (is_meant && !is_point_to_point(call->call.op)) calls.push_back({where, call->call});
    return calls.size() < request.most;
  });
  return calls;
}

/// The line of a message: of the one of that number between the two, or, where that is not known,
/// of the first that is like the one wanted.
std::optional<SourceRef> find_message(const ReadUnits& read, const Request& request) {
  const CallSignature& wanted = request.wanted;
  std::optional<SourceRef> found;
  uint64_t passed = 0;
  read_on(read, request.from, [&](SourceRef where, const Event& event) {
    const auto call = read_call(event);
    if (!call || !made(request.owner, event, *call)) return true;
    if (call->call.op != wanted.op || call->call.root != wanted.root) return true;
    const bool is_it = request.index ? passed == *request.index : call->call == wanted;
    ++passed;
    if (is_it) found = where;
    return !is_it;
  });
  return found;
}

/// Gives the records at these places, sorted, to `use`.
void read_places(
    const ReadUnits& read, const std::vector<SourceRef>& lines,
    const std::function<void(SourceRef where, const Line& record, const Event& event)>& use) {
  for (auto first = lines.begin(); first != lines.end();) {
    const uint64_t unit = first->unit;
    const auto end = std::lower_bound(first, lines.end(), SourceRef{unit + 1, 0});
    const uint64_t last = std::prev(end)->line;
    read_again(read, {first, end}, [&](const Line& record, const Event& event) {
      const SourceRef where{unit, record.number};
      if (std::binary_search(first, end, where)) use(where, record, event);
      return record.number < last + kSlack;
    });
    first = end;
  }
}

/// What the lines at these places, sorted, say: their texts and times.
std::map<SourceRef, Reply> read_lines(const ReadUnits& read, const std::vector<SourceRef>& places) {
  std::map<SourceRef, Reply> lines;
  read_places(read, places, [&](SourceRef where, const Line& record, const Event& event) {
    Reply& line = lines[where];
    line.is_found = true;
    if (line.text.empty()) line.text = record.text.substr(0, Record::kMaxTextBytes);
    const LineTime time = time_before(record.text, event.header.message);
    if (time.known() && !line.nanoseconds) line.nanoseconds = time.nanoseconds;
  });
  return lines;
}

// What lies elsewhere is asked for. Places of a request are as if its file were scanned alone.

/// Where the input that `where` is in was scanned; nullptr: here.
const ScannedElsewhere* elsewhere(const ReadUnits& read, SourceRef where) {
  const uint64_t index = where.unit / kNumbersPerUnit;
  if (read.elsewhere.empty() || index >= read.units.size()) return nullptr;
  const ScannedElsewhere& input = read.elsewhere[read.units[index].input];
  return input.host.empty() ? nullptr : &input;
}

void shift(SourceRef& where, const ScannedElsewhere& input, int direction) {
  const uint64_t units = (input.first_unit - 1) * kNumbersPerUnit;
  where.unit = direction > 0 ? where.unit + units : where.unit - units;
}

/// The answer to `request`, whose places are those of the job, if it is known; else it is noted.
const Reply* ask(const ReadUnits& read, const ScannedElsewhere& input, Request request) {
  request.host = input.host;
  request.path = input.path;
  request.stamp = input.stamp;
  shift(request.from, input, -1);
  const auto known = read.answers.find(request);
  if (known != read.answers.end()) return &known->second;
  read.asked->insert(std::move(request));
  return nullptr;
}

/// The same of lines anywhere.
std::map<SourceRef, Reply> find_lines(const ReadUnits& read, const std::vector<SourceRef>& places) {
  std::vector<SourceRef> here;
  std::map<SourceRef, Reply> lines;
  for (const SourceRef& where : places) {
    const ScannedElsewhere* const input = elsewhere(read, where);
    if (input == nullptr) {
      here.push_back(where);
    } else if (const Reply* line = ask(read, *input, {.from = where})) {
      if (line->is_found) lines[where] = *line;
    }
  }
  lines.merge(read_lines(read, here));
  return lines;
}

std::vector<PlacedCall> find_calls(const ReadUnits& read, Request request) {
  const ScannedElsewhere* const input = elsewhere(read, request.from);
  if (input == nullptr) return read_calls(read, request);
  const Reply* const known = ask(read, *input, std::move(request));
  if (known == nullptr) return {};
  std::vector<PlacedCall> calls = known->calls;
  for (PlacedCall& call : calls) shift(call.where, *input, 1);
  return calls;
}

std::optional<SourceRef> find_message_anywhere(const ReadUnits& read, Request request) {
  const ScannedElsewhere* const input = elsewhere(read, request.from);
  if (input == nullptr) return find_message(read, request);
  const Reply* const known = ask(read, *input, std::move(request));
  if (known == nullptr || !known->is_found) return std::nullopt;
  SourceRef where = known->where;
  shift(where, *input, 1);
  return where;
}

/// The line of one end of messages that differ in size.
std::optional<SourceRef> end_of_message(const Job& job, const ReadUnits& read,
                                        const MessageConflict& conflict, int member,
                                        const std::optional<CallSignature>& wanted) {
  const CommRank& rank = job.communicators[conflict.communicator].ranks[member];
  const CollectiveCalls* calls = calls_of(job, rank);
  if (!wanted || calls == nullptr) return std::nullopt;
  return find_message_anywhere(read, {.from = calls->first,
                                      .asked = Asked::Message,
                                      .owner = owner_of(job, rank),
                                      .wanted = *wanted,
                                      .index = conflict.index});
}

}  // namespace

CallReader call_reader(const Job& job, const ReadUnits& read) {
  return [&job, &read](const CommRank& rank, SourceRef from, uint64_t most) {
    return find_calls(
        read, {.from = from, .asked = Asked::Calls, .owner = owner_of(job, rank), .most = most});
  };
}

TextsOfLines texts_of_lines(const ReadUnits& read) {
  return [&read](const std::vector<SourceRef>& places) {
    std::map<SourceRef, std::string> texts;
    for (auto& [where, line] : find_lines(read, places)) texts.emplace(where, line.text);
    return texts;
  };
}

std::vector<TimedLine> read_stamps(const ReadUnits& read, const std::vector<SourceRef>& lines) {
  std::vector<TimedLine> stamps;
  for (const auto& [where, line] : find_lines(read, lines)) {
    if (line.nanoseconds) stamps.push_back({where, *line.nanoseconds});
  }
  return stamps;
}

void fill_lines(const ReadUnits& read, std::span<Evidence* const> lines) {
  std::set<SourceRef> places;
  for (const Evidence* line : lines) {
    if (line->text.empty() && line->where.line != 0) places.insert(line->where);
  }
  const auto texts = find_lines(read, {places.begin(), places.end()});
  for (Evidence* line : lines) {
    const auto text = texts.find(line->where);
    if (line->text.empty() && text != texts.end()) line->text = text->second.text;
  }
}

void show_messages(const Job& job, const ReadUnits& read, std::vector<Finding>& findings) {
  constexpr size_t kMostShown = 4;
  const auto finding = std::ranges::find(findings, kMessageSizesRule, &Finding::id);
  if (finding == findings.end()) return;
  std::vector<Evidence> lines;
  for (const MessageConflict& conflict : message_conflicts(job)) {
    if (lines.size() >= 2 * kMostShown) break;
    for (const auto& [member, wanted] : {std::pair(conflict.sender, conflict.sent),
                                         std::pair(conflict.receiver, conflict.received)}) {
      const auto where = end_of_message(job, read, conflict, member, wanted);
      if (where) lines.push_back({*where, {}});
    }
  }
  if (!lines.empty()) finding->evidence = std::move(lines);
}

void fill_evidence(const ReadUnits& read, std::vector<Finding>& findings) {
  std::vector<Evidence*> lines;
  for (Finding& finding : findings) {
    for (Evidence& evidence : finding.evidence) lines.push_back(&evidence);
  }
  fill_lines(read, lines);
}

void quote_measured(const ReadUnits& read, Job& job) {
  // Most jobs measure nothing, and none of them is to pay for it.
  if (measurements(job).empty()) return;
  std::vector<Evidence> lines;
  for (const PerfVerdict& verdict : perf_verdicts(job)) {
    std::ranges::copy_if(verdict.evidence, std::back_inserter(lines),
                         [](const Evidence& line) { return line.text.empty(); });
  }
  std::vector<Evidence*> places;
  for (Evidence& line : lines) places.push_back(&line);
  fill_lines(read, places);
  for (Evidence& line : lines) job.quoted.try_emplace(line.where, std::move(line.text));
}

std::vector<StepLine> read_step_lines(const Job& job, const ReadUnits& read) {
  constexpr size_t kMost = 2000;
  std::vector<StepLine> lines;
  const auto most = std::ranges::max_element(
      job.clocks, {}, [](const InputClock& clock) { return clock.markers.size(); });
  if (most == job.clocks.end() || most->markers.size() < 2) return lines;
  const MarkerFinder finder;
  const uint16_t wording = most->markers.back().wording;  // Of the training, not of what precedes.
  for (const JobUnit& unit : job.units) {
    if (unit.input != most->input || lines.size() >= kMost) continue;
    const SourceRef begin{unit.number, 1};
    read_again(read, {&begin, 1}, [&](const Line& record, const Event&) {
      Marker marker;
      if (!finder.find(record.text, marker) || marker.wording != wording) return true;
      lines.push_back({marker.step,
                       {{unit.number, record.number},
                        std::string(record.text.substr(0, Record::kMaxTextBytes))}});
      return lines.size() < kMost;
    });
  }
  return lines;
}

Replies answer_requests(std::span<const Request> requests, const std::string& path,
                        uint64_t unit_bytes) {
  // Numbered from 1, there is no unit and no input 0.
  ReadUnits read{.inputs = {"", path}, .units = units_of_scan(path, unit_bytes)};
  read.units.insert(read.units.begin(), Unit{});
  std::set<SourceRef> places;
  Replies answers;
  for (const Request& request : requests) {
    Reply& answer = answers[request];
    if (request.asked == Asked::Line) places.insert(request.from);
    if (request.asked == Asked::Calls) answer.calls = read_calls(read, request);
    if (request.asked != Asked::Message) continue;
    const auto found = find_message(read, request);
    answer.is_found = found.has_value();
    if (found) answer.where = *found;
  }
  const auto lines = read_lines(read, {places.begin(), places.end()});
  for (auto& [request, answer] : answers) {
    if (request.asked != Asked::Line) continue;
    const auto line = lines.find(request.from);
    if (line != lines.end()) answer = line->second;
  }
  return answers;
}

}  // namespace ncclog

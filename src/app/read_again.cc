#include "app/read_again.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "diagnose/message_sizes.h"
#include "input/input_walk.h"
#include "log/event_reader.h"
#include "model/call_coverage.h"
#include "model/read_call.h"

namespace ncclog {
namespace {

/// Takes a record; false: that was enough.
using UseRecord = std::function<bool(const Line& record, const Event& event)>;

bool can_be_read_again(const std::string& path) { return path != "-"; }

/// Whether the lines from this one on are understood as they were when all of them were read, as
/// far as records from line `first` on are concerned: a line that may start a unit belongs to no
/// record before it.
bool is_good_start(const Line& line, uint64_t first) {
  constexpr uint64_t kLongestRecord = 64;
  if (line.number >= first) return true;
  return line.number + kLongestRecord >= first && may_start_unit(line.text);
}

/// The records of one readable thing, those from line `first` on at least, up to where `use` has
/// enough. What stands before is only unpacked, not understood.
void read_records(UnitReader& input, uint64_t first, const UseRecord& use) {
  bool wants_more = true;
  EventReader events([&](const Line& record, const Event& event, int) {
    wants_more = wants_more && use(record, event);
  });
  bool is_started = false;
  for (Line line; wants_more && input.next(line);) {
    is_started = is_started || is_good_start(line, first);
    if (is_started) events.add(line);
  }
  events.finish();
}

/// Gives the records of the unit or member that `from` is in to `use`, those from there on at
/// least; nothing if it is not there.
void read_again(std::span<const std::string> inputs, std::span<const Unit> units, SourceRef from,
                const UseRecord& use) {
  const uint64_t index = from.unit / kNumbersPerUnit;
  if (index >= units.size()) return;
  const Unit& unit = units[index];
  if (!can_be_read_again(inputs[unit.input])) return;
  InputWalk walk(unit, inputs[unit.input]);
  while (UnitReader* input = walk.next()) {
    if (walk.current().number != from.unit) continue;
    read_records(*input, from.line, use);
    return;
  }
}

/// Which calls belong to a segment of a log.
struct Caller {
  std::string host;
  int64_t pid = -1;
  uint64_t comm = 0;
  bool by_traces = false;

  bool made(const Event& event, const ReadCall& call) const {
    return event.header.pid == pid && event.header.host == host && call.comm == comm &&
           call.is_trace == by_traces;
  }
};

Caller caller_of(const Job& job, const SequenceName& name) {
  const SpeakerLog& log = job.logs[static_cast<size_t>(name.log)];
  const CommSegment& segment = log.comms.all[static_cast<size_t>(name.segment)];
  return {log.speaker.host, log.speaker.pid, segment.comm, &calls_of(segment) == &segment.traces};
}

/// The units behind `number` in the same input, itself first. A member of an archive is one unit.
std::vector<uint64_t> units_from(std::span<const Unit> units, uint64_t number) {
  std::vector<uint64_t> numbers = {number};
  const uint64_t index = number / kNumbersPerUnit;
  if (number % kNumbersPerUnit != 0 || index >= units.size()) return numbers;
  for (uint64_t next = index + 1; next < units.size(); ++next) {
    if (units[next].input != units[index].input) break;
    numbers.push_back(next * kNumbersPerUnit);
  }
  return numbers;
}

std::vector<PlacedCall> read_calls(std::span<const std::string> inputs, std::span<const Unit> units,
                                   const Caller& caller, SourceRef from, uint64_t most) {
  std::vector<PlacedCall> calls;
  for (const uint64_t number : units_from(units, from.unit)) {
    if (calls.size() >= most) break;
    const SourceRef start = number == from.unit ? from : SourceRef{number, 1};
    read_again(inputs, units, start, [&](const Line& record, const Event& event) {
      const SourceRef where{number, record.number};
      const auto call = read_call(event);
      const bool is_meant = call && from <= where && caller.made(event, *call);
      if (is_meant && !is_point_to_point(call->call.op)) calls.push_back({where, call->call});
      return calls.size() < most;
    });
  }
  return calls;
}

/// One end of a message that has another size at its other end.
struct WantedMessage {
  Caller caller;
  SourceRef from;  ///< The caller's first call.
  CallSignature call;
  std::optional<uint64_t> index;  ///< Among those with this peer; nullopt: the first of this size.
};

std::optional<SourceRef> find_message(std::span<const std::string> inputs,
                                      std::span<const Unit> units, const WantedMessage& wanted) {
  std::optional<SourceRef> found;
  uint64_t passed = 0;
  for (const uint64_t number : units_from(units, wanted.from.unit)) {
    if (found) break;
    const SourceRef start = number == wanted.from.unit ? wanted.from : SourceRef{number, 1};
    read_again(inputs, units, start, [&](const Line& record, const Event& event) {
      const SourceRef where{number, record.number};
      const auto call = read_call(event);
      if (!call || where < wanted.from || !wanted.caller.made(event, *call)) return true;
      if (call->call.op != wanted.call.op || call->call.root != wanted.call.root) return true;
      const bool is_it = wanted.index ? passed == *wanted.index : call->call == wanted.call;
      ++passed;
      if (is_it) found = where;
      return !is_it;
    });
  }
  return found;
}

std::optional<WantedMessage> wanted_message(const Job& job, const MessageConflict& conflict,
                                            int member, const std::optional<CallSignature>& call) {
  const Communicator& comm = job.communicators[static_cast<size_t>(conflict.communicator)];
  const CommRank& rank = comm.ranks[static_cast<size_t>(member)];
  const CollectiveCalls* calls = calls_of(job, rank);
  if (!call || calls == nullptr) return std::nullopt;
  return WantedMessage{caller_of(job, {rank.log, rank.segment}), calls->first, *call,
                       conflict.index};
}

using Texts = std::map<SourceRef, std::string>;

/// Adds the texts of the wanted lines of one unit: those of `texts` from `first` on.
void read_texts(std::span<const std::string> inputs, std::span<const Unit> units, Texts& texts,
                Texts::iterator first) {
  const uint64_t number = first->first.unit;
  const auto end = texts.lower_bound({number + 1, 0});
  const uint64_t last = std::prev(end)->first.line;
  read_again(inputs, units, first->first, [&](const Line& record, const Event&) {
    const auto wanted = texts.find({number, record.number});
    if (wanted != texts.end() && wanted->second.empty()) {
      wanted->second = record.text.substr(0, Record::kMaxTextBytes);
    }
    // Records may come a little late, where lines were joined.
    constexpr uint64_t kSlack = 64;
    return record.number < last + kSlack;
  });
}

}  // namespace

CallReader call_reader(const Job& job, std::span<const std::string> inputs,
                       std::span<const Unit> units) {
  return [&job, inputs, units](const SequenceName& name, SourceRef from, uint64_t most) {
    return read_calls(inputs, units, caller_of(job, name), from, most);
  };
}

void fill_lines(std::span<const std::string> inputs, std::span<const Unit> units,
                std::span<Evidence* const> lines) {
  Texts texts;
  for (const Evidence* line : lines) {
    if (line->text.empty() && line->where.line != 0) texts[line->where];
  }
  for (auto at = texts.begin(); at != texts.end();) {
    read_texts(inputs, units, texts, at);
    at = texts.lower_bound({at->first.unit + 1, 0});
  }
  for (Evidence* line : lines) {
    const auto text = texts.find(line->where);
    if (line->text.empty() && text != texts.end()) line->text = text->second;
  }
}

void show_messages(const Job& job, std::span<const std::string> inputs, std::span<const Unit> units,
                   std::vector<Finding>& findings) {
  constexpr size_t kMostShown = 4;
  const auto finding = std::find_if(findings.begin(), findings.end(),
                                    [](const Finding& one) { return one.id == kMessageSizesRule; });
  if (finding == findings.end()) return;
  std::vector<Evidence> lines;
  for (const MessageConflict& conflict : message_conflicts(job)) {
    if (lines.size() >= 2 * kMostShown) break;
    for (const auto& wanted :
         {wanted_message(job, conflict, conflict.sender, conflict.sent),
          wanted_message(job, conflict, conflict.receiver, conflict.received)}) {
      const auto where = wanted ? find_message(inputs, units, *wanted) : std::nullopt;
      if (where) lines.push_back({*where, {}});
    }
  }
  if (!lines.empty()) finding->evidence = std::move(lines);
}

void fill_evidence(std::span<const std::string> inputs, std::span<const Unit> units,
                   std::vector<Finding>& findings) {
  std::vector<Evidence*> lines;
  for (Finding& finding : findings) {
    for (Evidence& evidence : finding.evidence) lines.push_back(&evidence);
  }
  fill_lines(inputs, units, lines);
}

}  // namespace ncclog

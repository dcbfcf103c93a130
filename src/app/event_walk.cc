#include "app/event_walk.h"

#include <limits>
#include <vector>

#include "app/read_document.h"
#include "app/write_event.h"
#include "input/input_walk.h"
#include "input/units.h"
#include "log/event_reader.h"

namespace ncclog {
namespace {

/// Hands on the entries of a dump; other documents have no events. False once nobody wants more.
bool walk_document(UnitReader& input, const WalkedInput& name, const EventTaker& taker) {
  Shard shard = read_document(input, name);
  for (const FlightRecorderDump& dump : shard.take_flight_recorders()) {
    for (size_t i = 0; i < dump.entries.size(); ++i) {
      if (!taker.take_entry(name.path, dump, i)) return false;
    }
  }
  return true;
}

/// Hands on the events of one input. False once nobody wants more.
bool walk_input(UnitReader& input, const WalkedInput& name, const EventTaker& taker) {
  if (is_document(input.content())) return walk_document(input, name, taker);
  bool wanted = true;
  EventReader events([&](const Line& record, const Event& event, int) {
    if (!wanted || !is_exported(event)) return;
    wanted = taker.take_event({name.path, record.number, record.text, event});
  });
  for (Line line; wanted && input.next(line);) events.add(line);
  events.finish();
  return wanted;
}

/// Says what is odd about what was read.
ExitStatus comment(const std::vector<WalkedInput>& walked, Console& console) {
  ExitStatus status = ExitStatus::Fine;
  for (const WalkedInput& input : walked) {
    if (!input.result.note.empty()) console.err += error_text(input.path, input.result.note, "");
    if (is_partial(input.result.status)) status = ExitStatus::Partial;
  }
  return status;
}

}  // namespace

LineTime time_of(const WalkedEvent& walked) {
  return time_before(walked.text, walked.event.header.message);
}

ExitStatus walk_events(std::span<const std::string> inputs, const EventTaker& taker,
                       Console& console) {
  // Uncut inputs number their lines as their files do.
  const auto units = cut_units(inputs, {.unit_bytes = std::numeric_limits<uint64_t>::max()});
  ExitStatus status = ExitStatus::Fine;
  bool wanted = true;
  for (size_t u = 0; wanted && u < units.size(); ++u) {
    InputWalk walk(units[u], inputs[units[u].input]);
    while (UnitReader* input = wanted ? walk.next() : nullptr) {
      wanted = walk_input(*input, walk.current(), taker);
    }
    if (comment(walk.take(), console) == ExitStatus::Partial) status = ExitStatus::Partial;
  }
  return status;
}

}  // namespace ncclog

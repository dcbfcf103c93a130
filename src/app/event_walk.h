// Every event of the logs and every entry of the dumps, in input order, for whoever exports them.
//
// Each is handed on while it is read, so memory does not depend on how long the logs are.

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "app/console.h"
#include "app/exit_status.h"
#include "log/event.h"
#include "log/line_time.h"
#include "model/flight_recorder.h"

namespace ncclog {

/// A line that is understood, and where it stands. All views live during the call only.
struct WalkedEvent {
  std::string_view file;
  uint64_t line = 0;      ///< As its file numbers it.
  std::string_view text;  ///< The line without terminal codes; `event` views it.
  const Event& event;
};

/// The time in front of the line's message; unknown if it carries none.
LineTime time_of(const WalkedEvent& walked);

/// Who gets what is walked over; false from either ends the walk.
struct EventTaker {
  std::function<bool(const WalkedEvent& walked)> take_event;
  std::function<bool(std::string_view file, const FlightRecorderDump& dump, size_t index)>
      take_entry;
};

/// Reads `inputs`, as wanted_inputs gives them, and hands on what is_exported() holds of. What is
/// odd about an input is said on `console.err`.
ExitStatus walk_events(std::span<const std::string> inputs, const EventTaker& taker,
                       Console& console);

}  // namespace ncclog

// A line, understood: its header and its message.
//
//   "\x1b[36mnode07:41:42 [3] NCCL INFO Using network Socket"  →  network_selected{network: Socket}
//
// What several lines say together is read by log/event_reader.h.

#pragma once

#include <string_view>

#include "log/line/header.h"
#include "log/line/line_time.h"
#include "log/wording/wording_table.h"

namespace ncclog {

/// What became of a line. Every line has exactly one fate; see base/loss_table.h.
enum class LineFate { Recognised, Unrecognised, Foreign, Unreadable };

/// A line, understood. Views point into the line it was parsed from.
struct Event {
  LineFate fate = LineFate::Foreign;
  Header header;
  Message message;  ///< kind is nullptr unless the fate is Recognised.
  /// Begins or ends a traceback: means something else beside other lines (log/event_reader.h).
  bool is_of_traceback = false;
};

/// Understands one line on its own; its ANSI codes are already removed. Never throws, whatever the
/// bytes.
Event parse_event(std::string_view line, const WordingTable& wordings);

/// What a WARN means: of a line at that level, or one that repeats a WARN without its header, as
/// behind "Last error:". nullptr for other lines and for WARNs that are not known. Valid for the
/// whole program.
const Warning* warning_of(const Event& event);

/// The message over a copy of its text: `to` holds what `from`, which `message` views, holds.
Message moved(const Message& message, std::string_view from, std::string_view to);

/// The event over a copy of its line, likewise.
Event moved(const Event& event, std::string_view from, std::string_view to);

/// The time in front of the message of a whole line of the log; unknown if it has no message. The
/// result views `line`.
LineTime time_of_line(std::string_view line);

/// A whole NCCL INFO header. Only INFO: a WARN may be the end of a header that was wrapped behind its
/// file and line.
inline bool is_whole_info(const Header& header) {
  return header.level == Level::Info && !header.host.empty();
}

/// True if a stretch of a log may be read from this line on without having seen the lines before:
/// it carries a whole NCCL INFO header, so nothing earlier can continue into it.
bool may_start_unit(std::string_view line);

}  // namespace ncclog

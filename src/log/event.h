// One line understood on its own: header and message. No state between lines.

#pragma once

#include <string_view>

#include "log/header.h"
#include "log/known_messages.h"

namespace ncclog {

/// What became of a line. Every line has exactly one fate; see base/loss_table.h.
enum class LineFate { Recognised, Unrecognised, Foreign, Unreadable };

/// A line, understood. Views point into the line it was parsed from.
struct Event {
  LineFate fate = LineFate::Foreign;
  Header header;
  Message message;  ///< kind is nullptr unless the fate is Recognised.
};

/// Understands one line whose ANSI codes are already removed. Never throws, whatever the bytes.
Event parse_event(std::string_view line, const WordingTable& wordings);

/// What a WARN means: of a line at that level, or one that repeats a WARN without its header, as
/// behind "Last error:". nullptr for other lines and for WARNs that are not known. Valid for the
/// whole program.
const Warning* warning_of(const Event& event);

/// The event over a copy of its line: `to` holds what `from`, which `event` views, holds.
Event moved(const Event& event, std::string_view from, std::string_view to);

/// True if a stretch of a log may be read from this line on without having seen the lines before:
/// it carries a whole NCCL INFO header, so nothing earlier can continue into it.
bool may_start_unit(std::string_view line);

}  // namespace ncclog

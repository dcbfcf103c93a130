// An event as one line of text, so that a test row is a line and what it should be understood as.
//
//   [rank3]: torch.distributed.DistStoreError: Socket Timeout
//   → rank 3 store_timeout type=torch.distributed.DistStoreError

#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>

#include "log/event.h"
#include "log/known_messages.h"
#include "log/line/scanner.h"

namespace ncclog::testing {

/// The rank if the line states one, the kind, and the fields that the wording filled with text. An
/// unrecognised line is "-" and its message.
inline std::string event_text(std::string_view line) {
  std::string buffer;
  const Event event = parse_event(strip_ansi(line, buffer), all_wordings());
  const Message& message = event.message;
  std::string text;
  if (event.header.prefix.rank >= 0)
    text = "rank " + std::to_string(event.header.prefix.rank) + " ";
  if (message.kind == nullptr) return text + "- " + std::string(event.header.message);
  text += message.kind->name;
  for (size_t i = 0; i < message.kind->fields.size(); ++i) {
    if (message.fields[i].empty()) continue;
    text += " " + std::string(message.kind->fields[i].name) + "=" + std::string(message.fields[i]);
  }
  return text;
}

struct EventRow {
  std::string_view line;
  std::string_view event;
};

inline void expect_events(std::span<const EventRow> rows) {
  for (const EventRow& row : rows) EXPECT_EQ(event_text(row.line), row.event) << row.line;
}

inline void expect_every_cut_survives(std::span<const EventRow> rows) {
  for (const EventRow& row : rows) {
    for (size_t size = 0; size <= row.line.size(); ++size) {
      const std::string cut(row.line.substr(0, size));
      EXPECT_LE(parse_event(cut, all_wordings()).header.message.size(), cut.size());
    }
  }
}

}  // namespace ncclog::testing

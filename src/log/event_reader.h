// From lines to events: the one path on which every line of every log is understood, whether a job
// is built from it or it is only exported.
//
//   "\x1b[36mnode07:41:42 [3] NCCL INFO Using network Socket"  →  network_selected{network: Socket}
//
// Order is kept. Records that were broken over lines arrive once, with the place of their first
// line.

#pragma once

#include <functional>
#include <string>

#include "base/line.h"
#include "log/event.h"
#include "log/record_joiner.h"

namespace ncclog {

/// Takes the lines of one stretch in order. Not copyable or movable: the joiner calls back into it.
class EventReader {
 public:
  /// Receives each record, its text without ANSI codes, what it says, and how many input lines it
  /// consists of. The views in both live during the call only.
  using Receiver = std::function<void(const Line& record, const Event& event, int lines)>;

  explicit EventReader(Receiver receive);
  EventReader(const EventReader&) = delete;
  EventReader& operator=(const EventReader&) = delete;

  void add(const Line& line);

  /// Hands on what is still held back at the end of the stretch.
  void finish();

 private:
  Receiver receive_;
  const WordingTable& wordings_;
  std::string plain_;  ///< The line without its ANSI codes.
  RecordJoiner joiner_;
};

}  // namespace ncclog

// NCCL lines whose message a terminal or a page broke in the middle.
//
//   node07:41:42 [3] NCCL INFO comm 0x5e0 rank 3 nranks 8 cudaDev 3 nvmlDev 3
//   busId a1000 commId 0x315c - Init COMPLETE
//
// The header is whole, so nothing but the message itself tells that it goes on: no wording fits the
// first line alone, one fits the lines together. Anything less certain stays as it was printed.
//
// Invariant: a line that may start a unit (log/event.h) is never joined to what stands before it.

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/line.h"
#include "log/event.h"

namespace ncclog {

/// Holds an NCCL line that no wording fits until the next lines show whether it goes on.
class BrokenMessage {
 public:
  /// Receives each record and what it says; both live during the call only.
  using Receiver = std::function<void(const Line& record, const Event& event, int lines)>;

  BrokenMessage(const WordingTable& wordings, Receiver receive)
      : wordings_(wordings), receive_(std::move(receive)) {}

  /// Understands a line and hands it on, at once unless it may be the beginning of a broken one.
  void add(const Line& line, int lines);

  /// True if a line waits for the lines that may go on with it.
  bool is_holding() const { return held_ > 0; }

  /// Hands on what is still held back at the end of the stretch.
  void finish();

 private:
  struct Piece {
    std::string text;
    Line place;  ///< `text` is unused.
    int lines = 0;
  };

  bool join(const Line& line, int lines);
  bool hand_on_joined(std::string_view separator);
  void hold(const Line& line, int lines);

  const WordingTable& wordings_;
  Receiver receive_;
  std::vector<Piece> pieces_;  ///< Keeps its strings: the first held_ are in use.
  size_t held_ = 0;
  std::string joined_;
};

}  // namespace ncclog

// Lines of other programs of which others were read that differ in digits only.
//
//    iteration       10/     500 | consumed samples:         1280 | lm loss: 4.665381E+00 |
//    iteration       11/     500 | consumed samples:         1408 | lm loss: 3.469810E+00 |
//
// A training prints such lines at every step. What else but numbers they say is known from the one
// that was read, and where in them the step stands. A shape is learnt when it comes for the second
// time, and only where no reader of such lines tells one digit from another.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "log/event.h"
#include "log/iteration_marker.h"
#include "model/process_log.h"

namespace ncclog {

/// True if no line that differs from `text` in hexadecimal digits only can hold `literal`: a part
/// of it that is no such number stands nowhere in `text`.
bool is_out_of_question(std::string_view literal, std::string_view text);

/// True if a pattern might match a line that differs from `text` in its numbers.
bool may_match(const LineMatcher& matcher, std::string_view text);

/// A shape, and the line of it that was found last.
struct KnownShape {
  std::string_view line;  ///< As it stands in the bytes that were given.
  std::string shape;      ///< With a "1" for every digit.
  bool is_alike = false;  ///< Its lines differ in nothing else; if not, the rest is empty.
  std::string text;
  Event event;  ///< Views `text`.
  bool has_marker = false;
  MarkerText marker;        ///< Views `text`.
  bool is_dated = false;    ///< It may hold a time.
  bool names_step = false;  ///< As Pulse asks of lines without a time.
  bool has_prefix = false;  ///< Or another line of the shape may have one.
};

/// Learns shapes and finds lines of them. Of those that came lately only: memory is bounded.
class KnownShapes {
 public:
  static constexpr size_t kMaxBytes = 1024;  ///< Of a line.

  /// `matcher` must outlive it: lines that its patterns may match are not learnt.
  KnownShapes(const LineMatcher& matcher, const MarkerFinder& finder)
      : matcher_(matcher), finder_(finder) {}

  /// The line, or the piece of one that a "\r" ends, with which `bytes` begin, valid until the next
  /// call; nullptr if its shape is not known or it does not end in `bytes`.
  const KnownShape* find(std::string_view bytes);

  /// Learns the shape of `text`, a whole line that says `event`, if its lines are alike.
  void learn(std::string_view text, const Event& event);

 private:
  uint64_t read_shape(std::string_view text);
  const KnownShape* find_text(std::string_view text);

  const LineMatcher& matcher_;
  const MarkerFinder finder_;
  std::string shape_;           ///< Of the last line that was looked for.
  std::vector<uint64_t> seen_;  ///< Hashes of shapes that came once.
  /// By hash; another one of the same place takes its place.
  std::vector<std::unique_ptr<KnownShape>> shapes_;
};

}  // namespace ncclog

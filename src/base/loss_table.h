// What of the input was lost or misread, counted, and how each input ended: the tool says what it
// did not see.
//
//   7 lines torn: records of two processes in one line; nccl.a07.log.gz: cut
//
// Law: lines = recognised + unrecognised + foreign + unreadable. Rows name particular ways of loss.
// Adding tables is associative and commutative, so separately read stretches give the same totals.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace ncclog {

/// How much of an input could be read: the reader finds out, the job keeps it, the report says it.
/// Ordered from best to worst: an input read in several stretches is as bad as its worst one.
enum class InputStatus {
  Whole,       ///< All of it.
  Skipped,     ///< Nothing, on purpose: it is not a text log.
  Cut,         ///< What could be had; it ends early, is damaged, or expands past the limit.
  Unreadable,  ///< Nothing: it could not be opened or decoded.
};

/// "whole", "cut": lower case, stable, for reports.
constexpr std::string_view enum_words(InputStatus) { return "whole|skipped|cut|unreadable"; }

/// The ways in which input can be lost or misread. One row of loss_rows.table each, in this order.
enum class Loss {
  LineTorn,          ///< Two records shared a line; the first, cut off by the second, is lost.
  LineLeftOut,       ///< Ray printed a line once for several processes; the others' are unknown.
  LineInDoubt,       ///< A line near torn ones: it may hold another process's words.
  LineCut,           ///< A line was longer than the reader keeps.
  InvalidUtf8,       ///< A line held bytes that are not UTF-8; shown with replacement characters.
  NulBytes,          ///< A line held NUL bytes, as sparse or truncated files do.
  InputCut,          ///< A compressed input ended before its end marker.
  InputUnreadable,   ///< An input could not be opened or decoded at all.
  InputSkipped,      ///< An input is not a log (a binary, an image).
  RecordsDropped,    ///< A process printed more different lines of one kind than are kept.
  ProcessesDropped,  ///< Lines of processes beyond those kept; torn lines can invent names.
  SizeLimit,         ///< A compressed input expanded past the limit and was read up to it.
  ErrorUnknown,      ///< A line of another program reports an error in words that are not known.
  kCount,
};

/// What a row of losses means to a reader of the report: a row of loss_rows.table.
struct LossRow {
  std::string_view name;
  std::string_view severity;  ///< "info", "notice", "data_loss", "error".
  std::string_view meaning;
  std::string_view advice;
};

/// One description per `Loss`, indexed by it.
inline constexpr LossRow kLossRows[] = {
#include "base/loss_rows.inc"
};
static_assert(std::size(kLossRows) == static_cast<size_t>(Loss::kCount));

/// Counts of lines by fate, and of losses by kind.
struct LossTable {
  uint64_t lines = 0;
  uint64_t recognised = 0;    ///< A wording fits the line.
  uint64_t unrecognised = 0;  ///< An NCCL line that no wording fits.
  uint64_t foreign = 0;       ///< Not from NCCL or a framework we know.
  uint64_t unreadable = 0;    ///< Not text: NULs or undecodable bytes made up most of it.
  std::array<uint64_t, static_cast<size_t>(Loss::kCount)> counts{};

  void add(Loss loss, uint64_t n = 1) { counts[static_cast<size_t>(loss)] += n; }
  uint64_t count(Loss loss) const { return counts[static_cast<size_t>(loss)]; }
  LossTable& operator+=(const LossTable& other) {
    lines += other.lines;
    recognised += other.recognised;
    unrecognised += other.unrecognised;
    foreign += other.foreign;
    unreadable += other.unreadable;
    for (size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
    return *this;
  }
  bool operator==(const LossTable&) const = default;
};

}  // namespace ncclog

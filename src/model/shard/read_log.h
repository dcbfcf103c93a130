// From lines to a shard: the one path by which every log is read, from files and from text alike.

#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "base/line.h"
#include "log/event.h"
#include "log/iteration_marker.h"
#include "log/other_programs_filter.h"
#include "model/shard/known_calls.h"
#include "model/shard/shard.h"
#include "model/shard/tear_guard.h"

namespace ncclog {

// One filter of other programs' lines for all readers of a run, made when the first of them has use
// for it: a short log starts without.

/// Any number of threads may use one.
class SharedFilter {
 public:
  /// Lets lines go in which neither `matcher` nor `finder` can find anything. Both must outlive it.
  SharedFilter(const LineMatcher& matcher, const MarkerFinder& finder)
      : matcher_(matcher), finder_(finder) {}

  /// nullptr if any line may matter. Valid as long as this.
  const ForeignFilter* get() const;

 private:
  const LineMatcher& matcher_;
  const MarkerFinder& finder_;
  mutable std::once_flag once_;
  mutable std::optional<ForeignFilter> filter_;
};

/// Whole lines at the beginning of a block.
struct TakenLines {
  size_t bytes = 0;  ///< With their line ends.
  uint64_t lines = 0;
  bool is_ascii = true;
};

/// Takes the lines of one stretch in order and collects what they say. Not copyable or movable: the
/// event reader calls back into it.
class LogReader {
 public:
  /// `matcher` may be empty; it must outlive the reader, as must `filter`, which is made of the
  /// same matcher and finder. Without one all lines of other programs are read.
  LogReader(uint64_t unit, uint64_t input, const LineMatcher& matcher,
            const MarkerFinder& finder = MarkerFinder(), const SharedFilter* filter = nullptr);
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;

  void add(const Line& line);

  /// Takes the lines with which `block` begins, as far as they are like lines that were read
  /// before, or lines of other programs that mean nothing; `number` is that of the first. Those
  /// behind them have to be added. Their bytes must stay until settle().
  TakenLines take_known(std::string_view block, uint64_t number);

  /// To be called before the bytes of lines that were taken go away.
  void settle();

  /// Ends the stretch. The reader is spent afterwards.
  Shard finish();

 private:
  void receive(const Line& record, const Event& event, int lines);
  bool take_calls(std::string_view block, uint64_t number, TakenLines& taken);
  bool take_foreign(std::string_view block, uint64_t number, TakenLines& taken);

  ShardWriter shard_;
  TearGuard guard_;
  KnownCalls calls_;
  std::vector<KnownLine> run_;  ///< Lines about calls, one behind the other, while they are taken.
  std::string_view line_;       ///< The line that is being added.
  bool learns_;                 ///< Nobody looks at every line, whatever it says.
  const LineMatcher& matcher_;
  const SharedFilter* filter_;
  uint64_t foreign_ = 0;     ///< Lines of other programs that were read.
  bool is_foreign_ = false;  ///< The last line that was read is one.
  EventReader events_;
};

}  // namespace ncclog

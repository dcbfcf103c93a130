// Was a further try appended to an output?
//
//   Loading config from base.yaml               the opening: what the program prints when it starts
//   world size 8, precision bf16
//   …
//   torch.distributed.elastic.multiprocessing.errors.ChildFailedError:       this try is over
//   Loading config from base.yaml               the same lines again: the next one begins
//
// Programs that use no NCCL, or do not let it speak, name no process: their tries are told by what
// they print. Lines are compared without their digits, so stamps and pids make no difference.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/line.h"

namespace ncclog {

/// What stands right before a line.
enum class OutputBreak : uint8_t {
  None,
  Failure,  ///< Somebody failed; others may go on, or begin later.
  End,      ///< A launcher or scheduler told the end of all.
};

struct OutputLine {
  SourceRef where;
  uint64_t shape = 0;  ///< Hash of the line without digits, blanks, colours and what is far behind.
  OutputBreak behind = OutputBreak::None;

  bool operator==(const OutputLine&) const = default;
};

/// How an input begins, and what follows failures in it. Add its lines in order; merging neighbours
/// gives what reading both in one go gives.
class OutputStarts {
 public:
  static constexpr size_t kOpening = 32;     ///< Lines kept of the beginning.
  static constexpr size_t kWindow = 24;      ///< Lines behind a failure in which a try begins.
  static constexpr size_t kMost = 4096;      ///< Lines kept behind failures: the first.
  static constexpr uint64_t kInputs = 4096;  ///< Inputs of which any are kept.

  /// False if note() has nothing to do.
  bool is_listening() const { return count_ < kOpening || left_ > 0; }

  /// No line was noted.
  bool is_empty() const { return opening_.empty(); }

  /// A line that is none of NCCL's.
  void note(SourceRef where, std::string_view line);

  /// The line before the next one ended a try, or somebody's part in it.
  void end(OutputBreak how);

  void merge(const OutputStarts& later);

  /// Where the second and further tries begin, as far as lines of the first one's opening come
  /// again. `is_one_voice`: a single process writes, so that its failure is the end of all.
  std::vector<SourceRef> restarts(bool is_one_voice) const;

  bool operator==(const OutputStarts&) const = default;

 private:
  template <typename Io>
  friend void carry(Io& io, OutputStarts& starts);  ///< part/carry_shard.h

  void add_behind(OutputLine line);

  std::vector<OutputLine> opening_;
  std::vector<OutputLine> behind_;
  uint64_t count_ = 0;                     ///< Lines that were noted, up to kOpening.
  uint64_t left_ = 0;                      ///< Lines that still stand close behind a failure.
  OutputBreak break_ = OutputBreak::None;  ///< Before the next line.
};

}  // namespace ncclog

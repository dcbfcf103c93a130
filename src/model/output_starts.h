// Was a further run appended to an output?
//
//   Loading config from base.yaml               the opening: what the program prints when it starts
//   world size 8, precision bf16
//   …
//   torch.distributed.elastic.multiprocessing.errors.ChildFailedError:       this run is over
//   Loading config from base.yaml               the same lines again: the next one begins
//
// Programs that use no NCCL, or do not let it speak, name no process: their runs are told by what
// they print. Lines are compared without their digits, so stamps and pids make no difference. A loop
// prints the same lines again, too, but not the one above it: so the first line has to come again.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/line.h"
#include "model/records.h"

namespace ncclog {

/// What is told right before a line.
enum class OutputBreak : uint8_t {
  None,
  Failure,  ///< A process raised, or was killed; others may go on, or begin later.
  End,      ///< A launcher, a scheduler or the program itself tells the end of all.
};

struct OutputLine {
  SourceRef where;
  uint64_t shape = 0;  ///< Hash of the line without digits, blanks, colours and what is far behind.
  OutputBreak follows = OutputBreak::None;

  bool operator==(const OutputLine&) const = default;
};

/// How an input begins, and what follows breaks in it. Add its lines in order; merging neighbours
/// gives what reading both in one go gives.
class OutputStarts {
 public:
  static constexpr size_t kOpening = 24;  ///< Lines kept of the beginning.
  static constexpr size_t kWindow = 24;   ///< Lines behind a break in which a run begins.
  static constexpr size_t kMost = 4096;   ///< Lines kept behind breaks: the first.
  static constexpr size_t kEndings = 256;

  /// False if note() has nothing to do.
  bool is_listening() const { return opening_.size() < kOpening || left_ > 0; }

  /// No line was noted.
  bool is_empty() const { return opening_.empty(); }

  /// A line that is none of NCCL's.
  void note(SourceRef where, std::string_view line);

  /// The line that was noted last is such a break.
  void end(OutputBreak how);

  /// It says that all is done.
  void finish(SourceRef where) {
    finished_ = where;
    end(OutputBreak::End);
  }

  /// It says how a run, or a process, ended.
  void keep_ending(const OwnedRecord& line);

  void merge(const OutputStarts& later);

  /// Lines that may begin further runs, in ascending order: the first line comes again behind a break,
  /// and with it two more of the opening. `is_one_voice`: a single process writes, so that its
  /// failure is the end of all.
  std::vector<SourceRef> restarts(bool is_one_voice) const;

  /// The endings that were kept, in their order, the first kEndings.
  const std::vector<OwnedRecord>& endings() const { return endings_; }

  /// The last line that says that all is done; line 0: none does.
  SourceRef finished() const { return finished_; }

  /// Forgets all but the endings of which `is_own` is true.
  template <typename IsOwn>
  void keep_endings(IsOwn is_own) {
    opening_.clear();
    after_breaks_.clear();
    std::erase_if(endings_, [&](const OwnedRecord& ending) { return !is_own(ending.where); });
  }

 private:
  template <typename Io>
  friend void carry(Io& io, OutputStarts& starts);  ///< part/carry_shard.h

  void add_after_break(OutputLine line);

  std::vector<OutputLine> opening_;
  std::vector<OutputLine> after_breaks_;
  std::vector<OwnedRecord> endings_;
  SourceRef finished_;
  uint64_t left_ = 0;                      ///< Lines that still stand close behind a break.
  OutputBreak break_ = OutputBreak::None;  ///< Before the next line.
};

}  // namespace ncclog

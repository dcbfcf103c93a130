// The filter for lines of other programs: which of them can mean nothing to anybody?
//
//   step=283 tokens_per_second=123490 mfu=0.401                                  nothing
//   2026-11-20 00:00:00,575 - data.loader - INFO - worker 3 fetched shard 533    nothing
//   RuntimeError: NCCL communicator was aborted on rank 3                        matters
//   [default3]:loading the tokenizer                                             matters: who says
//   it
//
// Most of a training log is lines of the first two kinds. What a line must hold to matter is
// gathered from the tables that give it a meaning: wordings, prefixes, markers of iterations, line
// patterns of rules. So whatever is added to one of those is looked for here too.
//
// Invariant: a line that is let go, read on its own, is of another program, without message and
// level, spoken by nobody whom a prefix names, no part of a record that spans lines, no sign of torn
// records, and holds nothing of `wanted`. It may have a time and a logger's name in front.

#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/line.h"
#include "log/iteration_marker.h"
#include "log/literal_set.h"
#include "log/wording/wording_table.h"

namespace ncclog {

/// Whether a text begins with one of many others:
/// {"rank ", "Segmentation fault", "#"}     "rank 3 died" yes, "ranking" no
/// Answered from the first eight bytes, by hash: a yes may be wrong now and then, a no never is.
/// Filled once, then only read: any number of threads may ask.
class Beginnings {
 public:
  /// `text` must not be empty.
  void add(std::string_view text);

  /// False if `text` begins with none of those that were added.
  bool may_begin(std::string_view text) const;

 private:
  static constexpr size_t kMost = 8;  ///< Bytes that are looked at.

  static size_t hash_of(uint64_t bytes, size_t length);

  std::array<uint8_t, 256> lengths_{};  ///< By first byte: bit n - 1 says that one has n bytes.
  std::bitset<1 << 18> hashes_;
};

/// Built once, then only read: any number of threads may use one filter.
class ForeignFilter {
 public:
  static constexpr size_t kMostLines = 64;  ///< That are searched at a time.

  /// `wanted` are texts one of which stands in every line that matters to somebody else; an empty
  /// one says that any line may. Lines that hold a text of `finder`'s markers matter, too.
  explicit ForeignFilter(std::span<const std::string> wanted, const MarkerFinder& finder);

  /// The lines with which `block` begins that cannot matter, at most `most` and kMostLines. `block`
  /// begins where a line does. Only lines that end with "\n" inside the block count, and none that
  /// holds "\r" or is very long; it is not known whether they are ASCII. All are searched at once,
  /// so `most` should be small where later lines may matter.
  LineRun boring_lines(std::string_view block, size_t most) const;

 private:
  /// Looks closer at a line that holds a needle: does the wording fit it? Without one and without
  /// a function the line matters.
  struct Question {
    bool (*asks)(std::string_view line) = nullptr;
    const Wording* wording = nullptr;

    bool says_yes(std::string_view line, std::string_view message) const;
  };
  using Questions = std::vector<Question>;
  /// A needle, and where it ends in a text.
  struct Found {
    size_t number;
    size_t end;
  };

  static bool is_certain(const Questions& questions);
  void add(std::string_view needle, Question question);
  void add_wording(const Wording& wording, std::span<const std::string_view> certain);
  void drop_longer_needles();
  bool can_matter(std::string_view line, std::string_view text,
                  std::span<const Found> needles) const;
  bool matters_by_start(std::string_view line, std::string_view& message) const;

  bool wants_all_ = false;
  std::map<std::string, Questions, std::less<>> needles_;
  std::vector<Questions> questions_;  ///< By number of the needle.
  std::optional<LiteralSet> literals_;
  Beginnings beginnings_;         ///< Of the messages of known wordings,
  Beginnings second_beginnings_;  ///< and of what stands in them behind the first blank.
};

}  // namespace ncclog

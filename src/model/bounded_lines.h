// The lines of a table that a process prints, kept to be taken apart when the job is built.
//
//   === System : maxBw 48.0 totalBw 240.0 ===
//   CPU/0-0 (1/1/2)
//   + PCI[48.0] - GPU/0-a1000 (3)
//
// All ranks of a host print the same machine for each communicator, so tables that hold the same
// may share their bytes. Invariant: the bytes are a row of lines, each with the blanks in front of
// it and its length; whoever adds to bytes that others hold too copies them first.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ncclog {

/// A line of a table. Its text is valid as long as the table is not changed.
struct IndentedLine {
  int indent = 0;  ///< Blanks in front of the text.
  std::string_view text;

  bool operator==(const IndentedLine&) const = default;
};

/// The first lines of a table, as many as fit into kMaxBytes. Tables that share their bytes are to
/// be changed by one thread at a time.
class BoundedLines {
 public:
  static constexpr size_t kMaxBytes = 128 * 1024;

  /// True if a line was added, kept or not.
  bool any() const { return cut_ || has_lines(); }

  /// True if a line is kept.
  bool has_lines() const { return bytes_ != nullptr; }

  /// True if there were more lines than are kept.
  bool cut() const { return cut_; }

  /// The lines that are kept, in order.
  std::vector<IndentedLine> lines() const;

  void add(int indent, std::string_view text);

  /// Appends what a later stretch holds.
  void merge(BoundedLines&& later);

  void drop();  ///< Forgets the lines, but not that there were some.

  /// Holds the lines by the bytes of `other` if they are the same; true if so.
  bool share(const BoundedLines& other);

  void fit();  ///< Gives back what its own bytes take beyond the lines.

  bool operator==(const BoundedLines& other) const;

 private:
  bool has_same_lines(const BoundedLines& other) const;

  std::shared_ptr<std::string> bytes_;  ///< nullptr: no lines.
  bool cut_ = false;
};

}  // namespace ncclog

// What do hostile bytes do to a front door? One function answers for each of them.
//
//   line_reader   fuzz_line_reader(bytes)   the pieces it delivers are those of a plain reader
//
// A target takes any bytes, never keeps anything for the next call, and ends the program where
// something does not hold. Adding one is its function and its row in targets.table; with clang
// libFuzzer drives it (libfuzzer.cc), otherwise its corpus is rerun (rerun_corpus.cc).

#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ncclog::fuzz {

/// A front door.
struct Target {
  std::string_view name;  ///< Of its corpus, too: "line_reader".
  void (*run)(std::string_view bytes) = nullptr;
  size_t most_bytes = 0;  ///< Of an input: what is longer says nothing new, and takes longer.
  std::string_view law;   ///< What must hold.
};

/// All of them; valid for the whole program.
std::span<const Target> targets();

/// The target of that name; nullptr: there is none.
const Target* find_target(std::string_view name);

/// Ends the program and says where, unless it holds.
void require(bool holds, std::source_location where = std::source_location::current());

/// The same; shows both, unless they are equal.
void require_equal(const std::string& found, const std::string& wanted,
                   std::source_location where = std::source_location::current());

/// The first byte, of which the target is steered; 0 where there is none.
uint8_t take_byte(std::string_view& bytes);

/// The parts of `bytes` that this byte separates, `most` at most: the last one holds the rest.
std::vector<std::string_view> parts_of(std::string_view bytes, char separator, size_t most);

/// A regular file that holds these bytes as long as it lives, on no disk.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  int descriptor_;
  std::string path_;
};

}  // namespace ncclog::fuzz

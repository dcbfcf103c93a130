// Everything that one input holds, one readable thing after the other.
//
//   node1.log          -> node1.log
//   logs.tar.gz        -> logs.tar.gz!/node1/nccl.txt, logs.tar.gz!/node2/nccl.txt.gz, …
//   -                  -> -!/node1/nccl.txt, if an archive is piped in
//   all.tar            -> all.tar!/old.zip!/a.txt: one archive in another is opened as well
//
// "!/" stands between an archive and a name in it, as Java and others write it: no folder is called
// "logs.tar.gz!", so nobody takes a member for a file of the disk.
//
// This is the one way by which inputs are opened, whoever reads them.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "input/byte_source.h"
#include "input/line_reader.h"

namespace ncclog {

/// Entries of an archive that are looked at.
inline constexpr uint64_t kMaxArchiveEntries = uint64_t{1} << 16;

/// Numbers that belong to one unit: its own and those of its members, if it is an archive.
inline constexpr uint64_t kNumbersPerUnit = uint64_t{1} << 20;

/// A file, a stretch of one, an archive or a member of one, and what became of it.
struct WalkedInput {
  uint64_t number = 0;  ///< SourceRef::unit of its lines.
  uint64_t input_number =
      0;  ///< The same for all stretches of one file; different from all others.
  std::string path;
  std::string format = "plain";  ///< "plain", "gzip", "tar+gzip", "zip".
  bool is_archive = false;
  bool is_member = false;
  UnitResult result;
};

class ArchiveReader;

/// Opens what a unit holds, in order. Invariants: `archives_` are open, each but the first a member
/// of the one before it; `reader_` reads `source_`, which reads from the last of them, if any.
class InputWalk {
 public:
  InputWalk(const Unit& unit, std::string path, const ReadOptions& options = {});
  ~InputWalk();
  InputWalk(const InputWalk&) = delete;
  InputWalk& operator=(const InputWalk&) = delete;

  /// Opens the next thing that is not an archive; nullptr at the end. It lives until the next call.
  /// Its content may be none that can be read as lines: then, if nobody reads it, it is skipped.
  UnitReader* next();

  /// What `next` gave last.
  const WalkedInput& current() const { return walked_[current_]; }

  /// All that was met, archives before their members. Complete once `next` has returned nullptr.
  std::vector<WalkedInput> take() { return std::move(walked_); }

 private:
  WalkedInput& add(std::string path);
  UnitReader* open(std::string path, ByteSource&& source);
  UnitReader* next_member();
  void close_current();
  void close_archive();

  Unit unit_;
  std::string path_;
  ReadOptions options_;
  uint64_t expanded_ = 0;  ///< Bytes that members have come to.
  bool is_started_ = false;
  std::vector<WalkedInput> walked_;
  size_t current_ = 0;  ///< Into `walked_`: of `reader_`.
  std::vector<std::unique_ptr<ArchiveReader>> archives_;
  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<UnitReader> reader_;
};

}  // namespace ncclog

// Every input in turn, with the members of archives.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "input/byte_source.h"
#include "input/line_reader.h"

namespace ncclog {

// The files in an archive, one after the other, as they stand in it.
//
//   logs.tar.gz   ./node1/nccl.txt        -> "node1/nccl.txt", readable
//                 ./node1/latest -> x     -> "node1/latest", skipped: a link
//                 ./.cache/a              -> left out, as find_inputs leaves out hidden files
//
// tar, zip and 7z, unpacked in memory by libarchive. An archive is read once and forwards; only zip
// and 7z files jump, to their table of contents and back. Nothing is ever written, so a name that
// leaves the archive ("/etc/x", "../x") is a name like any other.
//
// Bounded whatever the archive holds: entries, bytes of their names, and bytes they expand to.

/// Entries of an archive that are looked at.
inline constexpr uint64_t kMaxArchiveEntries = uint64_t{1} << 16;

/// How much of an archive is looked at; what follows is left out and said to be.
struct ArchiveLimits {
  uint64_t bytes;                         ///< Unpacked.
  uint64_t entries = kMaxArchiveEntries;  ///< Files, folders, links.
};

/// A file in an archive.
struct ArchiveMember {
  std::string name;       ///< Without "./" and "/" in front; any bytes, at most 4096 of them.
  std::string_view skip;  ///< Why it cannot be read, in one sentence; empty: it can. Static.
};

/// Reads one archive. Invariant: what `read` delivers belongs to the member that `next` gave last.
class ArchiveReader {
 public:
  /// `bytes` starts with an archive and must outlive the reader.
  ArchiveReader(ByteSource& bytes, const ArchiveLimits& limits);
  ~ArchiveReader();
  ArchiveReader(const ArchiveReader&) = delete;
  ArchiveReader& operator=(const ArchiveReader&) = delete;

  /// Moves on to the next member; false when there is none, or none that can be found. Folders and
  /// hidden files are left out. Links, devices, encrypted files and second ones of a name are given
  /// with a reason to skip them.
  bool next(ArchiveMember& member);

  /// At most `capacity` > 0 bytes of the member; 0 at its end.
  size_t read(char* buffer, size_t capacity);

  /// Why `read` ended before the member did; empty if it did not. Without a full stop.
  const std::string& read_error() const;

  /// "tar", "zip", "7z".
  std::string_view format() const;

  /// How reading the archive ended. Final once `next` has returned false.
  SourceState state() const;

  /// One sentence on what is missing; empty if nothing is.
  const std::string& note() const;

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

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

/// Numbers that belong to one unit: its own and those of its members, if it is an archive.
inline constexpr uint64_t kNumbersPerUnit = uint64_t{1} << 20;

/// A file, a stretch of one, an archive or a member of one, and what became of it.
struct WalkedInput {
  uint64_t number = 0;  ///< SourceRef::unit of its lines.
  uint64_t input_number =
      0;  ///< The same for all stretches of one file; different from all others.
  std::string path;
  std::string format;  ///< "plain", "gzip", "tar+gzip", "zip".
  bool is_archive = false;
  bool is_member = false;
  UnitResult result;
};

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
  struct Level;

  WalkedInput& add(std::string path);
  UnitReader* open(std::string path, ByteSource&& source);
  UnitReader* next_member();
  SourceOptions member_options() const;
  void close_current();
  void close_archive();

  Unit unit_;
  std::string path_;
  ReadOptions options_;
  uint64_t expanded_ = 0;  ///< Bytes that members have come to.
  bool is_started_ = false;
  std::vector<WalkedInput> walked_;
  size_t current_ = 0;  ///< Into `walked_`: of `reader_`.
  std::vector<std::unique_ptr<Level>> archives_;
  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<UnitReader> reader_;
};

}  // namespace ncclog

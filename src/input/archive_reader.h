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

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "input/byte_source.h"

namespace ncclog {

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

}  // namespace ncclog

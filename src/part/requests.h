// What a merge of parts would like to read in the logs themselves, which lie elsewhere.
//
//   the calls of n3:41 on communicator 0x5a from a.log, line 812 on    → the first call that differs
//   line 14 of a.log                                                   → the text of an evidence
//
// `analyze *.part --requests FILE` writes them, `scan --answer FILE PATH…` answers those whose file
// it finds, and `analyze *.part answers.part` uses the answers. Some answers raise new requests, so
// this may go round more than once.

#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/line.h"
#include "model/calls.h"

namespace ncclog {

/// By what a file is known again: it may have grown since.
struct FileStamp {
  uint64_t size = 0;       ///< Bytes on the disk.
  int64_t changed = 0;     ///< Nanoseconds of the Unix clock.
  uint64_t beginning = 0;  ///< Hash of its first bytes.

  auto operator<=>(const FileStamp&) const = default;
};

/// Whose calls.
struct CallOwner {
  std::string host;
  int64_t pid = -1;
  uint64_t comm = 0;  ///< The pointer.
  bool by_traces = false;

  auto operator<=>(const CallOwner&) const = default;
};

enum class Asked {
  Line,     ///< The text of a line, and its time.
  Calls,    ///< The next `most` collectives of `owner` from there on.
  Message,  ///< Where `owner` sends or receives what `wanted` says, as message `index` if known.
};

/// Something to be read.
struct Request {
  std::string host;  ///< Where the file was scanned.
  std::string path;  ///< There.
  FileStamp stamp;
  SourceRef from;  ///< As the file's units are numbered when it is scanned alone, from 1.
  Asked asked = Asked::Line;
  CallOwner owner;
  uint64_t most = 0;
  CallSignature wanted;
  std::optional<uint64_t> index;

  auto operator<=>(const Request&) const = default;
};

/// What was found. Places as in Request.
struct Reply {
  bool is_found = false;  ///< Of Line and Message.
  std::string text;
  std::optional<int64_t> nanoseconds;  ///< As LineTime counts them; nullopt: no time.
  SourceRef where;
  std::vector<PlacedCall> calls;

  bool operator==(const Reply&) const = default;
};

using Replies = std::map<Request, Reply>;
using Requests = std::set<Request>;

}  // namespace ncclog

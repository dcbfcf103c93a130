// A part: what scanning some of a job's inputs came to, to be merged elsewhere.
//
//   host n1: ncclog scan /var/log/nccl -o n1.part     inputs a.log, c.log
//   host n2: ncclog scan /var/log/nccl -o n2.part     input b.log
//   ncclog analyze *.part                             → a, b, c merged in this order, one Job
//
// A shard is kept for each input, so inputs merge in the order of their names, however they were
// grouped: that gives what reading all of them in one go gives. Places of lines are kept as
// numbers; where their text is needed, a merge asks for it (part/requests.h).
//
// A part fits only a program that keeps the same things, knows the same messages and looks for the
// same patterns: others are refused, by name.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "input/input_walk.h"
#include "input/line_reader.h"
#include "model/shard/shard.h"
#include "part/part_stream.h"
#include "part/requests.h"

namespace ncclog {

/// The line with which a part begins, before its frames.
inline constexpr std::string_view kPartMagic = "ncclog part 1\n";

/// What two programs must have in common for one to read the other's parts.
struct PartKin {
  uint64_t layout = 0;    ///< Of all that is kept.
  uint64_t messages = 0;  ///< Of all wordings and markers.
  uint64_t patterns = 0;  ///< Of the rulebook's line patterns.

  bool operator==(const PartKin&) const = default;
};

/// Of this program with that matcher.
PartKin part_kin(const LineMatcher& matcher);

/// One input as it was scanned: a file, an archive with its members. It is in one of two states:
/// as scanned it has its shards and no frames, as loaded (load_part) its frames, from which
/// read_shards makes the shards of another one; its own are empty.
struct ScannedInput {
  std::string path;
  std::string host;  ///< Where it was scanned.
  FileStamp stamp;
  std::vector<Unit> units;  ///< Numbered from 1; their lines' places begin with those numbers.
  std::vector<std::vector<WalkedInput>> walked;  ///< By unit: what was met in it.
  /// What all units but the last say, and what the last one says: a log that grows is read again
  /// from there on.
  Shard before;
  Shard last;
  /// As loaded: what FrameReader gave; the first one holds all that stands above but the speakers
  /// of the shards, which have one each.
  std::vector<std::string> frames;
};

/// Writes a part, packed, while inputs are scanned. Inputs come in any order.
class PartFile {
 public:
  /// `write` takes packed bytes. `host` is this host's name.
  PartFile(std::function<void(std::string_view bytes)> write, const PartKin& kin,
           const std::string& host);
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  void add(ScannedInput&& input);
  void add(Request request);
  void add(Request request, Reply answer);

  /// Ends it.
  void finish();

 private:
  struct Packed;
  std::unique_ptr<Packed> packed_;
};

/// A part that was read, its shards still as they were written.
struct LoadedPart {
  std::string host;
  std::vector<ScannedInput> inputs;
  std::vector<Request> requests;
  Replies answers;
  PartTables tables;
  size_t patterns = 0;
};

/// Reads a part from behind kPartMagic on, unpacked bytes. nullopt: it is none that can be used, and
/// `problem` says why, a clause. `patterns` is the number of patterns that `kin` stands for.
std::optional<LoadedPart> load_part(FrameReader::ReadBytes read, const PartKin& kin,
                                    size_t patterns, std::string& problem);

/// The shards of one of its inputs, with places as `place` says; false if the part is damaged there.
bool read_shards(const LoadedPart& part, const ScannedInput& input, const PartPlace& place,
                 ScannedInput& scanned);

// Parts merged into what one reading of all their inputs gives.
//
//   n1.part   a.log c.log
//   n2.part   b.log c.log     c.log lies on a file system that both hosts see
//   → a.log, b.log, c.log, once each, by name; their shards merged in this order

/// An input of a part, as the merge names it.
struct MergedInput {
  std::string path;  ///< Where it was scanned.
  std::string host;  ///< There; empty: here.
  FileStamp stamp;
  uint64_t first_unit = 0;  ///< Into MergedParts::units.
};

struct MergedParts {
  Shard shard;
  std::vector<MergedInput> inputs;               ///< By path, then host.
  std::vector<Unit> units;                       ///< Indexed over all of them.
  std::vector<std::vector<WalkedInput>> walked;  ///< By unit.
  Replies answers;                               ///< Of all parts.
};

/// Merges parts, which are spent. The order in which they come, and how the inputs were grouped,
/// change nothing. An input that two parts hold is taken once; two files of one name on different
/// hosts are both taken, and named "host:path". An input whose shards are damaged counts as
/// unreadable.
MergedParts merge_parts(std::vector<LoadedPart>&& parts);

}  // namespace ncclog

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
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <span>
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

/// One input as it was scanned: a file, an archive with its members.
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
  void add(const Request& request);
  void add(const Request& request, const Reply& answer);

  /// Ends it.
  void finish();

 private:
  struct Packed;
  std::unique_ptr<Packed> packed_;
};

/// A part that was read, its shards still as they were written.
struct LoadedPart {
  /// An input without its shards.
  struct Input {
    ScannedInput head;
    std::vector<std::string> frames;  ///< As FrameReader gave them; the first one holds the head.
  };

  std::string host;
  std::vector<Input> inputs;
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
bool read_shards(const LoadedPart& part, const LoadedPart::Input& input, const PartPlace& place,
                 ScannedInput& scanned);

}  // namespace ncclog

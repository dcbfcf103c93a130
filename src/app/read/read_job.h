// From paths to a job: inputs are cut into units, read in parallel and merged in input order.
//
//   logs/a.log      0..32 MiB, 32..51 MiB   two units, cut where a line begins
//   logs/b.log.gz   one stream              stretches of it go to whoever is free
//   logs/dump_0     a document              read whole, by its importer
//   → a Shard each, merged in this order → Job
//
// The number of threads and where large files are cut change nothing in the job. What the first
// reading does not keep is looked up by a second look at single units.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "input/input_walk.h"
#include "input/line_reader.h"
#include "model/call_coverage.h"
#include "model/job.h"
#include "model/shard/read_log.h"
#include "model/shard/shard.h"
#include "rules/finding.h"

namespace ncclog {

class ReadingProgress;

struct ReadSettings {
  int threads = 0;                                ///< Workers; 0: one per processor.
  uint64_t unit_bytes = CutOptions{}.unit_bytes;  ///< Larger plain files are cut; at least 1.
  LineMatcher matcher;                   ///< Called from several threads at once; may be empty.
  MarkerFinder finder;                   ///< What lines announce steps.
  ReadingProgress* progress = nullptr;   ///< Told how far the reading is; nullptr: nobody.
  const SharedFilter* filter = nullptr;  ///< Made of both by read_job; nothing to be set.
};

/// Reads `inputs`, paths as find_inputs gives them. What cannot be read is noted in the job.
/// The number of threads changes nothing in the result. Memory is bounded by what the logs'
/// processes and communicators need: units are merged as soon as all before them are.
Job read_job(std::span<const std::string> inputs, const ReadSettings& settings);

/// The inputs of a reading and the units in which they were read, so that single ones can be read
/// again.
struct ReadUnits {
  std::vector<std::string> inputs;
  std::vector<Unit> units;
};

/// The same; `read` is filled.
Job read_job(std::span<const std::string> inputs, const ReadSettings& settings, ReadUnits& read);

// The second look: single units are read again for what the first reading did not keep.
//
//   where exactly two ranks' calls begin to differ   → the calls between two checkpoints
//   messages that differ in size                     → their lines
//   a line that shows a finding, known by its place  → its text
//
// Standard input cannot be read again, and a file may have changed meanwhile: then the exact place
// stays a range and the line is shown without its text.

/// Reads calls of `job` again. `job` and `read` must outlive it.
CallReader call_reader(const Job& job, const ReadUnits& read);

/// Sets the texts of those lines that have none.
void fill_lines(const ReadUnits& read, std::span<Evidence* const> lines);

/// Shows the finding about messages of unlike sizes by the lines of these messages, in the place of
/// the last calls of their ends.
void show_messages(const Job& job, const ReadUnits& read, std::vector<Finding>& findings);

/// Sets the texts of evidence that has none.
void fill_evidence(const ReadUnits& read, std::vector<Finding>& findings);

// A structured companion of the logs, read whole: which importer takes it, and what is said if none
// can.

/// Larger documents are not read: none that a job writes is nearly as large.
inline constexpr size_t kMaxDocumentBytes = size_t{64} << 20;

/// All bytes of `input`, RawBytes or a UnitReader, or somewhat more than `most` of them.
template <typename Input>
std::string read_up_to(Input& input, size_t most) {
  constexpr size_t kBlock = size_t{64} << 10;
  std::string bytes;
  for (size_t count = 1; count > 0 && bytes.size() <= most;) {
    const size_t size = bytes.size();
    bytes.resize(size + kBlock);
    count = input.read(bytes.data() + size, kBlock);
    bytes.resize(size + count);
  }
  return bytes;
}

/// The same of the file at `path`, "-" for standard input. Throws Error if it cannot be read.
std::string read_file_up_to(const std::string& path, size_t most);

/// All bytes of a document; nullopt if there are more than kMaxDocumentBytes.
std::optional<std::string> read_document_bytes(UnitReader& input);

/// What `input` says, of which is_document(input.content()) holds; `name` is its own. What cannot
/// be understood is refused and gives an empty shard.
Shard read_document(UnitReader& input, const WalkedInput& name);

// An example of a rule as a job: a log, dumps of the Flight Recorder among its lines, what was
// seen.
//
//   n3:51:51 [0] NCCL INFO …            a line of the log
//   {"version":"2.4","pg_config":{…     a whole dump, as PyTorch writes it to JSON
//   {"header":{"id":"0x5a","rank":0,…   what NCCL's Inspector measured of a rank
//   --outcome hung                      the flag with which the log is analysed
//   ncclog host record 1                what follows is of a host, up to the next record or the end
//
// In a real folder every dump is a file of its own; in an example it is one line.

/// The job of an example. Dumps that do not name their rank are of ranks 0, 1, … in their order;
/// lines that begin like a dump and are none are read as lines of the log.
Job read_example(std::string_view example, const LineMatcher& matcher);

}  // namespace ncclog

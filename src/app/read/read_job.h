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

#include "diagnose/compare/step_times.h"
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

/// Puts the texts of the lines that show verdicts on measurements into Job::quoted.
void quote_measured(const ReadUnits& read, Job& job);

/// The first 2000 lines that announce steps, of the input that has most of them. Empty: fewer than
/// two do, or it was standard input.
std::vector<StepLine> read_step_lines(const Job& job, const ReadUnits& read);

/// Shows the finding about messages of unlike sizes by the lines of these messages, in the place of
/// the last calls of their ends.
void show_messages(const Job& job, const ReadUnits& read, std::vector<Finding>& findings);

/// Sets the texts of evidence that has none.
void fill_evidence(const ReadUnits& read, std::vector<Finding>& findings);

}  // namespace ncclog

// The second look: single units are read again for what the first reading did not keep.
//
//   where exactly two ranks' calls begin to differ   → the calls between two checkpoints
//   messages that differ in size                     → their lines
//   a line that shows a finding, known by its place  → its text
//
// Standard input cannot be read again, and a file may have changed meanwhile: then the exact place
// stays a range and the line is shown without its text. So it does where the inputs were scanned
// elsewhere (part/part.h), until somebody there has answered what is asked (part/requests.h).

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "diagnose/compare/speed_difference.h"
#include "input/line_reader.h"
#include "model/job.h"
#include "model/ledger/call_ledger.h"
#include "part/requests.h"
#include "rules/finding.h"

namespace ncclog {

/// An input that was scanned elsewhere.
struct ScannedElsewhere {
  std::string host;  ///< Empty: the input is here.
  std::string path;  ///< There.
  FileStamp stamp;
  uint64_t first_unit = 0;  ///< Into ReadUnits::units.
};

/// The inputs of a reading and the units in which they were read, so that single ones can be read
/// again.
struct ReadUnits {
  std::vector<std::string> inputs;
  std::vector<Unit> units;
  std::vector<ScannedElsewhere> elsewhere;  ///< By input; empty: all inputs are here.
  Replies answers;                          ///< To what was asked before of those elsewhere.
  /// What would have to be asked. Never nullptr.
  std::shared_ptr<Requests> asked = std::make_shared<Requests>();
};

/// Reads calls of `job` again. `job` and `read` must outlive it.
CallReader call_reader(const Job& job, const ReadUnits& read);

/// Reads lines again. `read` must outlive it.
TextsOfLines texts_of_lines(const ReadUnits& read);

/// The times of those of these lines, sorted, that carry one; by place.
std::vector<TimedLine> read_stamps(const ReadUnits& read, const std::vector<SourceRef>& lines);

/// Sets the texts of those lines that have none.
void fill_lines(const ReadUnits& read, std::span<Evidence* const> lines);

/// Shows the finding about messages of unlike sizes by the lines of these messages, in the place of
/// the last calls of their ends.
void show_messages(const Job& job, const ReadUnits& read, std::vector<Finding>& findings);

/// Sets the texts of evidence that has none.
void fill_evidence(const ReadUnits& read, std::vector<Finding>& findings);

/// Puts the texts of the lines that show verdicts on measurements into Job::quoted.
void quote_measured(const ReadUnits& read, Job& job);

/// The first 2000 lines that announce steps, of the input that has most of them. Empty: fewer than
/// two do, or it was standard input.
std::vector<StepLine> read_step_lines(const Job& job, const ReadUnits& read);

/// Answers what a merge elsewhere asks of the file at `path`, which was cut into units of
/// `unit_bytes`. What it does not hold any more is not found.
Replies answer_requests(std::span<const Request> requests, const std::string& path,
                        uint64_t unit_bytes);

}  // namespace ncclog

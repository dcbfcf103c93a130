// What differs between two runs: as one value, in words, as a document, and as JSON.
//
//   DIFFERENT NCCL_P2P_DISABLE is not set in GOOD and 1 in BAD; that may explain 5 of the 5 other
//             differences: …
//
//   1 setting NCCL_P2P_DISABLE; may explain 2-6
//     good    not set
//     bad     1  (bad/nccl.41.txt:18)
//
// The value holds both reports. Writers decide nothing themselves.

#pragma once

#include <string>
#include <string_view>

#include "diagnose/compare/run_difference.h"
#include "report/document/report_document.h"
#include "report/report.h"

namespace ncclog {

struct DifferenceReport {
  std::string good_path;  ///< As the user named it. May hold any bytes.
  std::string bad_path;
  const Report& good;
  const Report& bad;
  RunDifference difference;
};

enum class DifferenceStatus { Same, Different, CannotCompare };

/// "same", "different", "cannot_compare".
constexpr std::string_view enum_words(DifferenceStatus) { return "same|different|cannot_compare"; }

/// What differs between the two, with their findings. Findings are alike if they have the same id,
/// severity and ranks; words, hosts and confidence depend on what was logged.
RunDifference difference_of(const Report& good, const Report& bad);

/// CannotCompare: the logs of the two tell nothing about the same thing.
DifferenceStatus status_of(const RunDifference& difference);

/// The one sentence to read first. May hold bytes of the logs.
std::string headline_of(const RunDifference& difference);

/// What a side says of a row: its value, "not set", "none", …
std::string side_text(const DifferenceRow& row, const FactValue& side);

/// A row in one sentence: "iterations: 4 in GOOD, 6 in BAD", or what is not known of whom.
std::string row_sentence(const DifferenceRow& row);

/// For a screen what fits on one: of many rows the first are shown, and how many there are besides.
Document difference_document(const DifferenceReport& report, Reader reader = Reader::Screen);

/// One object, indented by two blanks. Everything is there; strings are valid UTF-8.
std::string write_difference_json(const DifferenceReport& report);

/// The JSON Schema of that.
std::string difference_schema();

}  // namespace ncclog

// What differs between two runs, as one value, the words for it, and how it is written.
//
// DIFFERENT NCCL_P2P_DISABLE is not set in GOOD and 1 in BAD; that may explain 5 of the 5 other
// differences: …
//
// 1 setting NCCL_P2P_DISABLE; may explain 2-6
// good    not set
// bad     1  (bad/nccl.41.txt:18)
//
// The value holds both reports. Writers turn it into text, Markdown or JSON and decide nothing
// themselves.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/run_difference.h"
#include "report/report.h"
#include "report/text_layout.h"

namespace ncclog {

// Two runs held against each other, as one value: both reports, what differs, and the words for it.
//
//   DIFFERENT  NCCL_P2P_DISABLE is not set in GOOD and 1 in BAD; that may explain 5 of the 5 other
//              differences: …
//
// Writers turn it into text, Markdown or JSON and decide nothing themselves.

struct DifferenceReport {
  std::string good_path;  ///< As the user named it. May hold any bytes.
  std::string bad_path;
  const Report& good;
  const Report& bad;
  RunDifference difference;
};

enum class DifferenceStatus { Same, Different, CannotCompare };

/// "same", "different", "cannot_compare".
std::string_view to_string(DifferenceStatus status);

/// What differs between the two, with their findings.
RunDifference difference_of(const Report& good, const Report& bad);

/// CannotCompare: the logs of the two tell nothing about the same thing.
DifferenceStatus status_of(const RunDifference& difference);

/// The one sentence to read first. May hold bytes of the logs.
std::string headline_of(const RunDifference& difference);

/// Rows that differ, as they are shown: each that no other explains, behind it those that may
/// follow from it. Into RunDifference::rows.
std::vector<size_t> shown_order(const RunDifference& difference);

/// "4 ranks on 1 host, NCCL 2.28.9, network Socket".
std::string run_text(const Job& job);

/// "setting NCCL_ALGO", "transport within a host", "finding shm-no-space".
std::string title_of(const DifferenceRow& row);

/// What a side says of a row: its value, "not set", "none", …
std::string side_text(const DifferenceRow& row, const DifferenceSide& side);

/// A row in one sentence: "iterations: 4 in GOOD, 6 in BAD", or what is not known of whom.
std::string row_sentence(const DifferenceRow& row);

// What differs between two runs, as text for a terminal: the sentence that matters first.
//
//   DIFFERENT NCCL_P2P_DISABLE is not set in GOOD and 1 in BAD; that may explain …
//
//   1 setting NCCL_P2P_DISABLE; may explain 2-6
//     good    not set
//     bad     1  (bad/nccl.41.txt:18)

/// Fits on one screen: of many rows the first are shown, and how many there are besides.
std::string write_difference_text(const DifferenceReport& report, const TextStyle& style);

// What differs between two runs, as Markdown that fits a GitHub issue: the sentence, a table of the
// differences, the lines that show them in a folded section.

/// Whatever the logs hold stays text: no HTML, link, mention or table edge comes from them.
std::string write_difference_markdown(const DifferenceReport& report);

// What differs between two runs, as JSON of the schema ncclog.diff/1 (diff.schema.json).

/// One object, indented by two blanks. Everything is there; strings are valid UTF-8.
std::string write_difference_json(const DifferenceReport& report);

}  // namespace ncclog

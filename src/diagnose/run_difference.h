// What differs between two runs, and which difference may explain which?
//
//   setting    NCCL_P2P_DISABLE   good: not there      bad: "1"
//   transport  within a host      good: P2P/CUMEM      bad: SHM/direct/direct   ← may follow from
//   it
//
// Three answers for each trait that one of the runs has: alike, different, or not comparable
// because the other run's logs do not tell. Silence is never a difference. The sides are treated
// alike: compared the other way round, the same rows come with their sides exchanged.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "diagnose/trait.h"

namespace ncclog {

/// What one run says.
struct DifferenceSide {
  std::string value;  ///< Empty: the run has nothing of the sort, or its logs do not tell.
  std::string gap;    ///< Why that is not known, a clause about the run; empty: it is known.
  std::vector<Evidence> evidence;
};

enum class RowState {
  Differs,
  Note,           ///< Differs in what does not matter to the job, such as how long it went on.
  NotComparable,  ///< One run's logs do not tell.
};

/// "differs", "note", "not_comparable".
std::string_view to_string(RowState state);

struct DifferenceRow {
  Topic topic = Topic::Setting;
  std::string name;  ///< Of the trait; empty: several of the topic, which the known side lists.
  RowState state = RowState::Differs;
  DifferenceSide good;
  DifferenceSide bad;
  std::vector<std::string> explains;  ///< As the traits: names of rows that follow from it.
  std::vector<size_t> causes;         ///< Rows that may explain it, into RunDifference::rows.
};

struct RunDifference {
  /// What differs, by topic and name; then notes; then what is not comparable.
  std::vector<DifferenceRow> rows;
  size_t alike = 0;  ///< Traits in which the runs do not differ.
};

/// A run as it is compared.
struct ComparedRun {
  const Job& job;
  std::vector<Trait> traits;  ///< By topic and name.
};

RunDifference compare_runs(const ComparedRun& good, const ComparedRun& bad);

/// How many rows have that state.
size_t count_rows(const RunDifference& difference, RowState state);

/// Of a row that others may explain, the one at the start: a row without causes.
size_t root_of(const RunDifference& difference, size_t row);

}  // namespace ncclog

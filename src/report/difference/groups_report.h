// What sets the failed ones of several runs apart: in words, as a document, and as JSON.
//
//   NOT ENOUGH  NCCL_P2P_DISABLE=1 goes along with the failures (2 of 3 failed with it, 0 of 1 without
//               it), and by chance would in 1 of 2 cases; 8 more runs that go on like these would tell.

#pragma once

#include <string>
#include <vector>

#include "diagnose/compare/run_groups.h"
#include "report/document/report_document.h"
#include "report/report.h"

namespace ncclog {

struct GroupedRun {
  std::string path;  ///< As the user named it. May hold any bytes.
  const Report& report;
};

struct GroupsReport {
  std::vector<GroupedRun> good;  ///< Not empty; bad neither.
  std::vector<GroupedRun> bad;
  FactsOfFailures facts;
};

enum class GroupsStatus { Same, Different, NotEnough, CannotCompare };

/// "same", "different", "not_enough", "cannot_compare".
constexpr std::string_view enum_words(GroupsStatus) {
  return "same|different|not_enough|cannot_compare";
}

/// What sets the bad ones apart. Both kinds of runs are there.
GroupsReport grouped(std::vector<GroupedRun> good, std::vector<GroupedRun> bad);

/// NotEnough: something goes along with the failures, and may by chance.
GroupsStatus status_of(const FactsOfFailures& facts);

/// The one sentence to read first. May hold bytes of the logs.
std::string headline_of(const GroupsReport& report);

Document groups_document(const GroupsReport& report, Reader reader = Reader::Screen);

/// One object, indented by two blanks; strings are valid UTF-8.
std::string write_groups_json(const GroupsReport& report);

/// The JSON Schema of that.
std::string groups_schema();

}  // namespace ncclog

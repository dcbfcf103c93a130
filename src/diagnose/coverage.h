// What can this log answer at all, and how would the next one answer the rest?
//
//   network: no line says which network was used → "set NCCL_DEBUG=INFO …"
//
// A rule names the questions that it needs; while one of them is open, the rule is not judged. A
// question is told to the user where a rule that might apply needs it, or where it matters to
// everybody. A new question is one row of the table.

#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/job.h"

namespace ncclog {

/// How a log stands to a question.
struct CoverageAnswer {
  bool covered = true;
  bool worth_telling = false;  ///< If not covered: tell it even if no rule asks for it.
  std::string reason;          ///< If not covered: what is missing, in one sentence.
};

struct CoverageQuestion {
  std::string_view name;      ///< By which rules need it: "network".
  std::string_view question;  ///< "Which network does NCCL use?"
  CoverageAnswer (*ask)(const Job& job);
  std::string (*how_to_capture)(const Job& job);
};

/// All questions, in the order in which they are told; valid for the whole program.
std::span<const CoverageQuestion> coverage_questions();

/// The question with that name; nullptr if there is none.
const CoverageQuestion* find_coverage_question(std::string_view name);

}  // namespace ncclog

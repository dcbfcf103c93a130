// What a replay of the job on other GPUs showed, as far as a report tells it.
//
//   replay  reproduced-hypothesis (likely): As recorded, AllReduce, call 29 of communicator … does
//           not complete when rank 5 makes another call in its place; …
//           2 x NVIDIA H200, NCCL 2.28.9; not as recorded: ranks of the job …
//           Do not conclude: where in the program it comes from …
//
// It is made of a result of `ncclog replay run`. One that is not of these logs is named, with the
// reason, and supports nothing.

#pragma once

#include <string>
#include <vector>

namespace ncclog {

struct ReplaySummary {
  std::string file;                  ///< The result's path, as the user named it.
  std::string unfit;                 ///< Why it is not of these logs, a clause; empty: it is.
  std::string finding;               ///< Id of the finding that was tested; empty: none.
  std::string kind;                  ///< "reproduced-hypothesis", …
  std::string confidence;            ///< "certain", "likely", "possible"; empty: it claims nothing.
  std::string headline;              ///< One sentence.
  std::string machine;               ///< "2 x NVIDIA H200, NCCL 2.28.9"; empty: nothing was run.
  std::vector<std::string> runs;     ///< One line each.
  std::vector<std::string> changed;  ///< What was not as recorded.
  std::vector<std::string> limits;   ///< What it cannot show.
  std::vector<std::string> must_not_conclude;

  bool operator==(const ReplaySummary&) const = default;
};

/// Its outcome in one sentence, for a report of one line: "A replay on 2 x NVIDIA H200, NCCL 2.28.9
/// came out as reproduced-fault (likely)."
std::string replay_sentence(const ReplaySummary& replay);

/// What reports for people say of it, one paragraph each, the outcome first.
std::vector<std::string> replay_paragraphs(const ReplaySummary& replay);

}  // namespace ncclog

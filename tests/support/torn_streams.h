// What stands in one file when several processes write into it, cut at any byte?
//
//   node-a:41:41 [0] NCCL INFO Using netwnode-b:52:52 [1] NCCL INFO Using network Socket
//   ork Socket
//
// The streams are stretches of the sample logs, so that wordings, sizes and order are real.

#pragma once

#include <random>
#include <string>
#include <vector>

namespace ncclog::testing {

/// Processes that write into one file.
struct TornScenario {
  std::string name;
  std::vector<std::string> streams;  ///< What each of them prints; each ends with a line end.

  /// The streams one after the other, nothing torn.
  std::string clean() const;
};

/// Two and three processes of one host and of two, healthy and not, with lines of NCCL, of a
/// framework and of the program.
std::vector<TornScenario> torn_scenarios();

/// How a file comes to be torn.
struct TearOptions {
  int cut_percent = 100;        ///< Of the chunks, how many end at any byte; the others end a line.
  size_t longest_chunk = 1000;  ///< Bytes; sizes between 2 and this are as likely on every scale.
};

/// The streams cut into chunks that were written in turn. The same numbers give the same bytes.
std::string tear(const std::vector<std::string>& streams, const TearOptions& options,
                 std::mt19937& random);

}  // namespace ncclog::testing

// What stands in one file when several processes write into it, cut at any byte?
//
//   node-a:41:41 [0] NCCL INFO Using netwnode-b:52:52 [1] NCCL INFO Using network Socket
//   ork Socket
//
// The streams are stretches of the sample logs, so that wordings, sizes and order are real.

#pragma once

#include <random>
#include <set>
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

/// All processes of a job and its program, healthy and not.
std::vector<TornScenario> collected_jobs();

/// How a launcher hands on what processes print: it reads a chunk of each pipe in turn.
struct ForwardOptions {
  size_t chunk = 4096;
  unsigned longest_burst = 40;    ///< Records that a process prints at once.
  int lost_ends_permille = 0;     ///< Of the lines, how many lose their line end.
  int doubled_ends_permille = 0;  ///< How many get two.
};

struct ForwardedLog {
  std::string text;
  std::multiset<std::string> undamaged;  ///< NCCL's records that are whole lines of the text.
};

/// The streams as such a launcher writes them. The same numbers give the same bytes.
ForwardedLog forward(const std::vector<std::string>& streams, const ForwardOptions& options,
                     std::mt19937& random);

/// How a file comes to be shuffled.
struct TearOptions {
  int cut_percent = 100;        ///< Of the chunks, how many end at any byte; the others end a line.
  size_t longest_chunk = 1000;  ///< Bytes; sizes between 2 and this are as likely on every scale.
};

/// The streams cut into chunks that were written in turn. The same numbers give the same bytes.
std::string tear(const std::vector<std::string>& streams, const TearOptions& options,
                 std::mt19937& random);

}  // namespace ncclog::testing

// What can this log answer at all, and how would the next one answer the rest?
//
//   network: no line says which network was used → "set NCCL_DEBUG=INFO …"
//
// Each question is a fact of the job about its logs: "yes" where they answer it, unknown where they
// do not, "no" where they do not and everybody should know. A rule names those that it needs, and
// is not judged without them. A new question is one row of the table.

#pragma once

#include <set>

#include "diagnose/facts/fact.h"

namespace ncclog {

/// True if some process has printed lines of that subsystem.
bool has_spoken(const Job& job, Subsystem subsystem);

/// Blocks of the largest gather or scatter of which watchdogs say that it timed out: ranks of its group.
/// `of_default`: only where a line says that this is the default group. 0: none.
int blocks_gathered(const Job& job, bool of_default);

/// Ranks that there are at least: one of each number below one in `seen`, and of each block that is
/// gathered.
int known_ranks(const Job& job, const std::set<int>& seen);

/// Ranks of the job, as a line says; 0: none says it, and Job::nranks is how many are named, if any.
int told_ranks(const Job& job);

/// All questions, in the order in which they are told; valid for the whole program. The meaning is
/// the question: "Which network does NCCL use?"; rules need it by its name: "network".
std::span<const Fact> coverage_facts();

/// Lines of NCCL would answer it, and nobody else's.
bool nccl_answers(const Fact& question);

// What to set before the next run, so that its logs answer the questions that these leave open, and
// how large they will be.
//
//   export NCCL_DEBUG=INFO
//   export NCCL_DEBUG_SUBSYS=INIT,ENV,NET,COLL
//   about 30 kB for each rank, and 200 MB an hour for each at 300 collectives a second

/// An environment variable to set on all ranks.
struct CaptureSetting {
  std::string name;
  std::string value;

  bool operator==(const CaptureSetting&) const = default;
};

/// How much NCCL will write: an estimate, and what it rests on.
struct LogSize {
  uint64_t start_bytes = 0;     ///< For each rank, while communicators are set up.
  uint64_t bytes_per_call = 0;  ///< For each rank and collective; 0: calls will not be logged.
  double calls_per_second = 0;  ///< For each rank: measured, or assumed.
  std::string rests_on;         ///< In one sentence.

  /// For each rank; 0 if calls will not be logged.
  uint64_t bytes_per_hour() const;
};

struct CaptureAdvice {
  std::vector<CaptureSetting> settings;  ///< In the order in which people write them.
  std::vector<std::string> steps;        ///< What no variable does, each a sentence.
  std::optional<LogSize> size;           ///< nullopt: NCCL will write no more than it did.

  bool empty() const { return settings.empty() && steps.empty(); }
};

/// Everything that the open questions ask for, joined.
CaptureAdvice capture_advice(const Job& job, std::span<const Fact* const> open);

/// "about 30 kB for each rank to begin with, then …": the size as a sentence, with its ground.
std::string log_size_text(const LogSize& size, std::optional<int> nranks);

}  // namespace ncclog

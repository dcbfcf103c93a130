// What do lines of a log prove by where they stand?
//
//   a WARN before "- Init COMPLETE"                              → while initialising
//   a timeout behind a progress bar "Validation"                 → in an evaluation
//
// Each answer is known only where the lines around are all there: nothing torn, cut or lost.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/facts/fact.h"
#include "log/wording/message_kind.h"
#include "model/job.h"

namespace ncclog {

// Which of two lines of one process came first, and how many seconds lie between them?

/// Both lines stand in one input, so their order is that in which they were printed.
bool are_ordered(const Job& job, SourceRef a, SourceRef b);

/// Nanoseconds from one line to another; nullopt: one carries no time, their clocks do not compare,
/// or time runs backwards.
std::optional<int64_t> nanoseconds_between(std::string_view from, std::string_view to);

// What was the program doing when it stopped: training, or one of the rare phases between?
//
//   Validation:   1%|          | 2/210 [00:01<02:58,  1.16it/s]
//
// Evaluation and checkpoints are where ranks do different amounts of work.

/// A phase that few steps pass through.
struct Phase {
  std::string what;  ///< As printed: "Validation".
  Evidence line;
};

/// Evaluation or checkpoint output shortly before `line` in the same stretch of input, or without
/// newline in front of it, unless training output stands between. nullopt: none that is known.
std::optional<Phase> rare_phase_before(const Job& job, const Evidence& line);

// Was a process initialising, working or tearing down when it printed a line?
//
//   … comm 0x7f10 rank 0 … - Init START         ┐ init, like everything before it
//   … comm 0x7f10 rank 0 … - Init COMPLETE      ┘
//   … NCCL WARN … Connection closed by remote peer …       run
//   … comm 0x7f10 rank 0 … - Destroy COMPLETE   ┐ end: no communicator is left
//
// Known only where the lines of the process's communicators are there, in the same file.

enum class LifePhase {
  Init,        ///< Before the first communicator is complete, or while another one is made.
  Run,         ///< Some communicator is complete and not ended, and none is being made.
  End,         ///< All communicators are destroyed or aborted.
  Evaluation,  ///< Evaluation or checkpoint, as rare_phase_before sees it; within any other one.
};

/// As rule files spell them, in the enum's order.
std::span<const std::string_view> life_phase_names();

/// Whether `process` printed `line` in that phase; nullopt: not known. Evaluation is never known
/// to be no.
std::optional<bool> is_in_phase(const Job& job, int process, const Evidence& line, LifePhase phase);

}  // namespace ncclog

// Was a process initialising, working or tearing down when it printed a line?
//
//   … comm 0x7f10 rank 0 … - Init START         ┐ init, like everything before it
//   … comm 0x7f10 rank 0 … - Init COMPLETE      ┘
//   … NCCL WARN … Connection closed by remote peer …       run
//   … comm 0x7f10 rank 0 … - Destroy COMPLETE   ┐ end: no communicator is left
//
// Known only where the lines of the process's communicators are there, in the same file.

#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "diagnose/fact.h"

namespace ncclog {

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

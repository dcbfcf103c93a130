// Did work go on after a line?
//
//   [rank3]: RuntimeError: …        a failure
//   step 41 loss 2.1                three steps after it in the same input: a part of the job failed
//   step 42 loss 2.0
//   step 43 loss 2.0

#pragma once

#include "diagnose/facts/fact.h"

namespace ncclog {

/// Some input announces steps of a training.
bool prints_steps(const Job& job);

/// Steps of a program, but for a bar that stands at 0, or rows of a test.
bool shows_progress(const Job& job);

/// torchrun ended with a failure between these lines of an input: what comes after is another run's.
bool launcher_failed_between(const Job& job, SourceRef from, SourceRef to);

/// Three steps of a training, or ticks of a server, are announced after `where` in the same input.
bool steps_follow(const Job& job, SourceRef where);

/// Work stands after `where` in the same input: a communicator begins, a step is printed, or ranks
/// go on calling. What was said there is then about a part of the work.
bool work_follows(const Job& job, SourceRef where);

/// The last test of nccl-tests that begins after `where` in the same input, by the line of its
/// settings; nullopt: none does. Where no summary follows, nothing tells how it ended.
std::optional<Evidence> test_begun_after(const Job& job, SourceRef where);

/// One test of nccl-tests begins before that line, and another one after it.
bool is_between_tests(const Job& job, SourceRef where);

}  // namespace ncclog

// What a program prints as it goes on, how it says that it is through, and what is printed when
// somebody stops it.
//
//   [2026-02-03 04:05:09,812][pretrain][INFO] - step 3 | loss 8.3112
//   [2026-02-03 04:05:10,401][pretrain][INFO] - training finished
//
//   W0203 04:05:27.103000 4050 torch/distributed/elastic/agent/server/api.py:739] Received 15 death
//   signal, shutting down workers

#pragma once

#include "support/synthetic/program.h"
#include "support/synthetic/setting.h"
#include "support/synthetic/simulate.h"
#include "support/synthetic/spoken_line.h"

namespace ncclog::testing {

/// One line an iteration, from the rank that prints.
SpokenLines step_lines(const Layout& layout, const Setting& setting, const Program& program,
                       const std::vector<Happening>& happenings, int rank);

/// True if finish_lines() has words for the program's end.
bool says_that_it_finished(StepStyle style);

/// What the program or its launcher prints once the work is done; nothing, if the style has no
/// words for it.
SpokenLines finish_lines(const Layout& layout, const Setting& setting, const JobRun& run,
                         const std::vector<Program>& programs);

/// What NCCL's proxies complain about while a finished job's processes go.
SpokenLines noise_lines(const Layout& layout, const Setting& setting, double time);

/// What is printed when the job is stopped from outside.
SpokenLines stop_lines(const Layout& layout, const Setting& setting, double time);

/// True if those lines say when.
bool dates_its_words(Stopper stopper);

/// What torchrun says before it starts its workers again.
SpokenLines restart_lines(const Layout& layout, const Setting& setting, double time);

}  // namespace ncclog::testing

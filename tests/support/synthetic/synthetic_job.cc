#include "support/synthetic/synthetic_job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "support/synthetic/end_lines.h"
#include "support/synthetic/framework_lines.h"
#include "support/synthetic/nccl_lines.h"

namespace ncclog::testing {
namespace {

/// Most jobs are small, so that many can be judged; some are as large as jobs get.
int world_of(uint64_t seed, Seeded& seeded) {
  constexpr int kLarge[] = {256, 512, 1024};
  constexpr int kMiddle[] = {24, 32, 48, 64, 128};
  constexpr int kSmall[] = {2, 4, 4, 6, 8, 8, 8, 8, 12, 16, 16};
  if (seed % 80 == 79) return seeded.pick<int>(kLarge);
  return seeded.chance(12) ? seeded.pick<int>(kMiddle) : seeded.pick<int>(kSmall);
}

bool loses_evidence(Fault fault) {
  return fault == Fault::LostFile || fault == Fault::CutFile || fault == Fault::CollOff ||
         fault == Fault::LostMessage;
}

/// Fits the parts of a job to each other.
void reconcile(Fault fault, const Layout& layout, LoopShape& shape, Setting& setting) {
  shape.has_alltoall = shape.has_alltoall && setting.release->has_alltoall;
  if (loses_evidence(fault)) {
    setting.files = Files::PerProcess;
    setting.shares_process = false;
    setting.logs_calls = true;
  }
  if (setting.shares_process && setting.files == Files::PerProcess) setting.stamps = false;
  setting.restarts = setting.restarts && !loses_evidence(fault) && layout.world <= 64;
  // Without calls and communicators there is no line of NCCL.
  setting.logs_init = setting.logs_init || !setting.logs_calls;
}

SimulationOptions simulation_options(const Planted& planted, const Setting& setting,
                                     Seeded& seeded) {
  SimulationOptions options;
  options.run_ahead = seeded.chance(30) ? 0 : seeded.between(1, 20);
  options.timeout = setting.timeout;
  options.pace = setting.pace;
  options.step = setting.step;
  const bool may_work = planted.act == Fault::WrongCount || planted.act == Fault::WrongDatatype ||
                        planted.act == Fault::WrongOp;
  if (may_work && seeded.chance(30)) options.works_for = seeded.chance(50) ? 1000000 : 1;
  return options;
}

/// A job that does not hang needs no watchdog, and one that is to run again does not end well.
void settle_end(const JobRun& run, Setting& setting, Seeded& seeded) {
  if (run.hung) {
    if (setting.ending == Ending::Finished) setting.ending = Ending::Watchdog;
    return;
  }
  if (setting.restarts) {
    setting.ending = Ending::Stopped;
  } else if (setting.ending == Ending::Watchdog) {
    setting.ending = seeded.chance(70) ? Ending::Finished : Ending::Stopped;
  }
}

void add_to(SpokenLines& lines, SpokenLines more) {
  std::move(more.begin(), more.end(), std::back_inserter(lines));
}

/// What the ranks print, whatever comes of it.
SpokenLines work_lines(const SyntheticJob& job, const Attempt& attempt, const Planted& planted,
                       Seeded& seeded) {
  const Setting& setting = attempt.setting;
  SpokenLines lines;
  for (int rank = 0; rank < job.layout.world; ++rank) {
    const auto r = static_cast<size_t>(rank);
    const bool logs_calls =
        setting.logs_calls && (planted.fault != Fault::CollOff || planted.damaged != rank);
    add_to(lines, nccl_lines(job.layout, setting, attempt.programs[r], attempt.run.happenings[r],
                             rank, logs_calls, seeded));
    add_to(lines,
           step_lines(job.layout, setting, attempt.programs[r], attempt.run.happenings[r], rank));
  }
  return lines;
}

/// Peers of ranks that PyTorch took down.
void add_closing_lines(const SyntheticJob& job, const Attempt& attempt, SpokenLines& lines) {
  const Setting& setting = attempt.setting;
  if (!setting.logs_init || setting.logs_traces) return;
  for (int rank = 0; rank < job.layout.world; rank += 3) {
    if (!attempt.run.ends[static_cast<size_t>(rank)].is_in_call) continue;
    add_to(lines,
           closing_lines(job.layout, setting, rank, attempt.run.hung_at + setting.timeout + 61));
  }
}

/// When the last communicator of the start was made.
double made_at(const JobRun& run) {
  double made = 0;
  for (const auto& happenings : run.happenings) {
    for (const Happening& happening : happenings) {
      if (happening.kind == Happening::Kind::InitComplete) made = std::max(made, happening.time);
    }
  }
  return made;
}

/// When a job that does not end by itself is stopped or copied.
double cut_off_at(const Attempt& attempt, Seeded& seeded) {
  const JobRun& run = attempt.run;
  if (run.hung) return run.hung_at + attempt.setting.silence;
  const double part = static_cast<double>(seeded.below(1000)) / 1000;
  const double made = made_at(run);
  return made + (run.hung_at - made) * part;
}

bool frees_visibly(const SyntheticJob& job, const Setting& setting) {
  return job.shape.destroys && setting.logs_init && !setting.release->hides_destroy;
}

void add_finish(const SyntheticJob& job, const Attempt& attempt, SpokenLines& lines) {
  const Setting& setting = attempt.setting;
  add_to(lines, finish_lines(job.layout, setting, attempt.run, attempt.programs));
  // In a file of its own, a proxy's complaint stands behind the end only if that is there as well.
  const bool is_behind_end =
      frees_visibly(job, setting) ||
      (setting.files == Files::Merged &&
       !finish_lines(job.layout, setting, attempt.run, attempt.programs).empty());
  if (setting.is_noisy_at_end && is_behind_end) {
    add_to(lines, noise_lines(job.layout, setting, attempt.run.hung_at + 2));
  }
}

/// All lines of one run, and what their dates show about its end.
SpokenLines attempt_lines(const SyntheticJob& job, const Attempt& attempt, const Planted& planted,
                          Stillness& stillness, Seeded& seeded) {
  const Setting& setting = attempt.setting;
  SpokenLines lines = work_lines(job, attempt, planted, seeded);
  if (attempt.run.hung) {
    add_to(lines, failure_lines(job.layout, setting, planted, attempt.run, seeded));
  }
  switch (setting.ending) {
    case Ending::Watchdog:
      add_closing_lines(job, attempt, lines);
      break;
    case Ending::Finished:
      add_finish(job, attempt, lines);
      break;
    case Ending::Stopped:
    case Ending::Copied: {
      const double end = cut_off_at(attempt, seeded);
      std::erase_if(lines, [&](const SpokenLine& line) { return line.time > end; });
      if (setting.ending == Ending::Copied) break;
      const bool calls_show_work =
          setting.logs_calls && stamps_calls(setting) && !job.shape.is_graph &&
          (setting.prefix != LauncherPrefix::CloudWatch || setting.files != Files::PerProcess);
      stillness = stillness_of(setting, calls_show_work, lines, end);
      add_to(lines, stop_lines(job.layout, setting, end));
      break;
    }
  }
  return lines;
}

/// The same job, started again: nothing goes wrong this time.
Attempt next_attempt(const SyntheticJob& job, double begin, Seeded& seeded) {
  Attempt next;
  next.setting = job.first().setting;
  next.setting.first_pid += job.layout.world + seeded.between(120, 400);
  next.setting.restarts = false;
  next.setting.kill_is_seen = false;
  next.setting.ending = seeded.chance(80) ? Ending::Finished : Ending::Copied;
  next.programs = make_programs(job.layout, job.shape);
  next.run =
      simulate(job.layout, next.programs, simulation_options({}, next.setting, seeded), seeded);
  next.begin = begin;
  return next;
}

double last_time(const SpokenLines& lines) {
  double last = 0;
  for (const SpokenLine& line : lines) last = std::max(last, line.time);
  return last;
}

/// Torchrun starts workers again that failed; what was stopped as a whole is submitted again.
bool is_restarted_by_torchrun(const Setting& setting) {
  const bool is_torchrun = setting.prefix != LauncherPrefix::MpirunTag &&
                           setting.prefix != LauncherPrefix::Prrte &&
                           setting.prefix != LauncherPrefix::Srun;
  return is_torchrun && setting.ending == Ending::Watchdog;
}

/// The clock of a run is its own, and the words in its lines carry dates: they are made anew.
void shift(JobRun& run, double seconds) {
  for (auto& happenings : run.happenings) {
    for (Happening& happening : happenings) happening.time += seconds;
  }
  for (RankEnd& end : run.ends) {
    end.time += seconds;
    end.waits_since += seconds;
  }
  run.hung_at += seconds;
}

}  // namespace

SyntheticJob make_synthetic_job(uint64_t seed, Fault fault) {
  Seeded seeded(seed * 64 + static_cast<uint64_t>(fault));
  SyntheticJob job;
  job.layout = make_layout(world_of(seed, seeded), seeded);
  Attempt first;
  first.setting = make_setting(job.layout, fault == Fault::None, seeded);
  job.shape = make_loop_shape(job.layout, seeded);
  reconcile(fault, job.layout, job.shape, first.setting);
  first.programs = make_programs(job.layout, job.shape);
  const Planted planted = plant(fault, job.layout, first.programs, seeded);
  first.run = simulate(job.layout, first.programs,
                       simulation_options(planted, first.setting, seeded), seeded);
  settle_end(first.run, first.setting, seeded);
  job.attempts.push_back(std::move(first));

  Stillness stillness = Stillness::Unknown;
  SpokenLines lines = attempt_lines(job, job.first(), planted, stillness, seeded);
  if (job.first().setting.restarts) {
    const double end = last_time(lines);
    if (job.first().setting.says_restart && is_restarted_by_torchrun(job.first().setting)) {
      add_to(lines, restart_lines(job.layout, job.first().setting, end + 0.5));
    }
    Attempt next = next_attempt(job, end + seeded.between(5, 90), seeded);
    shift(next.run, next.begin);
    job.attempts.push_back(std::move(next));
  }
  job.files = make_files(job.layout, job.first().setting, lines);
  for (size_t i = 1; i < job.attempts.size(); ++i) {
    Stillness later = Stillness::Unknown;
    append_files(make_files(job.layout, job.attempts[i].setting,
                            attempt_lines(job, job.attempts[i], {}, later, seeded)),
                 job.files);
  }
  if (loses_evidence(fault) && planted.damaged >= 0) {
    damage_file(job.layout, job.first().setting, fault, planted.damaged, job.files, seeded);
  }
  job.truth = make_truth(planted, job.layout, job.shape, job.attempts, stillness);
  return job;
}

Fault fault_of(uint64_t seed) {
  const std::span<const Fault> faults = all_faults();
  const uint64_t place = seed % (faults.size() + faults.size() / 3);
  return place < faults.size() ? faults[place] : Fault::None;
}

std::string_view name_of_end(const SyntheticJob& job) {
  const bool hung = job.truth.is_hung;
  switch (job.first().setting.ending) {
    case Ending::Watchdog:
      return "watchdog";
    case Ending::Stopped:
      return hung ? "stopped after silence" : "stopped in mid-step";
    case Ending::Finished:
      return "finished";
    case Ending::Copied:
      break;
  }
  return hung ? "ends in the hang" : "ends in mid-step";
}

std::string describe(const SyntheticJob& job, uint64_t seed) {
  const Planted& planted = job.truth.planted;
  std::string text =
      fmt::format("seed {}, {}: {} ranks, tp {} dp {} pp {} ep {}, NCCL {}", seed,
                  name_of(planted.fault), job.layout.world, job.layout.tensor, job.layout.data,
                  job.layout.pipeline, job.layout.expert, job.first().setting.release->name);
  if (planted.act != Fault::None) {
    const Group& group = job.layout.groups[static_cast<size_t>(planted.group)];
    text += fmt::format("; {}: ranks {} at call {} of {} {}", name_of(planted.act), planted.guilty,
                        planted.place, name_of(group.kind), group.ranks);
  }
  if (planted.damaged >= 0) text += fmt::format("; evidence of rank {} lost", planted.damaged);
  return text + fmt::format("; {}{}{}{}{}{}", name_of_end(job),
                            job.attempts.size() > 1 ? ", started again" : "",
                            job.first().setting.logs_calls ? "" : ", no calls",
                            job.first().setting.logs_init ? "" : ", no INIT",
                            job.shape.is_graph ? ", graphs" : "",
                            job.truth.must_name ? ", must be named" : "");
}

}  // namespace ncclog::testing

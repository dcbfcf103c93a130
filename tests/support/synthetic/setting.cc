#include "support/synthetic/setting.h"

#include <span>

namespace ncclog::testing {
namespace {

constexpr NcclRelease kReleases[] = {
    {.name = "2.18.3",
     .cuda = "12.2",
     .torch = TorchEra::V21,
     .names_function = false,
     .child_has_id = true,
     .gathers_in_bytes = true,
     .counts_network = false,
     .bare_banner = true},
    {.name = "2.20.5",
     .cuda = "12.4",
     .torch = TorchEra::V24,
     .names_function = false,
     .child_has_id = true,
     .gathers_in_bytes = true,
     .counts_network = false,
     .bare_banner = true},
    {.name = "2.21.5",
     .cuda = "12.4",
     .torch = TorchEra::V24,
     .child_has_id = true,
     .gathers_in_bytes = true,
     .counts_network = false,
     .bare_banner = true},
    {.name = "2.23.4", .cuda = "12.6", .counts_network = false},
    {.name = "2.26.2",
     .cuda = "12.8",
     .child_count = "splitCount",
     .counts_network = false,
     .stamps_all = true},
    {.name = "2.28.9",
     .cuda = "13.0",
     .child_count = "splitCount",
     .has_alltoall = true,
     .stamps_all = true},
    {.name = "2.30.7",
     .cuda = "13.1",
     .child_count = "childCount",
     .start_names_rank = true,
     .has_alltoall = true,
     .hides_destroy = true,
     .stamps_all = true},
};

/// torchrun's words for torchrun, Slurm's for Slurm.
Stopper stopper_of(LauncherPrefix prefix, Seeded& seeded) {
  constexpr Stopper kTorchrun[] = {Stopper::Torchrun,  Stopper::Torchrun,  Stopper::Torchrun,
                                   Stopper::Torchrun,  Stopper::Torchrun,  Stopper::Torchrun,
                                   Stopper::Interrupt, Stopper::Interrupt, Stopper::Nobody};
  constexpr Stopper kSlurm[] = {Stopper::Scancel,    Stopper::Scancel,   Stopper::TimeLimit,
                                Stopper::Preemption, Stopper::TimeLimit, Stopper::Nobody};
  constexpr Stopper kMpi[] = {Stopper::Mpirun, Stopper::Scancel, Stopper::Scancel,
                              Stopper::TimeLimit, Stopper::Nobody};
  switch (prefix) {
    case LauncherPrefix::MpirunTag:
    case LauncherPrefix::Prrte:
      return seeded.pick<Stopper>(kMpi);
    case LauncherPrefix::Srun:
      return seeded.pick<Stopper>(kSlurm);
    default:
      break;
  }
  return seeded.chance(25) ? seeded.pick<Stopper>(kSlurm) : seeded.pick<Stopper>(kTorchrun);
}

void draw_end(bool is_healthy, Setting& setting, Seeded& seeded) {
  constexpr Ending kHealthy[] = {
      Ending::Finished, Ending::Finished, Ending::Finished, Ending::Finished, Ending::Finished,
      Ending::Finished, Ending::Stopped,  Ending::Stopped,  Ending::Stopped,  Ending::Copied};
  constexpr Ending kFaulty[] = {
      Ending::Watchdog, Ending::Watchdog, Ending::Watchdog, Ending::Watchdog,
      Ending::Watchdog, Ending::Watchdog, Ending::Watchdog, Ending::Watchdog,
      Ending::Watchdog, Ending::Watchdog, Ending::Stopped,  Ending::Stopped,
      Ending::Stopped,  Ending::Stopped,  Ending::Stopped,  Ending::Copied};
  constexpr int kTimeouts[] = {20, 600, 1800};
  constexpr int kSilences[] = {17, 60, 240, 600, 900, 1700};
  setting.ending = seeded.pick<Ending>(is_healthy ? std::span<const Ending>(kHealthy)
                                                  : std::span<const Ending>(kFaulty));
  setting.stopper = stopper_of(setting.prefix, seeded);
  setting.aborts_at_end = seeded.chance(20);
  setting.is_noisy_at_end = seeded.chance(20);
  setting.restarts = seeded.chance(20);
  setting.says_restart = seeded.chance(50);
  setting.silence = seeded.pick<int>(kSilences);
  // Whoever stops the job is faster than the watchdog.
  setting.timeout = setting.ending == Ending::Stopped ? 1800 : seeded.pick<int>(kTimeouts);
}

}  // namespace

Setting make_setting(const Layout& layout, bool is_healthy, Seeded& seeded) {
  constexpr Files kFiles[] = {Files::PerProcess, Files::PerProcess, Files::PerHost, Files::Merged};
  constexpr LauncherPrefix kPrefixes[] = {
      LauncherPrefix::None,      LauncherPrefix::None, LauncherPrefix::TorchrunTee,
      LauncherPrefix::MpirunTag, LauncherPrefix::Srun, LauncherPrefix::Srun,
      LauncherPrefix::Prrte,     LauncherPrefix::Pod,  LauncherPrefix::CloudWatch};
  constexpr StepStyle kStyles[] = {StepStyle::Plain,    StepStyle::Megatron,  StepStyle::Logger,
                                   StepStyle::Logger,   StepStyle::Hydra,     StepStyle::Hydra,
                                   StepStyle::Trainer,  StepStyle::Lightning, StepStyle::MlPerf,
                                   StepStyle::DeepSpeed};
  constexpr double kPaces[] = {0.0001, 0.002, 0.01, 0.04};
  // Nobody trains in steps of a few milliseconds, and who reads the log knows the rhythm by steps.
  constexpr double kSteps[] = {0.08, 0.3, 0.3, 0.9, 0.9, 2.5};
  Setting setting;
  // Those that can stamp their lines are in use most.
  const std::span<const NcclRelease> releases = kReleases;
  setting.release = &seeded.pick<NcclRelease>(seeded.chance(65) ? releases.last(3) : releases);
  setting.files = seeded.pick<Files>(kFiles);
  setting.prefix = seeded.pick<LauncherPrefix>(kPrefixes);
  setting.steps = seeded.pick<StepStyle>(kStyles);
  setting.logs_init = !seeded.chance(2);
  setting.logs_calls = !seeded.chance(2);
  setting.logs_traces = seeded.chance(12);
  setting.stamps = seeded.chance(98);
  setting.shares_process = layout.world <= 64 && seeded.chance(6);
  setting.uses_ib = seeded.chance(50);
  setting.has_dump_signals = seeded.chance(80);
  setting.kill_is_seen = seeded.chance(70);
  setting.pace = seeded.pick<double>(kPaces);
  setting.step = seeded.pick<double>(kSteps);
  setting.first_pid = seeded.between(1000, 60000);
  // A label or a file of its own would be a process of its own.
  if (setting.shares_process) setting.prefix = LauncherPrefix::None;
  draw_end(is_healthy, setting, seeded);
  if (setting.shares_process && setting.ending == Ending::Watchdog) {
    setting.ending = Ending::Stopped;
    setting.timeout = 1800;
  }
  return setting;
}

}  // namespace ncclog::testing

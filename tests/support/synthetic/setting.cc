#include "support/synthetic/setting.h"

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

}  // namespace

std::span<const NcclRelease> nccl_releases() { return kReleases; }

Setting make_setting(const Layout& layout, Seeded& seeded) {
  constexpr Files kFiles[] = {Files::PerProcess, Files::PerProcess, Files::PerHost, Files::Merged};
  constexpr LauncherPrefix kPrefixes[] = {LauncherPrefix::None, LauncherPrefix::TorchrunTee,
                                          LauncherPrefix::MpirunTag, LauncherPrefix::Srun};
  constexpr Ending kEndings[] = {Ending::Watchdog,  Ending::Watchdog, Ending::Watchdog,
                                 Ending::Watchdog,  Ending::Watchdog, Ending::Watchdog,
                                 Ending::TimeLimit, Ending::Nothing};
  constexpr int kTimeouts[] = {20, 600, 1800};
  Setting setting;
  setting.release = &seeded.pick<NcclRelease>(kReleases);
  setting.files = seeded.pick<Files>(kFiles);
  setting.prefix = seeded.pick<LauncherPrefix>(kPrefixes);
  setting.ending = seeded.pick<Ending>(kEndings);
  setting.logs_init = !seeded.chance(8);
  setting.logs_traces = seeded.chance(12);
  setting.stamps = seeded.chance(25);
  setting.shares_process = layout.world <= 64 && seeded.chance(8);
  setting.uses_ib = seeded.chance(50);
  setting.has_dump_signals = seeded.chance(60);
  setting.kill_is_seen = seeded.chance(70);
  setting.timeout = seeded.pick<int>(kTimeouts);
  setting.first_pid = seeded.between(1000, 60000);
  if (setting.shares_process) {
    setting.ending = seeded.chance(50) ? Ending::TimeLimit : Ending::Nothing;
    // A label or a file of its own would be a process of its own.
    setting.prefix = LauncherPrefix::None;
  }
  return setting;
}

}  // namespace ncclog::testing

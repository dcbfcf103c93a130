#include "support/synthetic/synthetic_job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "support/synthetic/framework_lines.h"
#include "support/synthetic/nccl_lines.h"

namespace ncclog::testing {
namespace {

/// Most jobs are small, so that many can be judged; some are as large as jobs get.
int world_of(uint64_t seed, Seeded& seeded) {
  constexpr int kLarge[] = {256, 512, 1024};
  constexpr int kMiddle[] = {24, 32, 48, 64, 128};
  constexpr int kSmall[] = {2, 3, 4, 4, 6, 8, 8, 8, 12, 16, 16};
  if (seed % 80 == 79) return seeded.pick<int>(kLarge);
  return seeded.chance(12) ? seeded.pick<int>(kMiddle) : seeded.pick<int>(kSmall);
}

bool loses_evidence(Fault fault) {
  return fault == Fault::LostFile || fault == Fault::CutFile || fault == Fault::CollOff ||
         fault == Fault::LostMessage;
}

bool is_wrong_call(Fault act) {
  return act == Fault::WrongCount || act == Fault::WrongDatatype || act == Fault::WrongRoot ||
         act == Fault::WrongOp;
}

/// Fits the parts of a job to each other.
void reconcile(Fault fault, LoopShape& shape, Setting& setting) {
  shape.has_alltoall = shape.has_alltoall && setting.release->has_alltoall;
  if (loses_evidence(fault)) {
    setting.files = Files::PerProcess;
    setting.shares_process = false;
  }
  if (setting.shares_process && setting.files == Files::PerProcess) setting.stamps = false;
}

SimulationOptions simulation_options(const Planted& planted, const Setting& setting,
                                     Seeded& seeded) {
  SimulationOptions options;
  options.run_ahead = seeded.chance(30) ? 0 : seeded.between(1, 20);
  options.timeout = setting.timeout;
  const bool may_work = planted.act == Fault::WrongCount || planted.act == Fault::WrongDatatype ||
                        planted.act == Fault::WrongOp;
  if (may_work && seeded.chance(30)) options.works_for = seeded.chance(50) ? 1000000 : 1;
  return options;
}

SpokenLines all_lines(const SyntheticJob& job, Seeded& seeded) {
  SpokenLines lines;
  const auto add = [&](SpokenLines more) {
    std::move(more.begin(), more.end(), std::back_inserter(lines));
  };
  const Planted& planted = job.truth.planted;
  for (int rank = 0; rank < job.layout.world; ++rank) {
    const auto r = static_cast<size_t>(rank);
    const bool logs_calls = planted.fault != Fault::CollOff || planted.damaged != rank;
    add(nccl_lines(job.layout, job.setting, job.programs[r], job.run.happenings[r], rank,
                   logs_calls, seeded));
    add(marker_lines(job.programs[r], job.run.happenings[r], rank));
    const bool closes = job.run.hung && job.setting.ending == Ending::Watchdog &&
                        job.setting.logs_init && !job.setting.logs_traces &&
                        job.run.ends[r].is_in_call && rank % 3 == 0;
    if (closes) {
      add(closing_lines(job.layout, job.setting, rank, job.run.hung_at + job.setting.timeout + 61));
    }
  }
  if (job.run.hung) add(ending_lines(job.layout, job.setting, planted, job.run, seeded));
  return lines;
}

/// Of a job that is copied while it runs, what was printed until then.
void keep_until_copied(const JobRun& run, SpokenLines& lines, Seeded& seeded) {
  double made = 0;
  for (const auto& happenings : run.happenings) {
    for (const Happening& happening : happenings) {
      if (happening.kind == Happening::Kind::InitComplete) made = std::max(made, happening.time);
    }
  }
  const double part = static_cast<double>(seeded.below(1000)) / 1000;
  const double copied = made + (run.hung_at - made) * part;
  std::erase_if(lines, [&](const SpokenLine& line) { return line.time > copied; });
}

/// How many ranks of the fault's group did as they should and are seen to.
int honest_seen(const SyntheticJob& job) {
  const Planted& planted = job.truth.planted;
  const Group& group = job.layout.groups[static_cast<size_t>(planted.group)];
  return static_cast<int>(std::count_if(group.ranks.begin(), group.ranks.end(), [&](int rank) {
    return rank != planted.damaged &&
           std::find(planted.guilty.begin(), planted.guilty.end(), rank) == planted.guilty.end();
  }));
}

/// True if what the guilty did left a trace: the job hung, or calls that differ stand in the log.
bool is_marred(const SyntheticJob& job) {
  const Planted& planted = job.truth.planted;
  return planted.act != Fault::None && (job.run.hung || is_wrong_call(planted.act));
}

/// PyTorch up to 2.1 does not say which rank waits, unless the launcher labels its lines.
bool watchdogs_name_ranks(const Setting& setting) {
  return setting.release->torch != TorchEra::V21 || setting.prefix == LauncherPrefix::MpirunTag ||
         setting.prefix == LauncherPrefix::Srun;
}

/// Watchdogs fired. A call that differs and does no harm may as well be a line that was lost.
bool is_told(const SyntheticJob& job) {
  return job.setting.ending == Ending::Watchdog &&
         std::any_of(job.run.ends.begin(), job.run.ends.end(),
                     [](const RankEnd& end) { return end.is_in_call; });
}

bool must_name(const SyntheticJob& job) {
  const Planted& planted = job.truth.planted;
  const std::vector<int>& guilty = planted.guilty;
  if (!job.truth.is_marred || planted.act == Fault::Late || !job.setting.logs_init) return false;
  if (std::find(guilty.begin(), guilty.end(), planted.damaged) != guilty.end()) return false;
  // A scheduler that ends a job kills processes as well.
  if (planted.act == Fault::Killed && job.setting.kill_is_seen) {
    return !job.setting.shares_process && job.setting.ending != Ending::TimeLimit;
  }
  if (!is_told(job)) return false;
  const int honest = honest_seen(job);
  if (is_wrong_call(planted.act)) return honest > static_cast<int>(guilty.size());
  if (!watchdogs_name_ranks(job.setting) || planted.peer >= 0) return false;
  const bool comes_late = planted.act == Fault::Stop || planted.act == Fault::Killed;
  return comes_late ? honest > 0 : honest > static_cast<int>(guilty.size());
}

/// The lines do not say whether a Send lacks its Recv or is one too many.
std::vector<int> ends_of_message(const Planted& planted) {
  std::vector<int> ends = planted.guilty;
  if (planted.peer != ends.front()) ends.push_back(planted.peer);
  std::sort(ends.begin(), ends.end());
  return ends;
}

/// Where as many did one thing as the other, both sides may be named.
std::vector<int> sides(const SyntheticJob& job) {
  const Planted& planted = job.truth.planted;
  const bool comes_late = planted.act == Fault::Stop || planted.act == Fault::Killed ||
                          planted.act == Fault::Late || planted.act == Fault::StopMessage;
  if (!job.truth.is_marred || comes_late) return {};
  if (planted.peer >= 0) return ends_of_message(planted);
  if (honest_seen(job) > static_cast<int>(planted.guilty.size())) return {};
  return job.layout.groups[static_cast<size_t>(planted.group)].ranks;
}

void tell_truth(SyntheticJob& job) {
  Truth& truth = job.truth;
  std::set<std::string> hosts;
  for (const int rank : truth.planted.guilty) hosts.insert(host_name(job.layout, rank));
  truth.hosts.assign(hosts.begin(), hosts.end());
  truth.is_hung = job.run.hung;
  truth.is_marred = is_marred(job);
  truth.must_name = must_name(job);
  truth.sides = sides(job);
}

}  // namespace

SyntheticJob make_synthetic_job(uint64_t seed, Fault fault) {
  Seeded seeded(seed * 64 + static_cast<uint64_t>(fault));
  SyntheticJob job;
  job.layout = make_layout(world_of(seed, seeded), seeded);
  job.setting = make_setting(job.layout, seeded);
  job.shape = make_loop_shape(job.layout, seeded);
  reconcile(fault, job.shape, job.setting);
  job.programs = make_programs(job.layout, job.shape);
  job.truth.planted = plant(fault, job.layout, job.programs, seeded);
  job.run = simulate(job.layout, job.programs,
                     simulation_options(job.truth.planted, job.setting, seeded), seeded);
  SpokenLines lines = all_lines(job, seeded);
  job.setting.is_snapshot = fault == Fault::None && seeded.chance(15);
  if (job.setting.is_snapshot) keep_until_copied(job.run, lines, seeded);
  job.files = make_files(job.layout, job.setting, lines);
  if (loses_evidence(fault) && job.truth.planted.damaged >= 0) {
    damage_file(job.layout, job.setting, fault, job.truth.planted.damaged, job.files, seeded);
  }
  tell_truth(job);
  return job;
}

std::string describe(const SyntheticJob& job, uint64_t seed) {
  const Planted& planted = job.truth.planted;
  std::string text =
      fmt::format("seed {}, {}: {} ranks, tp {} dp {} pp {} ep {}, NCCL {}", seed,
                  name_of(planted.fault), job.layout.world, job.layout.tensor, job.layout.data,
                  job.layout.pipeline, job.layout.expert, job.setting.release->name);
  if (planted.act != Fault::None) {
    const Group& group = job.layout.groups[static_cast<size_t>(planted.group)];
    text += fmt::format("; {}: ranks {} at call {} of {} {}", name_of(planted.act), planted.guilty,
                        planted.place, name_of(group.kind), group.ranks);
  }
  if (planted.damaged >= 0) text += fmt::format("; evidence of rank {} lost", planted.damaged);
  return text + fmt::format("; {}{}{}", job.truth.is_hung ? "hung" : "finished",
                            job.truth.must_name ? ", must be named" : "",
                            job.setting.is_snapshot ? ", snapshot" : "");
}

}  // namespace ncclog::testing

// Does the generator print what NCCL prints, and is the truth that it tells the truth?

#include "support/synthetic/synthetic_job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "support/job_from_files.h"
#include "support/paths.h"
#include "support/synthetic/judge.h"

namespace ncclog::testing {
namespace {

constexpr uint64_t kSeeds = 40;

std::vector<Fault> with_none() {
  std::vector<Fault> faults(all_faults().begin(), all_faults().end());
  faults.push_back(Fault::None);
  return faults;
}

TEST(SyntheticJob, IsAFunctionOfItsSeed) {
  EXPECT_EQ(make_synthetic_job(5, Fault::Skip).files, make_synthetic_job(5, Fault::Skip).files);
  EXPECT_NE(make_synthetic_job(5, Fault::Skip).files, make_synthetic_job(6, Fault::Skip).files);
}

TEST(SyntheticJob, HealthyProgramsEnd) {
  for (uint64_t seed = 0; seed < affordable(4 * kSeeds); ++seed) {
    const SyntheticJob job = make_synthetic_job(seed, Fault::None);
    EXPECT_FALSE(job.first().run.hung) << describe(job, seed);
    for (const auto& ends : job.first().run.ends) EXPECT_EQ(ends.how, RankEnd::How::Finished);
  }
}

TEST(SyntheticJob, AStoppedRankIsBusyAndOthersWait) {
  int hung = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const SyntheticJob job = make_synthetic_job(seed, Fault::Stop);
    for (const int rank : job.truth.planted.guilty) {
      const RankEnd& end = job.first().run.ends[static_cast<size_t>(rank)];
      EXPECT_TRUE(end.how == RankEnd::How::Busy || end.how == RankEnd::How::Waiting)
          << describe(job, seed);
    }
    hung += job.first().run.hung ? 1 : 0;
  }
  EXPECT_GT(hung, static_cast<int>(kSeeds) * 8 / 10);
}

TEST(SyntheticJob, EveryLineIsRecognised) {
  for (const Fault fault : with_none()) {
    for (uint64_t seed = 0; seed < affordable(kSeeds); ++seed) {
      const SyntheticJob job = make_synthetic_job(seed, fault);
      if (job.layout.world > 64 || fault == Fault::CutFile) continue;
      const Job read = job_from_files(job.files);
      EXPECT_EQ(read.losses.unrecognised, 0u) << describe(job, seed);
      EXPECT_EQ(read.losses.unreadable, 0u) << describe(job, seed);
    }
  }
}

TEST(SyntheticJob, EveryFaultFindsItsPlace) {
  for (const Fault fault : all_faults()) {
    std::set<GroupKind> kinds;
    for (uint64_t seed = 0; seed < affordable(kSeeds); ++seed) {
      const SyntheticJob job = make_synthetic_job(seed, fault);
      const Planted& planted = job.truth.planted;
      if (planted.group < 0) continue;
      kinds.insert(job.layout.groups[static_cast<size_t>(planted.group)].kind);
    }
    EXPECT_GE(kinds.size(), 2u) << name_of(fault);
  }
}

/// Global ranks of a communicator as the job's lines show them, by rank in it.
std::vector<int> global_ranks(const Job& job, const Communicator& comm) {
  std::vector<int> ranks;
  for (const CommRank& rank : comm.ranks) {
    ranks.push_back(rank.process < 0 ? -1 : job.processes[static_cast<size_t>(rank.process)].rank);
  }
  return ranks;
}

using Members = std::vector<int>;

/// How often each set of ranks made a communicator, as the programs say and as the job shows.
std::map<Members, int> groups_made(const SyntheticJob& job) {
  std::map<Members, int> made;
  for (size_t r = 0; r < job.first().programs.size(); ++r) {
    for (const Step& step : job.first().programs[r]) {
      if (step.kind != Step::Kind::Init) continue;
      const Group& group = job.layout.groups[static_cast<size_t>(step.group)];
      if (group.ranks.front() == static_cast<int>(r)) ++made[group.ranks];
    }
  }
  return made;
}

std::map<Members, int> groups_seen(const Job& job) {
  std::map<Members, int> seen;
  for (const Communicator& comm : job.communicators) ++seen[global_ranks(job, comm)];
  return seen;
}

uint64_t calls_made(const SyntheticJob& job, int rank) {
  uint64_t calls = 0;
  for (const Step& step : job.first().programs[static_cast<size_t>(rank)]) {
    if (!step.is_replayed) calls += step.calls.size();
  }
  return calls;
}

TEST(SyntheticJob, ReadsAsTheJobThatWasMade) {
  int checked = 0;
  for (uint64_t seed = 0; seed < 3 * kSeeds; ++seed) {
    const SyntheticJob made = make_synthetic_job(seed, Fault::None);
    const Setting& setting = made.first().setting;
    if (!setting.logs_init || setting.shares_process ||
        made.first().setting.ending != Ending::Finished)
      continue;
    if (made.layout.world > 64) continue;
    ++checked;
    const Job job = job_from_files(made.files);
    EXPECT_EQ(job.nranks, made.layout.world) << describe(made, seed);
    EXPECT_EQ(job.nhosts, made.layout.hosts()) << describe(made, seed);
    EXPECT_EQ(groups_seen(job), groups_made(made)) << describe(made, seed);
    std::map<int, uint64_t> calls;
    for (const Communicator& comm : job.communicators) {
      for (const CommRank& rank : comm.ranks) {
        calls[job.processes[static_cast<size_t>(rank.process)].rank] += rank.calls;
      }
    }
    for (const auto& [rank, count] : calls) {
      EXPECT_EQ(count, setting.logs_calls ? calls_made(made, rank) : 0)
          << "rank " << rank << ", " << describe(made, seed);
    }
  }
  EXPECT_GT(checked, static_cast<int>(kSeeds));
}

TEST(SyntheticJob, EveryEndIsMade) {
  std::map<std::string, int> ends;
  int again = 0;
  for (uint64_t seed = 0; seed < 4 * kSeeds; ++seed) {
    const SyntheticJob job = make_synthetic_job(seed, fault_of(seed));
    ++ends[std::string(name_of_end(job))];
    again += job.attempts.size() > 1 ? 1 : 0;
  }
  for (const std::string end : {"watchdog", "stopped after silence", "stopped in mid-step",
                                "finished", "ends in the hang", "ends in mid-step"}) {
    EXPECT_GT(ends[end], 0) << end;
  }
  EXPECT_GT(again, 10);
}

TEST(SyntheticJob, DatesShowWhetherTheJobStoodStill) {
  Setting setting;
  setting.stopper = Stopper::Torchrun;
  SpokenLines lines;
  for (const double time : {1.0, 1.4, 1.8, 2.2, 2.6}) {
    lines.push_back({time, 0, SpokenLine::Voice::Worker, "step", true});
  }
  EXPECT_EQ(stillness_of(setting, false, lines, 3.0), Stillness::Worked);
  EXPECT_EQ(stillness_of(setting, false, lines, 20.0), Stillness::Stood);
  EXPECT_EQ(stillness_of(setting, false, lines, 6.0), Stillness::Unknown);
  setting.stopper = Stopper::Nobody;
  EXPECT_EQ(stillness_of(setting, false, lines, 20.0), Stillness::Unknown);
  setting.stopper = Stopper::Torchrun;
  // A step whose time nobody printed; calls that are dated would have shown it.
  lines.push_back({19.0, 0, SpokenLine::Voice::Worker, "step", false});
  EXPECT_EQ(stillness_of(setting, false, lines, 20.0), Stillness::Unknown);
  EXPECT_EQ(stillness_of(setting, true, lines, 20.0), Stillness::Stood);
  for (SpokenLine& line : lines) line.is_dated = false;
  EXPECT_EQ(stillness_of(setting, false, lines, 20.0), Stillness::Unknown);
}

/// A report with one finding, as far as the judge reads it.
std::string report_with(std::string_view id, std::string_view severity, std::string_view role,
                        const std::vector<int>& ranks, std::string_view host,
                        std::string_view status) {
  return fmt::format(
      R"({{"verdict": {{"status": "{}", "headline": ""}}, "findings": [{{"id": "{}", )"
      R"("severity": "{}", "role": "{}", "message": "", "ranks": [{}], "hosts": ["{}"]}}]}})",
      status, id, severity, role, fmt::join(ranks, ","), host);
}

TEST(SyntheticJob, AJudgeFindsWhatIsWrong) {
  SyntheticJob job;
  job.truth = {.planted = {.fault = Fault::Stop, .act = Fault::Stop, .guilty = {5}, .group = 0},
               .hosts = {"node-a"},
               .is_hung = true,
               .is_marred = true,
               .must_name = true,
               .verdicts = {"problem"}};
  struct Row {
    std::string_view id;
    std::string_view role;
    std::vector<int> ranks;
    std::string_view host;
    std::string_view status;
    std::string_view wrong;  ///< Empty: nothing is.
    bool names;
  };
  const Row kRows[] = {
      {"collective-rank-missing", "cause", {5}, "node-a", "problem", "", true},
      {"collective-rank-missing", "cause", {5}, "node-a", "clean", kOverClaimsClean, true},
      {"collective-rank-missing", "cause", {4}, "node-a", "problem", kInnocentNamed, false},
      {"collective-rank-missing", "cause", {4, 5}, "node-a", "problem", kInnocentNamed, false},
      {"collective-rank-missing", "cause", {}, "node-b", "problem", kInnocentNamed, false},
      {"mismatched-collectives", "cause", {5}, "node-a", "problem", kWrongId, false},
      {"socket-instead-of-ib", "advice", {5}, "node-a", "problem", kWrongId, false},
      {"job-stopped-while-stalled", "symptom", {}, "node-b", "problem", "", false},
      {"job-stopped-while-stalled", "cause", {4}, "node-a", "problem", kInnocentNamed, false},
      {"watchdog-timeout-unexplained", "symptom", {0, 1}, "node-a", "problem", "", false},
  };
  for (const Row& row : kRows) {
    const Judgement judgement =
        judge(job, report_with(row.id, "error", row.role, row.ranks, row.host, row.status));
    const std::string_view wrong = judgement.wrong.empty() ? "" : judgement.wrong.front().kind;
    EXPECT_EQ(wrong, row.wrong) << row.id << " " << ranges_text(row.ranks);
    EXPECT_EQ(judgement.names_guilty, row.names) << row.id << " " << ranges_text(row.ranks);
  }
}

}  // namespace
}  // namespace ncclog::testing

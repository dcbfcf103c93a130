// Jobs that hang, or seem to, while they initialise: whoever is named, is guilty.
//
// A seed decides the release, hosts, ranks, how lines lie in files, what happens, how the job ends
// and which evidence is lost. Lost evidence may cost the answer, and never turns it against others.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "app/read/read_job.h"
#include "base/text.h"
#include "input/find_inputs.h"
#include "rules/evaluate.h"
#include "rules/load_rules.h"
#include "support/paths.h"
#include "support/synthetic/seeded.h"
#include "support/temp_dir.h"

namespace ncclog::testing {
namespace {

enum class Course {
  Completes,  ///< Nothing is wrong.
  Stalls,     ///< All begin, none completes.
  Lags,       ///< One finds its network and does not begin.
  Absent,     ///< One never calls NCCL.
  Partial,    ///< All complete but one.
};

enum class End { None, Cancelled, Stuck };

enum class Damage { None, LostFile, LostHost, OnlyFirst };

struct HangingJob {
  std::string version;
  int nranks = 2;
  int ranks_per_host = 1;
  Course course = Course::Completes;
  int culprit = -1;
  End end = End::None;
  bool merged = false;  ///< All lines in one stream, with mpirun's tags.
  Damage damage = Damage::None;
  int damaged = -1;
  std::map<std::string, std::string> files;

  bool prints_start() const { return version != "2.10.3"; }
  std::string describe(uint64_t seed) const {
    return fmt::format(
        "seed {}: NCCL {}, {} ranks, {} a host, course {}, culprit {}, end {}, "
        "merged {}, damage {} of {}",
        seed, version, nranks, ranks_per_host, static_cast<int>(course), culprit,
        static_cast<int>(end), merged, static_cast<int>(damage), damaged);
  }
};

std::string host_of(const HangingJob& job, int rank) {
  return fmt::format("gpu{:02}", rank / job.ranks_per_host);
}

void say(HangingJob& job, int rank, std::string_view message) {
  const int pid = 7000 + rank;
  const std::string file =
      job.merged ? "job.log" : fmt::format("nccl.{}.{}.log", host_of(job, rank), pid);
  const std::string tag = job.merged ? fmt::format("[1,{}]<stdout>:", rank) : "";
  job.files[file] += fmt::format("{}{}:{}:{} [{}] NCCL INFO {}\n", tag, host_of(job, rank), pid,
                                 pid, rank % job.ranks_per_host, message);
}

void say_phase(HangingJob& job, int rank, std::string_view phase) {
  const int dev = rank % job.ranks_per_host;
  const std::string_view id = job.prints_start() ? " commId 0x6f21c0d94be37a58" : "";
  const std::string nvml = job.prints_start() ? fmt::format(" nvmlDev {}", dev) : "";
  say(job, rank,
      fmt::format("comm 0x55d0c{:03x}0 rank {} nranks {} cudaDev {}{} busId {:x}000{} - Init {}",
                  rank, rank, job.nranks, dev, nvml, dev + 1, id, phase));
}

void play(HangingJob& job) {
  for (int rank = 0; rank < job.nranks; ++rank) {
    const bool is_culprit = rank == job.culprit;
    if (is_culprit && job.course == Course::Absent) continue;
    say(job, rank, "Bootstrap : Using eth0:10.0.0.4<0>");
    say(job, rank, fmt::format("NCCL version {}+cuda12.4", job.version));
    if (is_culprit && job.course == Course::Lags) continue;
    say(job, rank, "Using network Socket");
    if (job.prints_start()) say_phase(job, rank, "START");
  }
  const bool completes = job.course == Course::Completes || job.course == Course::Partial;
  for (int rank = 0; completes && rank < job.nranks; ++rank) {
    say(job, rank, fmt::format("Trees [0] -1/-1/-1->{}->-1", rank));
    if (rank != job.culprit) say_phase(job, rank, "COMPLETE");
  }
}

void stop(HangingJob& job) {
  std::string& out = job.files[job.merged ? "job.log" : "stdout.log"];
  if (job.end == End::Cancelled) {
    out +=
        "slurmstepd: error: *** JOB 81 ON gpu00 CANCELLED AT 2026-02-03T04:05:06 DUE TO TIME "
        "LIMIT ***\n";
  } else if (job.end == End::Stuck) {
    out +=
        "[rank0]:[E203 04:05:06.101002003 ProcessGroupNCCL.cpp:1174] [PG ID 0 PG GUID "
        "0(default_pg) Rank 0] ProcessGroupNCCL's watchdog got stuck for 480 seconds without "
        "making progress in monitoring enqueued collectives.\n";
  }
}

void damage(HangingJob& job, Seeded& seeded) {
  job.damaged = seeded.between(0, job.nranks - 1);
  const auto file_of = [&](int rank) {
    return fmt::format("nccl.{}.{}.log", host_of(job, rank), 7000 + rank);
  };
  for (int rank = 0; rank < job.nranks; ++rank) {
    const bool is_lost =
        (job.damage == Damage::LostFile && rank == job.damaged) ||
        (job.damage == Damage::LostHost && host_of(job, rank) == host_of(job, job.damaged)) ||
        (job.damage == Damage::OnlyFirst && rank > 0);
    if (is_lost) job.files.erase(file_of(rank));
  }
}

HangingJob make_job(uint64_t seed) {
  Seeded seeded(seed);
  HangingJob job;
  constexpr const char* kVersions[] = {"2.10.3", "2.20.5", "2.28.9"};
  job.version = kVersions[seeded.below(3)];
  job.ranks_per_host = seeded.between(1, 8);
  job.nranks = std::max(2, job.ranks_per_host * seeded.between(1, 4));
  job.course = static_cast<Course>(seeded.below(5));
  const bool has_culprit = job.course != Course::Completes && job.course != Course::Stalls;
  if (has_culprit) job.culprit = seeded.between(0, job.nranks - 1);
  job.end = static_cast<End>(seeded.below(3));
  job.merged = seeded.chance(40);
  job.damage = seeded.chance(50) ? Damage::None : static_cast<Damage>(seeded.below(4));
  play(job);
  stop(job);
  if (job.damage != Damage::None) damage(job, seeded);
  return job;
}

/// No line of the rank is there, and neither is its part in the merged stream.
bool is_silent(const HangingJob& job, int rank) {
  const std::string process = fmt::format(":{0}:{0} ", 7000 + rank);
  return std::none_of(job.files.begin(), job.files.end(), [&](const auto& file) {
    return file.second.find(process) != std::string::npos;
  });
}

/// By its rank, or by its pid where no line tells a rank.
bool names_culprit(const HangingJob& job, const Finding& finding) {
  if (!finding.ranks.empty()) return finding.ranks == std::vector<int>{job.culprit};
  return finding.subject.pid == 7000 + job.culprit;
}

bool is_true(const HangingJob& job, const Finding& finding) {
  const bool stopped = job.end != End::None;
  if (finding.id == "rank-missing-at-init") {
    return stopped && (job.course == Course::Lags || job.course == Course::Absent) &&
           names_culprit(job, finding);
  }
  if (finding.id == "rank-unseen-at-init") {
    return stopped && finding.ranks.size() == 1 && is_silent(job, finding.ranks.front()) &&
           job.course != Course::Completes;
  }
  if (finding.id == "init-partial-complete") {
    return stopped && job.course == Course::Partial && names_culprit(job, finding);
  }
  if (finding.id == "bootstrap-stalled-all-present") {
    return stopped && job.course == Course::Stalls && finding.ranks.empty();
  }
  return true;
}

/// What has to be found where nothing is lost; empty: nothing has to.
std::string owed(const HangingJob& job) {
  if (job.end == End::None || job.damage != Damage::None || job.nranks < 4) return {};
  if (job.course == Course::Lags) return "rank-missing-at-init";
  if (job.course == Course::Stalls && job.prints_start()) return "bootstrap-stalled-all-present";
  if (job.course == Course::Absent && job.prints_start() && job.ranks_per_host >= 3) {
    return "rank-unseen-at-init";
  }
  const bool proves = job.end == End::Stuck && job.version != "2.28.9";
  if (job.course == Course::Partial && proves && job.merged) return "init-partial-complete";
  return {};
}

class Analyst {
 public:
  Diagnosis analyze(const HangingJob& hanging) const {
    const TempDir folder;
    for (const auto& [name, text] : hanging.files) folder.add(name, text);
    const auto inputs = find_inputs(std::vector{folder.path().string()});
    return evaluate(rulebook_, read_job(inputs, {.threads = 1, .matcher = matcher_}));
  }

 private:
  Rulebook rulebook_ = load_rulebook();
  LineMatcher matcher_ = make_line_matcher(rulebook_);
};

const uint64_t kHangSeeds = is_sanitized() ? 100 : 600;

TEST(InitHangProperty, NamesTheGuiltyAndNobodyElse) {
  const Analyst analyst;
  uint64_t owing = 0;
  uint64_t found = 0;
  for (uint64_t seed = 0; seed < kHangSeeds; ++seed) {
    const HangingJob job = make_job(seed);
    std::set<std::string> ids;
    for (const Finding& finding : analyst.analyze(job).findings) {
      if (finding.severity == Severity::Info) continue;
      ids.insert(finding.id);
      EXPECT_TRUE(is_true(job, finding)) << job.describe(seed) << "\n  " << finding.id << " "
                                         << ranges_text(finding.ranks) << ": " << finding.message;
    }
    const std::string id = owed(job);
    if (id.empty()) continue;
    ++owing;
    found += ids.contains(id);
    EXPECT_TRUE(ids.contains(id)) << job.describe(seed) << "\n  not found: " << id;
  }
  EXPECT_GT(owing, kHangSeeds / 20);
  EXPECT_EQ(found, owing);
}

}  // namespace
}  // namespace ncclog::testing

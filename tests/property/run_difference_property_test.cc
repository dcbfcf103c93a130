// Two runs of one job differ in nothing, whatever hosts, pids and pointers they have, and however
// their logs are kept. Real differences are found in both directions.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "app/commands/analyze.h"
#include "app/read/read_job.h"
#include "base/text.h"
#include "input/find_inputs.h"
#include "report/difference/difference_report.h"
#include "rules/evaluate.h"
#include "rules/load_rules.h"
#include "support/compressed.h"
#include "support/paths.h"
#include "support/renamed_run.h"
#include "support/synthetic/synthetic_job.h"
#include "support/temp_dir.h"

namespace ncclog::testing {
namespace {

/// Reports on whole runs, by one rulebook.
class Reporter {
 public:
  Report of(const std::vector<std::string>& paths) const {
    Report report;
    report.job = read_job(find_inputs(paths), {.threads = 1, .matcher = matcher_});
    report.diagnosis = evaluate(rulebook_, report.job);
    return report;
  }

  Report of(const RunFiles& files) const {
    const TempDir folder;
    for (const auto& [name, text] : files) folder.add(name, text);
    return of(std::vector{folder.path().string()});
  }

  Report of_sample(const std::string& name) const {
    return of(std::vector{sample_logs(name).string()});
  }

 private:
  Rulebook rulebook_ = load_rulebook();
  LineMatcher matcher_ = make_line_matcher(rulebook_);
};

const Reporter& reporter() {
  static const Reporter kReporter;
  return kReporter;
}

/// The rows, one a line; empty if the runs differ in nothing at all.
std::string rows_text(const Report& good, const Report& bad) {
  std::string out;
  for (const DifferenceRow& row : difference_of(good, bad).rows) {
    out += std::string(to_string(row.state)) + " " + row_sentence(row) + "\n";
  }
  return out;
}

TEST(RunDifferenceProperty, NoRunDiffersFromItself) {
  for (const std::string& name : sample_log_names()) {
    const Report report = reporter().of_sample(name);
    EXPECT_EQ(rows_text(report, report), "") << name;
  }
}

const char* const kWholeRuns[] = {"healthy-1node-8gpu", "healthy-2node-socket", "all-subsys",
                                  "call-trace",         "timestamps",           "p2p-disabled",
                                  "shm-too-small",      "rank-env-differs",     "size-mismatch",
                                  "timeout-rank-skips", "torchrun-tee"};

TEST(RunDifferenceProperty, TheSameRunOnOtherHostsDiffersInNothing) {
  for (const char* name : kWholeRuns) {
    const Report here = reporter().of_sample(name);
    const RunFiles files = sample_files(name);
    const RunFiles elsewhere = renamed(files, here.job.hosts);
    ASSERT_NE(files, elsewhere) << name;
    EXPECT_EQ(rows_text(here, reporter().of(elsewhere)), "") << name;
  }
}

TEST(RunDifferenceProperty, ARenamedRunThatAlsoDiffersIsFound) {
  RunFiles files = renamed(sample_files("timestamps"), {"gpu-node-01"});
  for (auto& [name, text] : files) {
    size_t at = 0;
    while ((at = text.find("via P2P/CUMEM", at)) != std::string::npos) {
      text.replace(at, 13, "via SHM/direct");
    }
  }
  const std::string rows = rows_text(reporter().of_sample("timestamps"), reporter().of(files));
  EXPECT_EQ(rows,
            "differs transport within a host: P2P/CUMEM (4) in GOOD, SHM/direct (4) in BAD\n");
}

/// All files as one, a line of each in turn.
std::string interleaved(const RunFiles& files) {
  std::vector<std::vector<std::string_view>> lines;
  size_t most = 0;
  for (const auto& [name, text] : files) {
    lines.push_back(split(text, '\n'));
    if (!lines.back().empty() && lines.back().back().empty()) lines.back().pop_back();
    most = std::max(most, lines.back().size());
  }
  std::string all;
  for (size_t i = 0; i < most; ++i) {
    for (const auto& of_file : lines) {
      if (i < of_file.size()) all += std::string(of_file[i]) + "\n";
    }
  }
  return all;
}

TEST(RunDifferenceProperty, HowTheLogsAreKeptMakesNoDifference) {
  for (const char* name : {"healthy-2node-socket", "healthy-1node-8gpu", "p2p-disabled"}) {
    RunFiles files = sample_files(name);
    const Report apart = reporter().of(files);
    RunFiles packed;
    for (const auto& [path, text] : files) {
      packed.emplace_back(path + ".gz", compressed(Compression::Gzip, text));
    }
    EXPECT_EQ(rows_text(apart, reporter().of(packed)), "") << name;
    // What a rank prints without naming itself belongs to nobody in a common file.
    std::erase_if(files, [](const auto& file) { return file.first.ends_with(".log"); });
    EXPECT_EQ(
        rows_text(reporter().of(files), reporter().of(RunFiles{{"all.txt", interleaved(files)}})),
        "")
        << name;
  }
}

/// Topic, name and state of each row, and which sides say something.
using Rows = std::multiset<std::tuple<Topic, std::string, RowState, bool, bool>>;

Rows rows_of(const RunDifference& difference, bool turned) {
  Rows rows;
  for (const DifferenceRow& row : difference.rows) {
    const bool good = !row.good.what.empty();
    const bool bad = !row.bad.what.empty();
    rows.emplace(row.topic, row.name, row.state, turned ? bad : good, turned ? good : bad);
  }
  return rows;
}

TEST(RunDifferenceProperty, TurnedRoundTheSameThingsDiffer) {
  const std::vector<std::string> names = sample_log_names();
  std::map<std::string, Report> reports;
  for (const std::string& name : names) reports.emplace(name, reporter().of_sample(name));
  for (size_t i = 0; i < names.size(); ++i) {
    const Report& a = reports.at(names[i]);
    const Report& b = reports.at(names[(i + 7) % names.size()]);
    const RunDifference forth = difference_of(a, b);
    const RunDifference back = difference_of(b, a);
    EXPECT_EQ(rows_of(forth, false), rows_of(back, true)) << names[i];
    EXPECT_EQ(forth.alike, back.alike) << names[i];
    EXPECT_EQ(status_of(forth), status_of(back)) << names[i];
  }
}

TEST(RunDifferenceProperty, SyntheticRunsOnOtherHostsDifferInNothing) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const SyntheticJob job = make_synthetic_job(seed, Fault::None);
    if (job.layout.world > 64) continue;
    const bool plain = std::none_of(job.files.begin(), job.files.end(),
                                    [](const auto& file) { return file.first.ends_with(".gz"); });
    if (!plain) continue;
    const Report here = reporter().of(job.files);
    const Report elsewhere = reporter().of(renamed(job.files, here.job.hosts));
    EXPECT_EQ(rows_text(here, elsewhere), "") << describe(job, seed);
  }
}

}  // namespace
}  // namespace ncclog::testing

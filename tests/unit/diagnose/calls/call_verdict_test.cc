#include "diagnose/calls/call_verdict.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "app/read/read_example.h"
#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "import/import.h"
#include "model/flight_recorder.h"
#include "support/call_log.h"
#include "support/dump_line.h"
#include "support/paths.h"

namespace ncclog {
namespace {

using testing::CallLog;
using testing::DumpLine;

constexpr std::string_view kLate = "job.recorder_late";
constexpr std::string_view kMismatch = "job.recorder_mismatch";
constexpr std::string_view kBehind = "job.recorder_behind";

FactValue answer(std::string_view fact, const std::string& text) {
  const Job job = read_example(text, {});
  return find_fact(fact)->ask(job, job_instance(job));
}

/// "yes", "no" or "unknown", and behind it the ranks that the fact names.
std::string guilty(std::string_view fact, const std::string& text) {
  const Job job = read_example(text, {});
  const FactValue value = find_fact(fact)->ask(job, job_instance(job));
  std::vector<int> ranks = value.ranks;
  for (const int p : value.processes) ranks.push_back(job.processes[static_cast<size_t>(p)].rank);
  return fact_text(value) + (ranks.empty() ? "" : " " + ranges_text(ranks));
}

/// A rank of three that waits in its third collective.
DumpLine waits() { return DumpLine(3).done(1).done(2).open(3); }

/// A rank of three that made two and waits for nobody.
DumpLine idle() { return DumpLine(3).done(1).done(2); }

/// `nranks` ranks that made `calls` collectives on one communicator, each logged.
CallLog logged(int nranks, int calls) {
  CallLog log;
  for (int rank = 0; rank < nranks; ++rank) log.init(rank, nranks, 1);
  for (int call = 0; call < calls; ++call) {
    for (int rank = 0; rank < nranks; ++rank) log.call(rank, 1);
  }
  return log;
}

struct RecorderCase {
  std::string_view what;
  std::string_view fact;
  std::string text;
  std::string_view answer;
};

std::vector<RecorderCase> cases() {
  const std::string two_wait = waits().text() + waits().text();
  return {
      {"two against two", kMismatch,
       DumpLine(4).open(1).text() + DumpLine(4).open(1).text() + DumpLine(4).open(1, 256).text() +
           DumpLine(4).open(1, 256).text(),
       "yes"},
      {"then the dumps need not say it again", kLate,
       logged(3, 2).call(0, 1).call(1, 1).timeout(0, 3).text() + two_wait + idle().text(),
       "unknown"},
  };
}

TEST(CallVerdict, NameOnlyWhomTheDumpsProve) {
  for (const RecorderCase& row : cases()) {
    EXPECT_EQ(guilty(row.fact, row.text), row.answer) << row.what;
  }
}

TEST(CallVerdict, WhatDumpsAddToTheLinesIsSetApart) {
  const std::string dumps = waits().text() + waits().text() + idle().text();
  const std::string told = "by the Flight Recorder's dumps, ranks 0,1 called collective 3 of ";
  EXPECT_EQ(answer(kBehind, dumps).what.substr(0, told.size()), told);
  const std::string lines = logged(3, 2).call(0, 1).call(1, 1).text();
  EXPECT_EQ(answer(kBehind, lines + dumps).what.substr(0, told.size() + 2), "; " + told);
}

using testing::read_file;
using testing::source_dir;

/// The dumps of a real run, without its logs.
Job dumps_of(const std::string& sample) {
  Job job;
  for (int rank = 0; rank < 8; ++rank) {
    const auto path =
        source_dir() / "sample_logs" / sample / "logs" / ("fr_" + std::to_string(rank));
    if (!std::filesystem::exists(path)) continue;
    job.flight_recorders.push_back(import_flight_recorder(read_file(path), path.string()).value);
  }
  return job;
}

FactValue fact_of(std::string_view fact, const Job& job) {
  return find_fact(fact)->ask(job, job_instance(job));
}

TEST(CallVerdict, OneSizeOfFourIsNamed) {
  const Job job = dumps_of("size-mismatch");
  const CallVerdict verdict = verdict_of(job, CallSource::Recorder);
  ASSERT_EQ(verdict.kind, VerdictKind::Mismatch);
  EXPECT_EQ(ranks_of(*verdict.account, verdict.named), std::vector<int>{3});
  EXPECT_EQ(verdict.number, 20U);
  const std::string words = fact_of(kMismatch, job).what;
  EXPECT_NE(words.find("collective 20 of process group default_pg (4 ranks)"), words.npos) << words;
  EXPECT_NE(words.find("train_rank.py:54"), words.npos) << words;
  EXPECT_NE(words.find("train_rank.py:50"), words.npos) << words;
}

TEST(CallVerdict, ARankThatSkippedACallIsNamedOnceSomebodyGaveUp) {
  Job job = dumps_of("timeout-rank-skips");
  EXPECT_EQ(verdict_of(job, CallSource::Recorder).kind, VerdictKind::Nothing);
  EXPECT_EQ(fact_of(kBehind, job).what,
            "by the Flight Recorder's dumps, ranks 0-4,6,7 called collective 29 of process group "
            "default_pg (8 ranks), AllReduce "
            "of 1048576 Float, at /workspace/pretrain/src/train_rank.py:54, and rank 5 had not "
            "when the dumps were written");
  job.flight_recorders.front().entries.back().retired = true;
  job.answers = {};
  const CallVerdict verdict = verdict_of(job, CallSource::Recorder);
  ASSERT_EQ(verdict.kind, VerdictKind::Late);
  EXPECT_EQ(ranks_of(*verdict.account, verdict.named), std::vector<int>{5});
}

TEST(CallVerdict, ARankWithoutADumpIsNeverLate) {
  for (const std::string sample : {"device-changed", "rank-killed"}) {
    Job job = dumps_of(sample);
    ASSERT_EQ(job.flight_recorders.size(), 3U) << sample;
    job.flight_recorders.front().entries.back().retired = true;
    EXPECT_EQ(verdict_of(job, CallSource::Recorder).kind, VerdictKind::Nothing) << sample;
    EXPECT_FALSE(fact_of(kBehind, job).known()) << sample;
  }
}

}  // namespace
}  // namespace ncclog

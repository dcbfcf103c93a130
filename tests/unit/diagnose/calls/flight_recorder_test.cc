#include "diagnose/calls/flight_recorder.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "app/read/read_example.h"
#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "import/import.h"
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
constexpr std::string_view kAgrees = "job.recorder_agrees";
constexpr std::string_view kContradicts = "job.recorder_contradicts";
constexpr std::string_view kLacks = "job.log_lacks_calls";
constexpr std::string_view kMissing = "job.rank_missing_in_collective";

FactValue answer(std::string_view fact, const std::string& text) {
  const Job job = read_example(text, {});
  return find_fact(fact)->derive(job, job_instance(job));
}

/// "yes", "no" or "unknown", and behind it the ranks that the fact names.
std::string guilty(std::string_view fact, const std::string& text) {
  const Job job = read_example(text, {});
  const FactValue value = find_fact(fact)->derive(job, job_instance(job));
  std::vector<int> ranks = value.ranks;
  for (const int p : value.processes) ranks.push_back(job.processes[static_cast<size_t>(p)].rank);
  return fact_text(value) + (ranks.empty() ? "" : " " + ranges_text(ranks));
}

std::string timeout(int rank, int seq) { return CallLog().timeout(rank, seq).text(); }

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
      {"who did not call what the others wait in", kLate, timeout(0, 3) + two_wait + idle().text(),
       "yes 2"},
      {"a call that the watchdog is done with is a limit, too", kLate,
       waits().with(",\"retired\":true").text() + waits().text() + idle().text(), "yes 2"},
      {"without a sign that somebody gave up nobody is named", kLate, two_wait + idle().text(),
       "unknown"},
      {"a limit in another call is none in this one", kLate,
       timeout(0, 9) + two_wait + idle().text(), "unknown"},
      {"but it is told who was behind", kBehind, two_wait + idle().text(), "yes"},
      {"a rank without a dump is unknown", kLate, timeout(0, 3) + two_wait, "unknown"},
      {"and is not behind", kBehind, two_wait, "unknown"},
      {"beside an unknown rank nobody is named", kLate,
       timeout(0, 3) + DumpLine(4).done(2).open(3).text() + DumpLine(4).done(2).open(3).text() +
           DumpLine(4).done(2).text(),
       "unknown"},
      {"a rank whose own call is open waits itself", kLate,
       timeout(0, 3) + two_wait + DumpLine(3).done(1).open(2).text(), "unknown"},
      {"a dump of an earlier run says nothing", kLate,
       timeout(0, 3) + two_wait + DumpLine(3).later_s(-86400).done(1).done(2).text(), "unknown"},
      {"a ring that forgot the beginning", kLate,
       timeout(0, 903) + DumpLine(3).done(901).done(902).open(903).text() +
           DumpLine(3).done(902).open(903).text() + DumpLine(3).done(901).done(902).text(),
       "yes 2"},
      {"a ring that forgot too much", kLate,
       timeout(0, 903) + DumpLine(3).open(903).text() + DumpLine(3).open(903).text() +
           DumpLine(3).done(902).text(),
       "unknown"},
      {"where most are behind, one ran ahead", kLate,
       timeout(0, 3) + waits().text() + idle().text() + idle().text(), "unknown"},
      {"point-to-point calls move the numbers", kLate,
       timeout(0, 3) + two_wait + idle().with(",\"p2p_seq_id\":1").text(), "unknown"},
      {"coalesced calls, too", kLate,
       timeout(0, 3) + two_wait + DumpLine(3).done(1).done(2, 8, "coalesced").text(), "unknown"},
      {"other operations before it: the numbers may mean other calls", kLate,
       timeout(0, 3) + two_wait + DumpLine(3).done(1).done(2).with(",\"op_id\":7").text(),
       "unknown"},
      {"numbers that no job reaches", kLate,
       timeout(0, 3) + DumpLine(2).done(INT64_MAX - 1).open(INT64_MAX).text() +
           DumpLine(2).done(INT64_MAX - 1).text(),
       "unknown"},
      {"three against one", kMismatch,
       DumpLine(4).done(1).open(2).text() + DumpLine(4).done(1).open(2).text() +
           DumpLine(4).done(1).open(2).text() + DumpLine(4).done(1).open(2, 256).text(),
       "yes 3"},
      {"another function", kMismatch,
       waits().text() + DumpLine(3).done(2).open(3, 512, "broadcast").text() + waits().text(),
       "yes 1"},
      {"two against two", kMismatch,
       DumpLine(4).open(1).text() + DumpLine(4).open(1).text() + DumpLine(4).open(1, 256).text() +
           DumpLine(4).open(1, 256).text(),
       "yes"},
      {"the majority is of the group, not of its dumps", kMismatch,
       DumpLine(8).open(1).text() + DumpLine(8).open(1).text() + DumpLine(8).open(1, 256).text(),
       "yes"},
      {"what all completed was no mistake", kMismatch,
       idle().text() + idle().text() + DumpLine(3).done(1).done(2, 256).text(), "unknown"},
      {"an all-to-all may be uneven", kMismatch,
       DumpLine(2).open(1, 512, "all_to_all").text() + DumpLine(2).open(1, 9, "all_to_all").text(),
       "unknown"},
      {"a shape is no size", kMismatch,
       DumpLine(2).open(1).text() + DumpLine(2).open(1).with(",\"input_sizes\":[[2,256]]").text(),
       "unknown"},
      {"lines and dumps say the same", kAgrees,
       logged(3, 2).call(0, 1).call(1, 1).timeout(0, 3).text() + two_wait + idle().text(), "yes"},
      {"then the dumps need not say it again", kLate,
       logged(3, 2).call(0, 1).call(1, 1).timeout(0, 3).text() + two_wait + idle().text(),
       "unknown"},
      {"and do not contradict", kContradicts,
       logged(3, 2).call(0, 1).call(1, 1).timeout(0, 3).text() + two_wait + idle().text(), "no"},
      {"another rank", kContradicts,
       logged(3, 2).call(0, 1).call(1, 1).timeout(0, 3).text() + waits().text() + idle().text() +
           waits().text(),
       "yes"},
      {"all entered by the dumps, one short by the lines", kContradicts,
       logged(3, 2).call(0, 1).call(1, 1).timeout(0, 3).text() + two_wait + waits().text(), "yes"},
      {"a rank that came after the dumps were written was late", kLate,
       logged(3, 3).timeout(0, 3).text() + two_wait + idle().text(), "yes 2"},
      {"dumps that were written long before contradict nothing", kContradicts,
       logged(3, 8).call(0, 1).call(1, 1).timeout(0, 9).text() + two_wait + waits().text(), "no"},
      {"no dumps contradict nothing", kContradicts, logged(3, 2).timeout(0, 2).text(), "no"},
      {"a log that shows fewer calls than the dump", kLacks,
       logged(3, 1).call(0, 1).call(1, 1).call(0, 1).call(1, 1).timeout(0, 3).text() + two_wait +
           waits().text(),
       "yes"},
      {"is no evidence that the rank did not call", kMissing,
       logged(3, 1).call(0, 1).call(1, 1).call(0, 1).call(1, 1).timeout(0, 3).text() + two_wait +
           waits().text(),
       "unknown"},
      {"one call more may be on its way to the log", kLacks,
       logged(3, 2).call(0, 1).call(1, 1).timeout(0, 3).text() + two_wait + waits().text(), "no"},
      {"numbers that do not go with the calls of other ranks prove nothing", kLacks,
       logged(3, 1).call(0, 1, "Broadcast").call(1, 1, "Broadcast").call(0, 1).call(1, 1).text() +
           two_wait + waits().text(),
       "no"},
  };
}

TEST(RecorderFacts, NameOnlyWhomTheDumpsProve) {
  for (const RecorderCase& row : cases()) {
    EXPECT_EQ(guilty(row.fact, row.text), row.answer) << row.what;
  }
}

TEST(RecorderFacts, WhatDumpsAddToTheLinesIsSetApart) {
  const std::string dumps = waits().text() + waits().text() + idle().text();
  const std::string told = "by the Flight Recorder's dumps, ranks 0,1 called collective 3 of ";
  EXPECT_EQ(answer(kBehind, dumps).what.substr(0, told.size()), told);
  const std::string lines = logged(3, 2).call(0, 1).call(1, 1).text();
  EXPECT_EQ(answer(kBehind, lines + dumps).what.substr(0, told.size() + 2), "; " + told);
}

TEST(RecorderFacts, SayWhatTheyFound) {
  EXPECT_EQ(answer(kLate, timeout(0, 3) + waits().text() + waits().text() + idle().text()).what,
            "by the Flight Recorder's dumps, ranks 0,1 called collective 3 of process group "
            "default_pg (3 ranks), AllReduce of 512 Float; rank 2 had completed the one before and "
            "called no more when its dump was written");
  EXPECT_EQ(answer(kMismatch, DumpLine(2).open(1).text() + DumpLine(2).open(1, 256).text()).what,
            "by the Flight Recorder's dumps, collective 1 of process group default_pg (2 ranks): "
            "rank 0 called AllReduce of 512 Float, rank 1 called AllReduce of 256 Float (size "
            "differs)");
  const std::string wait_in_it = waits().text() + waits().text() + idle().text();
  EXPECT_EQ(
      answer(kAgrees, logged(3, 2).call(0, 1).call(1, 1).timeout(0, 3).text() + wait_in_it).what,
      ". The Flight Recorder's dumps say the same of collective 3 of process group default_pg (3 "
      "ranks)");
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
    job.flight_recorders.push_back(import_flight_recorder(read_file(path), path.string()).dump);
  }
  return job;
}

TEST(RecorderVerdict, OneSizeOfFourIsNamed) {
  const Job job = dumps_of("size-mismatch");
  const RecorderVerdict verdict = recorder_verdict(job);
  EXPECT_EQ(verdict.kind, RecordedKind::Mismatch);
  EXPECT_EQ(verdict.named, std::vector<int>{3});
  EXPECT_EQ(
      verdict.place,
      "collective 20 of process group default_pg (4 ranks), at "
      "/workspace/pretrain/src/train_rank.py:54 and /workspace/pretrain/src/train_rank.py:50");
}

TEST(RecorderVerdict, ARankThatSkippedACallIsNamedOnceSomebodyGaveUp) {
  Job job = dumps_of("timeout-rank-skips");
  EXPECT_EQ(recorder_verdict(job).kind, RecordedKind::Nothing);
  EXPECT_EQ(recorded_behind_words(job),
            "ranks 0-4,6,7 called collective 29 of process group default_pg (8 ranks), AllReduce "
            "of 1048576 Float, at /workspace/pretrain/src/train_rank.py:54, and rank 5 had not "
            "when the dumps were written");
  job.flight_recorders.front().entries.back().retired = true;
  const RecorderVerdict verdict = recorder_verdict(job);
  EXPECT_EQ(verdict.kind, RecordedKind::Late);
  EXPECT_EQ(verdict.named, std::vector<int>{5});
}

TEST(RecorderVerdict, ARankWithoutADumpIsNeverLate) {
  for (const std::string sample : {"device-changed", "rank-killed"}) {
    Job job = dumps_of(sample);
    ASSERT_EQ(job.flight_recorders.size(), 3U) << sample;
    job.flight_recorders.front().entries.back().retired = true;
    EXPECT_EQ(recorder_verdict(job).kind, RecordedKind::Nothing) << sample;
    EXPECT_EQ(recorded_behind_words(job), "") << sample;
  }
}

TEST(RecorderVerdict, HugeClaimsOfRanksAreLeftOut) {
  Job job;
  FlightRecorderDump dump;
  dump.rank = 0;
  FlightRecorderGroup group{.pg_id = 0, .name = "0"};
  for (int rank = 0; rank < (1 << 20) + 1; ++rank) group.ranks.push_back(rank);
  dump.groups.push_back(std::move(group));
  job.flight_recorders.push_back(std::move(dump));
  EXPECT_TRUE(recorded_groups(job).empty());
}

}  // namespace

}  // namespace ncclog

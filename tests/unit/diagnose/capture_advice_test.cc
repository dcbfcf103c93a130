#include "diagnose/capture_advice.h"

#include <gtest/gtest.h>

#include "app/read/read_job.h"
#include "model/build/build_job.h"
#include "support/dump_line.h"

namespace ncclog::testing {
namespace {

CaptureAdvice advice_for(std::initializer_list<std::string_view> questions, const Job& job) {
  std::vector<const CoverageQuestion*> open;
  for (const std::string_view name : questions) open.push_back(find_coverage_question(name));
  return capture_advice(job, open);
}

const Job kNothing = job_from_text("");

using Settings = std::vector<CaptureSetting>;

TEST(CaptureAdvice, JoinsWhatTheQuestionsAskFor) {
  EXPECT_EQ(advice_for({"versions"}, kNothing).settings,
            (Settings{{"NCCL_DEBUG", "INFO"}, {"NCCL_DEBUG_FILE", "nccl.%h.%p.log"}}));
  EXPECT_EQ(advice_for({"versions", "network"}, kNothing).settings,
            (Settings{{"NCCL_DEBUG", "INFO"},
                      {"NCCL_DEBUG_SUBSYS", "INIT,ENV,NET"},
                      {"NCCL_DEBUG_FILE", "nccl.%h.%p.log"}}));
  EXPECT_EQ(advice_for({"network", "collectives"}, kNothing).settings,
            (Settings{{"NCCL_DEBUG", "INFO"},
                      {"NCCL_DEBUG_SUBSYS", "INIT,ENV,NET,COLL"},
                      {"NCCL_DEBUG_FILE", "nccl.%h.%p.log"},
                      {"TORCH_NCCL_TRACE_BUFFER_SIZE", "2000"},
                      {"TORCH_NCCL_DUMP_ON_TIMEOUT", "1"}}));
}

TEST(CaptureAdvice, WhereThereAreDumpsTheyNeedNoSettings) {
  const Job job = read_example(DumpLine(2).done(1).open(2).text(), {});
  const CaptureAdvice advice = advice_for({"collectives"}, job);
  EXPECT_EQ(advice.settings, (Settings{{"NCCL_DEBUG", "INFO"},
                                       {"NCCL_DEBUG_SUBSYS", "INIT,ENV,NET,COLL"},
                                       {"NCCL_DEBUG_FILE", "nccl.%h.%p.log"}}));
  EXPECT_EQ(advice.steps,
            (std::vector<std::string>{"Collect the Flight Recorder's dumps of all ranks "
                                      "(TORCH_NCCL_DEBUG_INFO_TEMP_FILE names the files)."}));
}

TEST(CaptureAdvice, SetsNothingForWhatNoVariableDoes) {
  const CaptureAdvice advice = advice_for({"whole_files"}, kNothing);
  EXPECT_EQ(advice.settings, Settings{});
  EXPECT_EQ(advice.steps.size(), 1u);
  EXPECT_EQ(advice.size, std::nullopt);
  EXPECT_EQ(advice_for({"left_out_lines"}, kNothing).settings, (Settings{{"RAY_DEDUP_LOGS", "0"}}));
  EXPECT_TRUE(advice_for({}, kNothing).empty());
}

TEST(CaptureAdvice, KnowsTheReleaseThatIgnoresTheFileName) {
  const Job job = job_from_text("NCCL version 2.13.4+cuda11.7\n");
  const CaptureAdvice advice = advice_for({"network"}, job);
  EXPECT_EQ(advice.settings,
            (Settings{{"NCCL_DEBUG", "INFO"}, {"NCCL_DEBUG_SUBSYS", "INIT,ENV,NET"}}));
  EXPECT_EQ(advice.steps.size(), 1u);
}

TEST(CaptureAdvice, EstimatesTheSizeAndSaysOnWhatItRests) {
  const CaptureAdvice advice = advice_for({"collectives"}, kNothing);
  ASSERT_TRUE(advice.size);
  EXPECT_EQ(advice.size->bytes_per_hour(), 185u * 300 * 3600);
  EXPECT_EQ(log_size_text(*advice.size, 8),
            "about 30 kB a rank (240 kB for 8 ranks) to begin with, then 200 MB an hour and rank "
            "(1.6 GB for 8 ranks) at 300 collectives a second; it rests on usual logs with few "
            "communicators, an assumed rate, 185 bytes a line");
  EXPECT_EQ(log_size_text(*advice_for({"versions"}, kNothing).size, std::nullopt),
            "about 30 kB a rank to begin with; it rests on usual logs with few communicators");
}

/// A job with a dump of `calls` calls, the first and the last one `apart` nanoseconds apart.
Job recorded_job(int calls, int64_t apart) {
  Job job;
  FlightRecorderDump& dump = job.flight_recorders.emplace_back();
  for (int i = 0; i < calls; ++i) {
    dump.entries.emplace_back().time_created_ns = 1'000'000'000 + i * apart / (calls - 1);
  }
  return job;
}

TEST(CaptureAdvice, MeasuresTheRateOfRecordedCalls) {
  const CaptureAdvice advice = advice_for({"collectives"}, recorded_job(11, 500'000'000));
  ASSERT_TRUE(advice.size);
  EXPECT_TRUE(advice.size->calls_measured);
  EXPECT_DOUBLE_EQ(advice.size->calls_per_second, 20);
}

TEST(CaptureAdvice, TakesNoDumpsWordForMoreCallsThanARankCanMake) {
  const CaptureAdvice advice = advice_for({"collectives"}, recorded_job(50'000, 1));
  ASSERT_TRUE(advice.size);
  EXPECT_EQ(advice.size->bytes_per_hour(), uint64_t{185} * 1'000'000 * 3600);
}

TEST(CaptureAdvice, EveryQuestionLeadsToSomething) {
  for (const CoverageQuestion& question : coverage_questions()) {
    const CoverageQuestion* open[] = {&question};
    EXPECT_FALSE(capture_advice(kNothing, open).empty()) << question.name;
  }
}

}  // namespace
}  // namespace ncclog::testing

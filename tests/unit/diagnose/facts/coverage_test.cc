#include "diagnose/facts/coverage.h"

#include <gtest/gtest.h>

#include <set>

#include "app/read/read_example.h"
#include "model/derive/build_job.h"
#include "support/dump_line.h"

namespace ncclog::testing {
namespace {

CaptureAdvice advice_for(std::initializer_list<std::string_view> questions, const Job& job) {
  std::vector<const Fact*> open;
  for (const std::string_view name : questions) open.push_back(find_fact(name, coverage_facts()));
  return capture_advice(job, open);
}

FactValue answer_of(const Fact& question, const Job& job) {
  return question.ask(job, job_instance(job));
}

/// The log leaves the question open, and everybody should know.
bool is_no(const FactValue& answer) { return answer.known() && !is_yes(answer); }

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
  EXPECT_NE(advice.size->rests_on.find("the rate of the recorded calls"), std::string::npos);
  EXPECT_DOUBLE_EQ(advice.size->calls_per_second, 20);
}

TEST(CaptureAdvice, TakesNoDumpsWordForMoreCallsThanARankCanMake) {
  const CaptureAdvice advice = advice_for({"collectives"}, recorded_job(50'000, 1));
  ASSERT_TRUE(advice.size);
  EXPECT_EQ(advice.size->bytes_per_hour(), uint64_t{185} * 1'000'000 * 3600);
}

TEST(CaptureAdvice, EveryQuestionLeadsToSomething) {
  for (const Fact& question : coverage_facts()) {
    const Fact* open[] = {&question};
    EXPECT_FALSE(capture_advice(kNothing, open).empty()) << question.name;
  }
}

constexpr std::string_view kInit0 =
    "n1:7:7 [0] NCCL INFO ncclCommInitRank comm 0x7f10 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId "
    "a1000 commId 0x9c - Init START\n";

const std::string kWaits0 =
    std::string(kInit0) +
    "[rank0]:[E1121 02:00:00.000000 ProcessGroupNCCL.cpp:607] [Rank 0] Watchdog caught collective "
    "operation timeout: WorkNCCL(SeqNum=20, OpType=ALLREDUCE, NumelIn=8, NumelOut=8, "
    "Timeout(ms)=600000) ran for 600010 milliseconds before timing out.\n";

constexpr std::string_view kDesync =
    "  - [0, 1] joined but didn't finish collective #9 (count from 1)\n";

struct CoverageRow {
  const char* question;
  std::string_view log;
  const char* reason;  ///< Empty: covered.
};

const CoverageRow kCovered[] = {
    {"nccl", "hello\n", "No line of the log was printed by NCCL itself."},
    {"nccl", kInit0, ""},
    {"init", "n1:7:7 [0] NCCL INFO Using network IB\n",
     "No line tells how a communicator was initialised."},
    {"init", kInit0, ""},
    {"network", kInit0, "No line says which network NCCL uses."},
    {"network", "n1:7:7 [0] NCCL INFO Using network IB\n", ""},
    {"environment", kInit0, "No line names a setting that NCCL has read."},
    {"environment", "n1:7:7 [0] NCCL INFO NCCL_ALGO set by environment to Ring\n", ""},
    {"channels", kInit0, "No line tells how ranks are connected."},
    {"channels", "n1:7:7 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC\n", ""},
    {"versions", kInit0, "No line says which NCCL runs."},
    {"versions", "NCCL version 2.20.5+cuda12.4\n", ""},
    {"collectives", kInit0, "The log does not show which collectives the ranks entered."},
    {"collectives", kWaits0, "Watchdogs tell it of rank 0; of the others no line does."},
    {"collectives", kDesync, ""},
    {"framework", kInit0, "No line of the framework or the launcher is in the log."},
    {"framework", "bash: line 1:  1021 Killed                  python train.py\n", ""},
    {"all_ranks", kInit0, "No line speaks for rank 1 of 2; being silent proves nothing."},
    // Two nodes of two ranks each: node 1 has the number of a rank of node 0.
    {"all_ranks",
     "world_size: 4\n0: [rank0]: ValueError: shapes differ\n0: [rank1]: ValueError: shapes differ\n"
     "1: [rank2]: ValueError: shapes differ\n1: [rank3]: ValueError: shapes differ\n"
     "0: bye\n1: bye\n",
     ""},
    {"all_ranks", "hello\n", "The log does not tell how many ranks there are."},
    {"whole_files", kInit0, ""},
    {"left_out_lines", kInit0, ""},
    {"left_out_lines", "(W pid=5) text [repeated 3x across cluster]\n",
     "Ray left out 2 lines like one that it printed; their ranks, hosts and values are unknown."},
};

TEST(Coverage, SaysWhatALogCannotAnswer) {
  for (const CoverageRow& row : kCovered) {
    const Fact* question = find_fact(row.question, coverage_facts());
    ASSERT_NE(question, nullptr) << row.question;
    const FactValue answer = answer_of(*question, job_from_text(row.log));
    EXPECT_EQ(is_yes(answer), *row.reason == '\0') << row.question << "\n" << row.log;
    EXPECT_EQ(answer.why, row.reason);
  }
}

TEST(Coverage, CallsAreWorthTellingWhereSomebodyWaits) {
  const Fact& question = *find_fact("collectives", coverage_facts());
  EXPECT_FALSE(answer_of(question, job_from_text(kInit0)).known());
  EXPECT_TRUE(is_no(answer_of(question, job_from_text(kWaits0))));
}

TEST(Coverage, ACutFileIsWorthTelling) {
  Job job = job_from_text(kInit0);
  job.inputs[0].status = InputStatus::Cut;
  const FactValue answer = answer_of(*find_fact("whole_files", coverage_facts()), job);
  EXPECT_TRUE(is_no(answer));
  EXPECT_EQ(answer.why, "1 of 1 inputs is cut short or cannot be read: log.txt.");
  job.inputs.push_back(job.inputs[0]);
  EXPECT_EQ(answer_of(*find_fact("whole_files", coverage_facts()), job).why,
            "2 of 2 inputs are cut short or cannot be read.");
}

TEST(Coverage, AFileThatMayNotBeReadIsNotCopiedAgain) {
  Job job = job_from_text(kInit0);
  job.inputs[0].status = InputStatus::Unreadable;
  job.inputs[0].note = "Reading failed: Permission denied (it belongs to uid 7, mode 0600).";
  const Fact* question = find_fact("whole_files", coverage_facts());
  EXPECT_EQ(question->how_to_capture(job),
            "Let the files be read: chmod a+r log.txt as their owner, or run ncclog by sudo.");
  job.inputs[0].note = "Reading failed: Input/output error.";
  EXPECT_EQ(question->how_to_capture(job),
            "Copy the files again once the job has ended, and compare their sizes.");
}

TEST(Coverage, DumpsTellTheirRanksCalls) {
  const std::string dump = DumpLine(3).done(1).open(2).text();
  const Job two = read_example(dump + dump, {});
  const Job all = read_example(dump + dump + dump, {});
  const Fact& calls = *find_fact("collectives", coverage_facts());
  const Fact& ranks = *find_fact("all_ranks", coverage_facts());
  EXPECT_EQ(two.nranks, 3);
  EXPECT_EQ(answer_of(calls, two).why,
            "Neither lines nor dumps show which collectives rank 2 entered.");
  EXPECT_EQ(answer_of(ranks, two).why,
            "No line speaks for rank 2 of 3; being silent proves nothing.");
  EXPECT_TRUE(is_yes(answer_of(calls, all)));
  EXPECT_TRUE(is_yes(answer_of(ranks, all)));
}

TEST(Coverage, EveryQuestionHasItsOwnNameAndAnAnswer) {
  std::set<std::string_view> names;
  const Job job = job_from_text("");
  for (const Fact& question : coverage_facts()) {
    EXPECT_TRUE(names.insert(question.name).second) << question.name;
    EXPECT_TRUE(question.meaning.ends_with('?')) << question.meaning;
    EXPECT_FALSE(question.how_to_capture(job).empty());
  }
  EXPECT_EQ(find_fact("netwok", coverage_facts()), nullptr);
}

TEST(Coverage, AdviceKnowsTheReleaseThatIgnoresTheFileSetting) {
  const Fact& question = *find_fact("network", coverage_facts());
  const auto advice = [&](std::string_view log) {
    return question.how_to_capture(job_from_text(log));
  };
  EXPECT_NE(advice("NCCL version 2.20.5+cuda12.4\n").find("NCCL_DEBUG_FILE=nccl.%h.%p.log"),
            std::string::npos);
  EXPECT_NE(advice("NCCL version 2.13.4+cuda11.7\n").find("redirect"), std::string::npos);
}

}  // namespace

}  // namespace ncclog::testing

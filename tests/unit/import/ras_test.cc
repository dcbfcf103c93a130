#include <gtest/gtest.h>

#include <string>

#include "import/import.h"
#include "support/describe_ras.h"

namespace ncclog {
namespace {

using testing::describe_ras;

std::string rank(int number, const std::string& status, int all_reduces, int nvml_dev) {
  return R"({"rank": )" + std::to_string(number) + R"(, "host": "10.1.2.3", "pid": )" +
         std::to_string(40 + number) + R"(, "cuda_dev": )" + std::to_string(number) +
         R"(, "nvml_dev": )" + std::to_string(nvml_dev) + R"(, "status": {)" + status +
         R"(}, "collective_counts": {"Broadcast": 1, "AllReduce": )" + std::to_string(all_reduces) +
         "}}";
}

const std::string kFine =
    R"("init_state": 0, "async_error": 0, "finalize_called": false, "destroy_flag": false, "abort_flag": false)";

std::string answer(const std::string& ranks, const std::string& missing) {
  return R"({"nccl_version": "2.28.9", "cuda_runtime_version": 13000, "cuda_driver_version": 13010,
    "timestamp": "2026-02-03 04:05:06", "communicators_count": 1, "communicators": [
    {"hash": "0xf264af53edbe986", "secondary_hash": "0x1:0x2", "size": 4, "ranks_count": 2,
     "missing_ranks_count": 0, "ranks": [)" +
         ranks + R"(], "missing_ranks": [)" + missing +
         R"(]}], "ras": {"collection_time_sec": 0.002, "timeouts_count": 1}})";
}

constexpr std::string_view kHead =
    "version=2.28.9 cuda=13000/13010 time=2026-02-03 04:05:06 timeouts=1\n";

TEST(RasJson, AHealthyCommunicatorHasNoStatement) {
  const auto [reports, problem] =
      import_ras_json(answer(rank(0, kFine, 7, 0) + "," + rank(1, kFine, 7, 1), ""));
  EXPECT_EQ(problem, "");
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(describe_ras(reports[0]),
            std::string(kHead) +
                "communicators 0f264af53edbe986 x1 nodes=-1 per_node= nranks=4 missing=0 RUNNING "
                "OK launched=16\n"
                "world of 2 ranks on 1 nodes: 0 1\n");
}

TEST(RasJson, StatesWhatTheTextFormStates) {
  const std::string init = R"("init_state": 7)";
  const std::string error = R"("init_state": 0, "async_error": 6)";
  const std::string missing =
      R"({"rank": 4, "host": "unknown", "pid": -1, "cuda_dev": 4, "nvml_dev": 4,
          "status": {"unresponsive": true, "considered_dead": true}},
         {"rank": 5, "host": "10.1.2.4", "pid": 9, "cuda_dev": 5, "nvml_dev": 5,
          "status": {"unresponsive": true, "considered_dead": false}},
         {"rank": 6, "host": "10.1.2.4", "pid": 8, "cuda_dev": 6, "nvml_dev": 6,
          "status": {"unresponsive": false, "considered_dead": false}})";
  const auto [reports, problem] = import_ras_json(answer(
      rank(0, kFine, 7, 0) + "," + rank(1, init, 6, 1) + "," + rank(2, error, 7, 3), missing));
  EXPECT_EQ(problem, "");
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(describe_ras(reports[0]),
            std::string(kHead) +
                "communicators 0f264af53edbe986 x1 nodes=-1 per_node= nranks=4 missing=3 RUNNING "
                "DEAD,INCOMPLETE,ERROR,MISMATCH launched=23\n"
                "world of 6 ranks on -1 nodes: 4 6 5 0 1 2\n"
                "0f264af53edbe986 DEAD unreachable: '' x1\n"
                "  rank 4 pid -1 on  gpu 4\n"
                "0f264af53edbe986 INCOMPLETE communicator data: '' x1\n"
                "  rank 5 pid 9 on 10.1.2.4 gpu 5\n"
                "0f264af53edbe986 ERROR Asynchronous error: 'Remote process error' x1\n"
                "  rank 2 pid 42 on 10.1.2.3 gpu 2 (NVML 3)\n"
                "0f264af53edbe986 MISMATCH status: 'RUNNING' x2\n"
                "  rank 0 pid 40 on 10.1.2.3 gpu 0\n"
                "  rank 2 pid 42 on 10.1.2.3 gpu 2 (NVML 3)\n"
                "0f264af53edbe986 MISMATCH status: 'INIT' x1\n"
                "  rank 1 pid 41 on 10.1.2.3 gpu 1\n"
                "0f264af53edbe986 MISMATCH status: 'NOCOMM' x1\n"
                "  rank 6 pid 8 on 10.1.2.4 gpu 6\n"
                "0f264af53edbe986 MISMATCH AllReduce operation counts: '7' x2\n"
                "  rank 0 pid 40 on 10.1.2.3 gpu 0\n"
                "  rank 2 pid 42 on 10.1.2.3 gpu 2 (NVML 3)\n"
                "0f264af53edbe986 MISMATCH AllReduce operation counts: '6' x1\n"
                "  rank 1 pid 41 on 10.1.2.3 gpu 1\n");
}

struct RefusedAnswer {
  const char* bytes;
  const char* problem;
};

constexpr RefusedAnswer kRefusedAnswers[] = {
    {R"({"nccl_version": "2.28.9", "commun)", "the JSON text is malformed or cut at byte 35"},
    {R"({"nccl_version": "2.28.9"})", "it lists no communicators"},
    {"[]", "it lists no communicators"},
};

TEST(RasJson, RefusesWhatIsNoAnswer) {
  for (const RefusedAnswer& row : kRefusedAnswers) {
    EXPECT_EQ(import_ras_json(row.bytes).problem, row.problem) << row.bytes;
  }
}

/// The times of the answers in a file, and how many processes each misses.
std::string times_in(std::string_view bytes) {
  std::string times;
  for (const RasReport& report : import_ras_json(bytes).value) {
    times += report.timestamp.substr(11) + "/" + std::to_string(report.statements.size()) + " ";
  }
  return times;
}

std::string answer_at(const std::string& time, const std::string& missing) {
  std::string text = answer(rank(0, kFine, 7, 0), missing);
  return text.replace(text.find("04:05:06"), 8, time);
}

std::string event_at(const std::string& time, const std::string& event) {
  return R"({"timestamp": "2026-02-03 )" + time + R"(", "group": "LIFECYCLE", "event": ")" + event +
         R"(", "peer": {"host": "10.1.2.3", "pid": 41, "cuda_devs": [1], "nvml_devs": [1]}, "details": ""})";
}

// As 2.28.7 and 2.28.9 write it.
const std::string kNoComma =
    "{\"rank\": 1, \"host\": \"10.1.2.3\", \"pid\": 41, \"cuda_dev\": 1, \"nvml_dev\": 1\n  "
    "\"status\": {\"unresponsive\": true, \"considered_dead\": false}}";

struct Series {
  const char* what;
  std::string bytes;
  const char* times;
};

const Series kSeries[] = {
    {"two answers", answer_at("01:00:00", "") + "\n" + answer_at("01:00:15", ""),
     "01:00:00/0 01:00:15/0 "},
    {"the service's greeting", "SERVER PROTOCOL 2\nOK\nOK\n" + answer_at("01:00:00", ""),
     "01:00:00/0 "},
    {"dates between them",
     "Sat Nov 28 06:27:19 AM UTC 2026\n" + answer_at("01:00:00", "") + "\nSat \"28\n" +
         answer_at("01:00:15", ""),
     "01:00:00/0 01:00:15/0 "},
    {"a comma that lacks", answer_at("01:00:00", kNoComma), "01:00:00/1 "},
    {"the first one is cut",
     answer_at("01:00:00", "").substr(0, 333) + "\n" + answer_at("01:00:15", ""), "01:00:15/0 "},
    {"the last one is cut",
     answer_at("01:00:00", "") + "\n" + answer_at("01:00:15", "").substr(0, 333), "01:00:00/0 "},
    {"a monitor's events are one answer",
     event_at("01:00:00", "PEER_NEW") + "\n" + event_at("01:00:02", "PEER_DEAD") + "\n" +
         event_at("01:00:03", "PEER_DEAD"),
     "01:00:03/2 "},
};

TEST(RasJson, ReadsAnswersThatStandBehindEachOther) {
  for (const Series& row : kSeries) EXPECT_EQ(times_in(row.bytes), row.times) << row.what;
}

TEST(RasJson, TheLastAnswersAreKept) {
  std::string many;
  for (size_t i = 0; i < kMaxRasReports + 2; ++i) many += answer_at("01:00:00", "") + "\n";
  EXPECT_EQ(import_ras_json(many).value.size(), kMaxRasReports);
}

TEST(RasJson, EveryCutIsRefused) {
  const std::string whole = answer(rank(0, kFine, 7, 0), "");
  for (size_t size = 0; size < whole.size(); ++size) {
    ASSERT_NE(import_ras_json(std::string_view(whole).substr(0, size)).problem, "") << size;
  }
}

}  // namespace

}  // namespace ncclog

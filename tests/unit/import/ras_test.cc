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
  const auto [report, problem] =
      import_ras_json(answer(rank(0, kFine, 7, 0) + "," + rank(1, kFine, 7, 1), ""));
  EXPECT_EQ(problem, "");
  EXPECT_EQ(describe_ras(report),
            std::string(kHead) +
                "communicators 0f264af53edbe986 x1 nodes=-1 per_node= nranks=4 missing=0 RUNNING "
                "OK\n");
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
  const auto [report, problem] = import_ras_json(answer(
      rank(0, kFine, 7, 0) + "," + rank(1, init, 6, 1) + "," + rank(2, error, 7, 3), missing));
  EXPECT_EQ(problem, "");
  EXPECT_EQ(describe_ras(report),
            std::string(kHead) +
                "communicators 0f264af53edbe986 x1 nodes=-1 per_node= nranks=4 missing=3 RUNNING "
                "DEAD,INCOMPLETE,ERROR,MISMATCH\n"
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

TEST(RasJson, EveryCutIsRefused) {
  const std::string whole = answer(rank(0, kFine, 7, 0), "");
  for (size_t size = 0; size < whole.size(); ++size) {
    ASSERT_NE(import_ras_json(std::string_view(whole).substr(0, size)).problem, "") << size;
  }
}

}  // namespace

}  // namespace ncclog

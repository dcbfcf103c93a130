#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "import/import.h"
#include "input/find_inputs.h"

namespace ncclog {
namespace {

/// One object as the plugin writes it.
std::string object(std::string_view perf, std::string_view header = R"("id":"0x7f8c","rank":2)") {
  return fmt::format(
      R"({{"header":{{{},"n_ranks":8,"nnodes":1}},"metadata":{{"inspector_output_format_version":)"
      R"("v4.0","git_rev":"","rec_mechanism":"nccl_profiler_interface","dump_timestamp_us":17480303777,)"
      R"("hostname":"node01","pid":1639}},{}}})",
      header, perf);
}

std::string collective(int number, int time_us, std::string_view more = "",
                       std::string_view function = "AllReduce") {
  return fmt::format(
      R"("coll_perf":{{"coll":"{}","coll_sn":{},"coll_msg_size_bytes":1024,"coll_exec_time_us":{}{}}})",
      function, number, time_us, more);
}

std::string words(const Imported<std::vector<InspectedRank>>& import) {
  std::string text = import.problem;
  for (const InspectedRank& rank : import.value) {
    text += fmt::format("{} rank {} of {} on {} pid {}:", rank.communicator, rank.rank, rank.nranks,
                        rank.host, rank.pid);
    for (const InspectedCall& call : rank.calls) {
      text += fmt::format(" {} {} {}us", call.op.view(), call.number, call.duration);
      if (std::isfinite(call.started)) text += fmt::format(" at {}", call.started);
      if (call.elsewhere > 0) text += fmt::format(" elsewhere {}", call.elsewhere);
    }
    text += "\n";
  }
  return text;
}

TEST(Inspector, ReadsTheCurrentAndThePreviousSchema) {
  const std::string both = object(collective(7, 61)) + "\n" +
                           object(collective(8, 62, R"(,"coll_timing_source":"kernel_gpu")"),
                                  R"("id":"0x7f8c","comm_name":"DP Group 0","rank":2)") +
                           "\n";
  EXPECT_EQ(sniff_content(both), Content::Inspector);
  EXPECT_EQ(words(import_inspector(both)),
            "0x7f8c rank 2 of 8 on node01 pid 1639: AllReduce 7 61us AllReduce 8 62us\n");
}

TEST(Inspector, VerboseObjectsTellWhenTheKernelBegan) {
  const std::string trace =
      R"(,"event_trace_ts":{"coll_start_ts":5,"coll_stop_ts":6,"kernel_events":[)"
      R"({"channel_id":0,"kernel_start_ts":0},{"channel_id":1,"kernel_start_ts":1020},)"
      R"({"channel_id":2,"kernel_start_ts":1010}]})";
  EXPECT_EQ(words(import_inspector(object(collective(7, 61, trace)))),
            "0x7f8c rank 2 of 8 on node01 pid 1639: AllReduce 7 61us at 1010\n");
}

TEST(Inspector, CountsTimeInOtherCommunicatorsAndMessages) {
  const std::string other = R"("id":"0x9900","rank":0)";
  const std::string message = R"("p2p_perf":{"p2p":"Send","p2p_sn":1,"p2p_exec_time_us":5})";
  const std::string text = object(collective(0, 10)) + object(collective(0, 100), other) +
                           object(message) + object(collective(1, 11)) + object(collective(2, 12));
  EXPECT_EQ(
      words(import_inspector(text)),
      "0x7f8c rank 2 of 8 on node01 pid 1639: AllReduce 0 10us AllReduce 1 11us elsewhere 105 "
      "AllReduce 2 12us\n"
      "0x9900 rank 0 of 8 on node01 pid 1639: AllReduce 0 100us\n");
}

TEST(Inspector, TakesObjectsFromWhateverStandsAroundThem) {
  const std::string one = object(collective(7, 61));
  const std::string expected = "0x7f8c rank 2 of 8 on node01 pid 1639: AllReduce 7 61us\n";
  EXPECT_EQ(words(import_inspector("[\n" + one + ",\n{\"a\":\"}{\"}]")), expected);
  EXPECT_EQ(words(import_inspector(one + "\n" + one.substr(0, 200))), expected) << "a cut end";
  EXPECT_EQ(words(import_inspector(one.substr(0, 200) + "\n" + one)), expected) << "cut inside";
  const std::string pretty = nlohmann::json::parse(one).dump(2);
  EXPECT_EQ(words(import_inspector(pretty)), expected) << "over many lines";
  EXPECT_EQ(words(import_inspector(pretty.substr(0, 60) + "\n" + pretty)), expected)
      << "over many lines, and cut inside";
}

TEST(Inspector, LeavesOutWhatIsNoTime) {
  const struct {
    const char* what;
    std::string text;
  } rows[] = {
      {"a host's time", object(collective(7, 61, R"(,"coll_timing_source":"collective_cpu")"))},
      {"no number", object(R"("coll_perf":{"coll":"AllReduce","coll_exec_time_us":61})")},
      {"no time", object(R"("coll_perf":{"coll":"AllReduce","coll_sn":7})")},
      {"a negative time", object(collective(7, -61))},
      {"a time of ages",
       object(R"("coll_perf":{"coll":"AllReduce","coll_sn":7,"coll_exec_time_us":1e300})")},
      {"no rank", object(collective(7, 61), R"("id":"0x7f8c")")},
      {"a rank that none has", object(collective(7, 61), R"("id":"0x7f8c","rank":1e12)")},
      {"no communicator", object(collective(7, 61), R"("rank":2)")},
      {"not JSON", "{\"header\": coll_perf}"},
      {"nothing", ""},
      {"deep", std::string(100000, '{')},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(words(import_inspector(row.text)), "it holds no collective with a rank and a time")
        << row.what;
  }
}

TEST(Inspector, AnyCutAndAnyOddByteIsNoTrouble) {
  const std::string text =
      "[" + object(collective(7, 61)) + ",\n" + object(collective(8, 62)) + "]";
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_LE(import_inspector(text.substr(0, size)).value.size(), 1U);
    EXPECT_LE(import_inspector(text.substr(size)).value.size(), 1U);
    for (const char odd : {'"', '{', '}', '\\', '\0', '\n', '\xff', '-', '9'}) {
      std::string changed = text;
      changed[size] = odd;
      EXPECT_LE(import_inspector(changed).value.size(), 2U);
    }
  }
}

TEST(Inspector, KeepsTheLastCalls) {
  std::string text;
  const int count = static_cast<int>(InspectedRank::kMaxCalls) + 50;
  for (int i = 0; i < count; ++i) text += object(collective(i, 10)) + "\n";
  const auto import = import_inspector(text);
  ASSERT_EQ(import.value.size(), 1U);
  EXPECT_EQ(import.value[0].calls.size(), InspectedRank::kMaxCalls);
  EXPECT_EQ(import.value[0].calls.front().number, 50);
  EXPECT_EQ(import.value[0].total, static_cast<uint64_t>(count));
}

}  // namespace
}  // namespace ncclog

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "import/import.h"

namespace ncclog {
namespace {

const std::string kResults = R"({"version":2,"start_time":"2026-01-05 12:00:00",
  "args":["./build/all_reduce_perf","-b","8M","-J","out.json"],
  "env":["HOME=\/root","NCCL_PROTO=LL","NCCL_ALGO=Ring","SECRET=x"],"nccl_version":22907,
  "config":{"nthreads":1,"ngpus":1,"minimum_bytes":8388608,"maximum_bytes":16777216,"step_factor":2,
    "warmup_iters":5,"iterations":20,"aggregated_iterations":1,"validation":1,"graph":0,
    "blocking_collectives":"false","parallel_init":"false","devices":[
    {"rank":0,"group":0,"pid":4242,"hostname":"node-a","device":0,"device_hex":"0000:1b:00",
     "device_info":" NVIDIA H100"},
    {"rank":1,"group":0,"pid":4243,"hostname":"node-a","device":1,"device_hex":"0000:43:00",
     "device_info":" NVIDIA H100"}]},
  "results":[
    {"size":8388608,"count":2097152,"type":"float","redop":"sum","root":"    -1",
     "out_of_place":{"time":76.200000,"alg_bw":110.087244,"bus_bw":110.087244,"nwrong":0.000000},
     "in_place":{"time":74.000000,"alg_bw":113.359568,"bus_bw":113.359568,"nwrong":null},
     "actual_iterations":20,"experiment_name":"all_reduce_perf"},
    {"size":16777216,"count":4194304,"type":"float","redop":"sum","root":"    -1",
     "out_of_place":null,
     "in_place":{"cpu_time":120.000000,"alg_bw":139.810133,"bus_bw":"nan","nwrong":3.000000},
     "actual_iterations":20,"experiment_name":"all_reduce_perf"}],
  "out_of_bounds":{"count":3,"okay":"false"},
  "average_bus_bandwidth":{"bandwidth":88.125000,"okay":"unchecked"},"errors":[],
  "end_time":"2026-01-05 12:00:09"})";

TEST(NcclTestsJson, SaysWhatTheTextFormSays) {
  const auto [run, problem] = import_nccl_tests(kResults);
  EXPECT_EQ(problem, "");
  EXPECT_EQ(run.test, "all_reduce_perf");
  EXPECT_EQ(run.nranks, 2);
  EXPECT_EQ(run.min_bytes, 8388608);
  EXPECT_EQ(run.validation, 1);
  ASSERT_EQ(run.places.size(), 2U);
  EXPECT_EQ(run.places[1].host, "node-a");
  EXPECT_EQ(run.places[1].bus_id, "0000:43:00");
  EXPECT_EQ(run.places[1].gpu, "NVIDIA H100");
  ASSERT_EQ(run.rows.size(), 2U);
  EXPECT_EQ(run.rows[0].text,
            "8388608 2097152 float sum -1 76.20 110.09 110.09 0 74.00 113.36 113.36 N/A");
  EXPECT_EQ(run.rows[1].out_of_place.time, "");
  EXPECT_EQ(run.rows[1].in_place.time, "120.00");
  EXPECT_EQ(run.rows[1].in_place.busbw, "");
  EXPECT_EQ(run.out_of_bounds, 3);
  EXPECT_EQ(run.busbw, "88.1250");
  EXPECT_FALSE(run.below_expected);
}

TEST(NcclTestsJson, KeepsTheVariablesOfNcclOnly) {
  const auto [run, problem] = import_nccl_tests(kResults);
  const std::vector<std::pair<std::string, std::string>> kept = {{"NCCL_ALGO", "Ring"},
                                                                 {"NCCL_PROTO", "LL"}};
  EXPECT_EQ(run.environment, kept);
}

TEST(NcclTestsJson, RecordsOfRcclTestsAreJoinedToRows) {
  const auto [run, problem] = import_nccl_tests(
      R"([{"numCycle":0, "name":"AllReduce", "nodes":1, "ranks":8, "ranksPerNode":8,
"gpusPerRank":1, "size":8388608, "type":"float", "redop":"sum", "inPlace":0, "time":76.2,
"algBw":110.1, "busBw":192.7, "wrong":"0"}, {"numCycle":0, "name":"AllReduce", "ranks":8, "size":8388608, "type":"float",
"redop":"sum", "inPlace":1, "time":74.0, "algBw":113.4, "busBw":198.4, "wrong":"N/A"}])");
  EXPECT_EQ(problem, "");
  EXPECT_EQ(run.test, "AllReduce");
  EXPECT_EQ(run.nranks, 8);
  ASSERT_EQ(run.rows.size(), 1U);
  EXPECT_EQ(run.rows[0].text,
            "8388608 -1 float sum -1 76.20 110.10 192.70 0 74.00 113.40 198.40 N/A");
}

TEST(NcclTestsCsv, LinesAreReadFromTheirEndsWhateverTheHeadingLacks) {
  // Without MPI; with it, whose heading lacks "nodes"; with it and the right heading.
  for (const auto& [heading, ranks] :
       {std::pair("numCycle,collective,gpus,", "8"),
        std::pair("numCycle,collective,ranks,rankspernode,gpusperrank,", "1,8,8,1"),
        std::pair("numCycle,name,nodes,ranks,ranksPerNode,gpusPerRank,", "1,8,8,1")}) {
    const auto line = [&](const char* rest) {
      return fmt::format("0,\"AllReduce\",{},{}", ranks, rest);
    };
    const auto [run, problem] = import_nccl_tests(
        std::string(heading) + "size,type,redop,inplace,time,algbw,busbw,#wrong\n" +
        line("1048576,\"float\",\"sum\",0,55.66,18.84,32.97,\"0\"\r\n") +
        line("1048576, \"float\", \"sum\", 1, 54.1, 19.38, 33.92, \"N/A\"\n") +
        line("2097152,\"float\",\"sum\",0,80,26.21,45.87,\"0\"\n"));
    EXPECT_EQ(problem, "");
    EXPECT_EQ(run.test, "AllReduce");
    EXPECT_EQ(run.nranks, 8) << heading;
    ASSERT_EQ(run.rows.size(), 2U) << heading;
    EXPECT_EQ(run.rows[0].text,
              "1048576 -1 float sum -1 55.66 18.84 32.97 0 54.10 19.38 33.92 N/A");
    EXPECT_EQ(run.rows[1].where, (SourceRef{0, 4}));
  }
}

TEST(NcclTestsCsv, WhatIsNoResultIsPassedOver) {
  EXPECT_EQ(import_nccl_tests("numCycle,busbw\n").problem, "it holds no results");
  EXPECT_EQ(import_nccl_tests("numCycle,busbw\n0,a,8,-5,f,s,0,1,2,3,0\n,,,,,,,,,,\n").problem,
            "it holds no results");
  const auto import = import_nccl_tests(
      "numCycle,name,gpus,size,type,redop,inplace,time,algbw,busbw,#wrong\n"
      "0,a,99999999999,8,f,s,0,nan,1e999,-3,x\n" +
      std::string(100000, ','));
  ASSERT_EQ(import.value.rows.size(), 1U);
  EXPECT_EQ(import.value.nranks, -1);
  EXPECT_EQ(import.value.rows[0].out_of_place.time, "");
}

TEST(NcclTestsCsv, ACutFileHoldsTheRowsBeforeTheCut) {
  const std::string all =
      "numCycle,collective,gpus,size,type,redop,inplace,time,algbw,busbw,#wrong\n"
      "0,\"AllReduce\",8,1048576,\"float\",\"sum\",0,55.66,18.84,32.97,\"0\"\n"
      "0,\"AllReduce\",8,2097152,\"float\",\"sum\",0,80.01,26.21,45.87,12\n";
  const auto rows_of = [](std::string_view text) {
    std::vector<std::string> rows;
    for (const NcclTestsRow& row : import_nccl_tests(text).value.rows) rows.push_back(row.text);
    return rows;
  };
  const std::vector<std::string> whole = rows_of(all);
  ASSERT_EQ(whole.size(), 2U);
  for (size_t size = 10; size < all.size(); ++size) {
    const std::vector<std::string> rows = rows_of(std::string_view(all).substr(0, size));
    EXPECT_TRUE(std::ranges::equal(rows, std::span(whole).first(rows.size()))) << size;
  }
  // A line that lost its beginning, and two in one.
  const size_t second = all.rfind("0,\"AllR");
  EXPECT_EQ(rows_of(all.substr(0, second) + all.substr(second + 14)).size(), 1U);
  EXPECT_EQ(rows_of(all + "0,\"AllReduce\",8,1,0,\"AllReduce\",8,2,f,sum,0,1,1,1,0\n").size(), 2U);
}

TEST(NcclTestsJson, WhatIsNoResultIsRefused) {
  EXPECT_NE(import_nccl_tests(kResults.substr(0, 900)).problem, "");
  EXPECT_EQ(import_nccl_tests("{}").problem, "it holds no results");
  EXPECT_EQ(import_nccl_tests("[]").problem, "it holds no results");
  EXPECT_EQ(import_nccl_tests(R"({"results": [1, null, {}, {"size": -7, "in_place": 5}]})").problem,
            "");
  for (size_t size = 0; size < kResults.size(); size += 13)
    import_nccl_tests(kResults.substr(0, size));
}

}  // namespace
}  // namespace ncclog

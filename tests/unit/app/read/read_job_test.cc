#include "app/read/read_job.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "app/read/read_document.h"
#include "support/archives.h"
#include "support/compressed.h"
#include "support/describe_job.h"
#include "support/paths.h"
#include "support/temp_dir.h"

namespace ncclog {
namespace {

using testing::read_file;
using testing::sample_logs;
using testing::TempDir;

constexpr std::string_view kLine = "node-a:7:8 [0] NCCL INFO Using network Socket\n";

TEST(ReadDocument, ADumpIsAnInputThatWasRead) {
  const TempDir folder;
  const std::string dump = read_file(sample_logs("size-mismatch") / "fr_3");
  const std::vector<std::string> inputs = {
      folder.add("fr_3", dump),
      folder.add("fr_3.gz", testing::compressed(Compression::Gzip, dump))};
  const Job job = read_job(inputs, {.threads = 2});
  ASSERT_EQ(job.flight_recorders.size(), 2U);
  EXPECT_EQ(job.flight_recorders[0].entries, job.flight_recorders[1].entries);
  EXPECT_EQ(job.flight_recorders[1].rank, 3);
  for (size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_EQ(job.inputs[i].format, "flight_recorder");
    EXPECT_EQ(job.inputs[i].status, InputStatus::Whole);
    EXPECT_EQ(job.inputs[i].note, "");
    EXPECT_EQ(file_line(job, job.flight_recorders[i].where).path, inputs[i]);
  }
  EXPECT_EQ(job.losses, LossTable());
}

TEST(ReadDocument, WhatCannotBeReadIsNotedAndTheRestIsRead) {
  const TempDir folder;
  const std::string dump = read_file(sample_logs("size-mismatch") / "fr_3");
  const std::vector<std::string> inputs = {
      folder.add("cut", dump.substr(0, 2000)),
      folder.add("evil", std::string(dump.substr(0, dump.size() - 1)) + "cos\nsystem\n."),
      folder.add("log.txt", kLine)};
  const Job job = read_job(inputs, {});
  EXPECT_TRUE(job.flight_recorders.empty());
  EXPECT_EQ(job.inputs[0].status, InputStatus::Unreadable);
  EXPECT_EQ(job.inputs[0].note.find("A Flight Recorder dump that cannot be read: "), 0U);
  EXPECT_EQ(job.inputs[1].status, InputStatus::Unreadable);
  EXPECT_EQ(job.inputs[1].note,
            "A Flight Recorder dump that cannot be read: GLOBAL at byte 4080 imports a name, which "
            "plain data never does.");
  EXPECT_EQ(job.inputs[2].status, InputStatus::Whole);
  EXPECT_EQ(job.losses.count(Loss::InputUnreadable), 2U);
  EXPECT_EQ(job.network.name, "Socket");
}

constexpr std::string_view kAnswer = R"({
  "nccl_version": "2.28.9",
  "communicators_count": 1,
  "communicators": [{"hash": "0xcf264af53edbe986", "size": 2, "ranks": [], "missing_ranks": []}],
  "ras": {"timeouts_count": 0}
})";

TEST(ReadDocument, AnAnswerOfRasIsReadInBothForms) {
  const TempDir folder;
  const std::vector<std::string> inputs = {
      folder.add("ras.json", kAnswer), folder.add("ras.txt", "#0-0 (cf264af53edbe986) MISMATCH\n"),
      folder.add("cut.json", kAnswer.substr(0, 120))};
  const Job job = read_job(inputs, {});
  ASSERT_EQ(job.ras_reports.size(), 2U);
  EXPECT_EQ(job.ras_reports[0].nccl_version, "2.28.9");
  EXPECT_EQ(file_line(job, job.ras_reports[0].where).path, inputs[0]);
  EXPECT_EQ(job.inputs[0].format, "ras");
  EXPECT_EQ(job.inputs[1].format, "plain");
  EXPECT_EQ(file_line(job, job.ras_reports[1].where).line, 1U);
  EXPECT_EQ(job.inputs[2].status, InputStatus::Unreadable);
  EXPECT_EQ(
      job.inputs[2].note,
      "An answer of NCCL's RAS service that cannot be read: the JSON text is malformed or cut "
      "at byte 121.");
}

constexpr std::string_view kResults =
    R"({"version":2,"start_time":"2026-01-05 12:00:00","args":["./build/all_reduce_perf"],"env":[],
"config":{"devices":[{"rank":0,"pid":7,"hostname":"a","device":0},{"rank":1,"pid":8,"hostname":"b",
"device":0}]},"results":[{"size":8388608,"count":2097152,"type":"float","redop":"sum","root":"-1",
"out_of_place":{"time":76.2,"alg_bw":110.09,"bus_bw":110.09,"nwrong":0},"in_place":null}]})";

TEST(ReadDocument, ResultsOfNcclTestsAreRunsBesideThoseOfLogs) {
  const TempDir folder;
  const std::vector<std::string> inputs = {
      folder.add("1.txt", "8388608 2097152 float sum -1 4915.3 1.71 3.20 0 5012.1 1.67 3.14 0\n"),
      folder.add("2.json", kResults), folder.add("3.json", kResults.substr(0, 300))};
  const Job job = read_job(inputs, {});
  ASSERT_EQ(job.nccl_tests.size(), 2U);
  EXPECT_EQ(job.nccl_tests[1].test, "all_reduce_perf");
  EXPECT_EQ(job.nccl_tests[1].nranks, 2);
  EXPECT_EQ(job.nccl_tests[1].process, -1);
  EXPECT_EQ(file_line(job, job.nccl_tests[1].first).path, inputs[1]);
  EXPECT_EQ(job.inputs[1].format, "nccl_tests");
  EXPECT_EQ(job.inputs[2].status, InputStatus::Unreadable);
  EXPECT_EQ(job.inputs[2].note.find("A file of nccl-tests' results that cannot be read: "), 0U);
}

TEST(ReadDocument, AListingOfDevicesBelongsToAHostAndMayHoldALog) {
  const TempDir folder;
  const std::string listing =
      "17:00.0 3D controller: NVIDIA Corporation GA100 [A100 PCIe 40GB] (rev a1)\n"
      "\tLnkSta:\tSpeed 16GT/s, Width x8\n";
  const std::string long_listing = listing + std::string(5000, '\n');
  const std::vector<std::string> inputs = {
      folder.add("lspci-node-a.txt", listing),
      folder.add("lspci.txt", long_listing + std::string(kLine)),
      folder.add("node-a/devices.txt", listing)};
  const Job job = read_job(inputs, {});
  ASSERT_EQ(job.pci_devices.size(), 3U);
  EXPECT_EQ(job.pci_devices[0].host, "node-a");
  EXPECT_EQ(job.pci_devices[1].host, "");
  EXPECT_EQ(job.pci_devices[2].host, "node-a");
  EXPECT_EQ(job.inputs[0].format, "lspci");
  EXPECT_EQ(file_line(job, job.pci_devices[2].devices[0].runs.where).path, inputs[2]);
  EXPECT_EQ(std::ranges::count(job.processes, true, &Process::has_nccl), 1);
  EXPECT_EQ(std::ranges::count(job.processes, "node-a", &Process::host), 1);
}

TEST(ReadDocument, ACutCompressionIsSaidToo) {
  const TempDir folder;
  const std::string dump = read_file(sample_logs("size-mismatch") / "fr_3");
  const std::string gzip = testing::compressed(Compression::Gzip, dump);
  const Job job = read_job(std::vector{folder.add("fr_3", gzip.substr(0, gzip.size() / 2))}, {});
  EXPECT_EQ(job.inputs[0].status, InputStatus::Unreadable);
  EXPECT_NE(job.inputs[0].note.find("The gzip data ends early"), std::string::npos)
      << job.inputs[0].note;
}

TEST(ReadDocument, WhatIsFarLargerThanAnyDumpIsNotRead) {
  const TempDir folder;
  std::string bytes = R"({"pg_config": {}, "pg_status": {}})";
  bytes.append(kMaxDocumentBytes, ' ');
  const std::string path = folder.add("fr_0.zst", testing::compressed(Compression::Zstd, bytes));
  const Job job = read_job(std::vector{path}, {});
  EXPECT_EQ(job.inputs[0].status, InputStatus::Unreadable);
  EXPECT_EQ(job.inputs[0].note,
            "A Flight Recorder dump that cannot be read: it is larger than 64 MiB.");
}

TEST(ReadDocument, ATopologyFileBelongsToTheHostThatItsNameNames) {
  const TempDir folder;
  const std::string xml =
      "<?xml version='1.0'?>\n<system version='1'><cpu numaid='0'><pci busid='0000:19:00.0'><gpu "
      "dev='3' sm='90' rank='0'/></pci></cpu></system>\n";
  const std::string log =
      "node-a:7:8 [0] NCCL INFO comm 0xa rank 5 nranks 8 cudaDev 3 nvmlDev 3 busId 19000 commId "
      "0xc0 - Init COMPLETE\nnode-a2:9:9 [0] NCCL INFO Using network Socket\n";
  const std::vector<std::string> inputs = {
      folder.add("log.txt", log), folder.add("topo.node-a.xml", xml),
      folder.add("topo.node-a2-node-a.xml", xml), folder.add("topo.xml", xml),
      folder.add("cut.xml", xml.substr(0, xml.size() - 20))};
  const Job job = read_job(inputs, {});
  ASSERT_EQ(job.topologies.size(), 3U);
  EXPECT_EQ(job.topologies[0].host, "");
  EXPECT_EQ(job.topologies[1].host, "");
  EXPECT_EQ(job.topologies[2].host, "node-a");
  EXPECT_EQ(job.topologies[2].source, inputs[1]);
  EXPECT_EQ(job.topologies[2].ranks, (std::vector<int>{-1, 5}));
  EXPECT_EQ(job.inputs[1].format, "topology");
  EXPECT_EQ(job.inputs[4].status, InputStatus::Unreadable);
  EXPECT_EQ(job.inputs[4].note.find("A topology file that cannot be read: "), 0U);
}

using testing::compressed;
using testing::TempDir;

std::string line(int rank, std::string_view message) {
  return fmt::format("n3:{0}:{0} [{1}] NCCL INFO {2}\n", 50 + rank, rank, message);
}

std::string init(int rank) {
  return line(rank,
              fmt::format("ncclCommInitRank comm 0x{0}0 rank {0} nranks 2 cudaDev {0} nvmlDev "
                          "{0} busId {1}000 commId 0x77 - Init COMPLETE",
                          rank, rank + 1));
}

std::string call(int rank, int64_t count) {
  return line(rank, fmt::format("AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x1 count {} datatype "
                                "7 op 0 root 0 comm 0x{}0 [nranks=2] stream 0x5",
                                count, rank));
}

/// A rank that made `calls` calls of sizes 0, 1, 2 …, but for call number `odd`.
std::string rank_file(int rank, int calls, int odd) {
  std::string text = init(rank);
  for (int i = 0; i < calls; ++i) text += call(rank, i == odd ? 1000000 : i);
  return text;
}

struct DeepRow {
  const char* name;
  int odd;
};

class DeepDifference : public ::testing::TestWithParam<DeepRow> {};

TEST_P(DeepDifference, IsFoundExactlyHoweverTheInputIsCut) {
  const TempDir dir;
  const std::vector<std::string> inputs = {dir.add("a.txt", rank_file(0, 5000, -1)),
                                           dir.add("b.txt", rank_file(1, 5000, GetParam().odd))};
  for (const uint64_t unit_bytes : {uint64_t{3000}, uint64_t{50000}, uint64_t{1} << 30}) {
    const Job job = read_job(inputs, {.threads = 2, .unit_bytes = unit_bytes});
    ASSERT_EQ(job.communicators.size(), 1u);
    const auto& difference = job.communicators[0].difference;
    ASSERT_TRUE(difference.has_value()) << unit_bytes;
    EXPECT_TRUE(difference->is_exact()) << unit_bytes;
    EXPECT_EQ(difference->index, static_cast<uint64_t>(GetParam().odd)) << unit_bytes;
    ASSERT_EQ(difference->camps.size(), 2u);
    EXPECT_EQ(difference->camps[0].call.call.count, GetParam().odd);
    EXPECT_EQ(difference->camps[1].call.call.count, 1000000);
    EXPECT_EQ(file_line(job, difference->camps[1].call.where).line,
              static_cast<uint64_t>(GetParam().odd) + 2);
  }
}

TEST_P(DeepDifference, IsFoundExactlyInStreams) {
  const TempDir dir;
  const std::vector<std::string> inputs = {
      dir.add("a.gz", compressed(Compression::Gzip, rank_file(0, 5000, -1))),
      dir.add("b.zst", compressed(Compression::Zstd, rank_file(1, 5000, GetParam().odd)))};
  const Job job = read_job(inputs, {.threads = 3, .unit_bytes = 20000});
  ASSERT_EQ(job.communicators.size(), 1u);
  const auto& difference = job.communicators[0].difference;
  ASSERT_TRUE(difference.has_value());
  EXPECT_TRUE(difference->is_exact());
  EXPECT_EQ(difference->index, static_cast<uint64_t>(GetParam().odd));
  ASSERT_EQ(difference->camps.size(), 2u);
  EXPECT_EQ(file_line(job, difference->camps[1].call.where).line,
            static_cast<uint64_t>(GetParam().odd) + 2);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, DeepDifference,
    ::testing::Values(DeepRow{"AtTheFirstCall", 0}, DeepRow{"NearTheBeginning", 77},
                      DeepRow{"AtACheckpoint", 128}, DeepRow{"InTheMiddle", 2500},
                      DeepRow{"AmongTheLastCalls", 4990}, DeepRow{"AtTheEnd", 4999}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(ReadAgain, FillsInTheTextsOfLinesThatAreKnownByPlaceOnly) {
  const TempDir dir;
  const std::vector<std::string> inputs = {dir.add("a.txt", rank_file(0, 300, -1))};
  ReadUnits read;
  const Job job = read_job(inputs, {.threads = 1, .unit_bytes = 4000}, read);
  std::vector<Finding> findings(1);
  const CommSegment& segment = job.logs[0].comms.all[0];
  findings[0].evidence = {
      {segment.calls->last, {}}, {{0, 999999}, {}}, {segment.calls->first, "kept"}};
  fill_evidence(read, findings);
  EXPECT_EQ(findings[0].evidence[0].text + "\n", call(0, 299));
  EXPECT_EQ(findings[0].evidence[1].text, "");
  EXPECT_EQ(findings[0].evidence[2].text, "kept");
}

TEST(ReadAgain, AFileThatIsGoneLeavesTextsEmpty) {
  const TempDir dir;
  const std::string path = dir.add("a.txt", rank_file(0, 3, -1));
  ReadUnits read;
  const Job job = read_job(std::vector{path}, {.threads = 1}, read);
  std::filesystem::remove(path);
  std::vector<Finding> findings(1);
  findings[0].evidence = {{job.logs[0].first, {}}};
  fill_evidence(read, findings);
  EXPECT_EQ(findings[0].evidence[0].text, "");
}

using testing::archive_of;
using testing::compressed;
using testing::Packing;
using testing::TempDir;

std::string lines(std::string_view host, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += std::string(host) + ":7:8 [0] NCCL INFO NCCL_VARIABLE_" + std::to_string(i) +
            " set by environment to " + std::to_string(i) + "\n";
  }
  return text;
}

TEST(ReadJob, PlacesLinesInTheirFileWhateverTheUnits) {
  const TempDir folder;
  const std::vector<std::string> inputs = {folder.add("a.txt", lines("node-a", 40)),
                                           folder.add("b.txt", lines("node-b", 3))};
  for (const uint64_t unit_bytes : {uint64_t{1}, uint64_t{200}, uint64_t{1} << 20}) {
    const Job job = read_job(inputs, {.threads = 3, .unit_bytes = unit_bytes, .matcher = {}});
    ASSERT_EQ(job.processes.size(), 2U);
    const FileLine last = file_line(job, job.processes[0].last);
    EXPECT_EQ(last.path, inputs[0]);
    EXPECT_EQ(last.line, 40U);
    EXPECT_EQ(job.inputs[0].lines, 40U);
    EXPECT_EQ(job.losses.lines, 43U);
    EXPECT_EQ(job.environment.size(), 40U);
  }
}

TEST(ReadJob, AStretchIsNotCutWhereItsFileGoesOn) {
  const std::string unknown = "node-a:7:8 [0] NCCL INFO no such line as this one\n";
  const std::string text = std::string(kLine) + unknown + unknown + std::string(kLine);
  const TempDir folder;
  const std::vector<std::string> goes_on = {folder.add("a.txt", text)};
  const std::vector<std::string> ends = {folder.add("b.txt", text + unknown)};
  for (const uint64_t unit_bytes : {uint64_t{100}, uint64_t{1} << 20}) {
    const ReadSettings settings{.threads = 2, .unit_bytes = unit_bytes};
    EXPECT_FALSE(read_job(goes_on, settings).processes.at(0).cut) << unit_bytes;
    EXPECT_TRUE(read_job(ends, settings).processes.at(0).cut) << unit_bytes;
  }
}

TEST(ReadJob, NumberOfThreadsChangesNothing) {
  const TempDir folder;
  std::vector<std::string> inputs;
  for (int i = 0; i < 150; ++i) {
    const std::string name = "node-" + std::to_string(1000 + i);
    inputs.push_back(folder.add(name + ".txt", lines(name, 1 + i % 7)));
  }
  const Job one = read_job(inputs, {.threads = 1, .matcher = {}});
  for (const int threads : {2, 7, 0}) {
    const Job other = read_job(inputs, {.threads = threads, .matcher = {}});
    EXPECT_EQ(describe_job(other), describe_job(one)) << threads;
  }
}

TEST(ReadJob, DescribesEachInput) {
  const TempDir folder;
  const std::vector<std::string> inputs = {folder.add("empty.txt", ""),
                                           folder.add("elf", std::string("\x7f"
                                                                         "ELF\x02\x01\x01\0\0",
                                                                         9)),
                                           folder.add("log.txt", "one\ntwo"),
                                           (folder.path() / "missing").string()};
  const Job job = read_job(inputs, {});
  ASSERT_EQ(job.inputs.size(), 4U);
  EXPECT_EQ(job.inputs[0].status, InputStatus::Whole);
  EXPECT_EQ(job.inputs[1].status, InputStatus::Skipped);
  EXPECT_NE(job.inputs[1].note, "");
  EXPECT_EQ(job.inputs[2].lines, 2U);
  EXPECT_EQ(job.inputs[2].bytes, 7U);
  EXPECT_EQ(job.inputs[2].format, "plain");
  EXPECT_EQ(job.inputs[3].status, InputStatus::Unreadable);
  EXPECT_EQ(job.losses.lines, 2U);
}

TEST(ReadJob, ReadsTheMembersOfArchivesAsInputs) {
  const TempDir folder;
  const std::string first = lines("node-a", 40);
  const std::vector<std::string> inputs = {
      folder.add("a.zip", archive_of(Packing::Zip, {{"x/1.txt", first}, {"x/2.txt", "plain\n"}})),
      folder.add("b.txt", lines("node-b", 30))};
  for (const int threads : {1, 3}) {
    const Job job = read_job(inputs, {.threads = threads, .unit_bytes = 200, .matcher = {}});
    ASSERT_EQ(job.inputs.size(), 4U);
    EXPECT_TRUE(job.inputs[0].is_archive);
    EXPECT_EQ(job.inputs[0].format, "zip");
    EXPECT_EQ(job.inputs[1].path, inputs[0] + "!/x/1.txt");
    EXPECT_EQ(job.inputs[1].bytes, first.size());
    EXPECT_EQ(job.inputs[3].lines, 30U);
    ASSERT_EQ(job.processes.size(), 3U);
    const FileLine last = file_line(job, job.processes[0].last);
    EXPECT_EQ(last.path, inputs[0] + "!/x/1.txt");
    EXPECT_EQ(last.line, 40U);
    EXPECT_EQ(file_line(job, job.processes[1].last).line, 30U);
    EXPECT_EQ(job.logs[job.processes[2].logs[0]].speaker.input, 2) << "index of the file";
  }
}

TEST(ReadJob, WhatAWorkerThrowsReachesTheCaller) {
  const TempDir folder;
  std::vector<std::string> inputs;
  for (int i = 0; i < 100; ++i) {
    inputs.push_back(folder.add("f" + std::to_string(1000 + i), "line\n"));
  }
  const LineMatcher::Match match = [](std::string_view, std::vector<int>&) {
    throw std::runtime_error("matcher");
  };
  EXPECT_THROW(read_job(inputs, {.threads = 3, .matcher = {match, {}}}), std::runtime_error);
}

TEST(ReadJob, WhatAWorkerThrowsInASharedStreamReachesTheCaller) {
  const TempDir folder;
  const std::string log = compressed(Compression::Gzip, lines("node-a", 9000) + "stop\n");
  const std::vector<std::string> inputs = {folder.add("log.gz", log)};
  const LineMatcher::Match match = [](std::string_view line, std::vector<int>&) {
    if (line == "stop") throw std::runtime_error("matcher");
  };
  for (const int threads : {1, 4}) {
    EXPECT_THROW(read_job(inputs, {.threads = threads, .unit_bytes = 4000, .matcher = {match, {}}}),
                 std::runtime_error);
  }
}

TEST(ReadJob, PlacesLinesOfAStreamInTheWholeOfIt) {
  const TempDir folder;
  const std::string log = lines("node-a", 10000);
  const std::vector<std::string> inputs = {
      folder.add("log.gz", compressed(Compression::Gzip, log))};
  for (const int threads : {1, 2, 5}) {
    const Job job = read_job(inputs, {.threads = threads, .unit_bytes = 10000, .matcher = {}});
    ASSERT_EQ(job.processes.size(), 1U);
    EXPECT_EQ(file_line(job, job.processes[0].last).line, 10000U);
    ASSERT_EQ(job.inputs.size(), 1U);
    EXPECT_EQ(job.inputs[0].lines, 10000U);
    EXPECT_EQ(job.losses.lines, 10000U);
    EXPECT_EQ(job.inputs[0].text_bytes, log.size());
    EXPECT_LT(job.inputs[0].bytes, log.size()) << "as on the disk";
  }
}

}  // namespace

}  // namespace ncclog

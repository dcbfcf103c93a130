#include "app/read_document.h"

#include <gtest/gtest.h>

#include "app/read_job.h"
#include "support/compressed.h"
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

}  // namespace
}  // namespace ncclog

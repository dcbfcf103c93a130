#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "log/line/header.h"

namespace ncclog {
namespace {

struct FrameworkRow {
  std::string_view line;
  int rank;
  std::string_view group;
  std::string_view group_name;
  int group_rank;
  std::string_view file;
  int file_line;
  std::string_view message;
};

constexpr std::string_view kApi = "torch/distributed/elastic/multiprocessing/api.py";
constexpr std::string_view kLogger = "torch.distributed.elastic.multiprocessing.api";

const std::vector<FrameworkRow> kRecords = {
    // 1.8 to 2.1: no rank but the group's.
    {"[E ProcessGroupNCCL.cpp:828] [Rank 3] text", -1, "", "", 3, "ProcessGroupNCCL.cpp", 828,
     " text"},
    {"[W socket.cpp:601] [c10d] text", -1, "", "", -1, "socket.cpp", 601, "[c10d] text"},
    // 2.2, 2.3.
    {"[rank17]:[E ProcessGroupNCCL.cpp:523] [Rank 2] text", 17, "", "", 2, "ProcessGroupNCCL.cpp",
     523, " text"},
    {"[rank4]:[E ProcessGroupNCCL.cpp:563] [PG 3 Rank 1] text", 4, "3", "", 1,
     "ProcessGroupNCCL.cpp", 563, " text"},
    // 2.4.
    {"[rank5]:[E105 09:14:02.007718211 ProcessGroupNCCL.cpp:1664] [PG 2 (dp) Rank 1] text", 5, "2",
     "dp", 1, "ProcessGroupNCCL.cpp", 1664, " text"},
    // 2.5 and later; F records carry the tag twice.
    {"[rank5]:[E1105 09:14:02.907718211 ProcessGroupNCCL.cpp:2268] [PG ID 2 PG GUID 11(mesh_tp) "
     "Rank 1]  text",
     5, "11", "mesh_tp", 1, "ProcessGroupNCCL.cpp", 2268, "  text"},
    {"[rank5]:[E1105 09:14:02.907718211 ProcessGroupNCCL.cpp:2268] [PG ID 2 PG GUID 3 Rank 1] text",
     5, "3", "", 1, "ProcessGroupNCCL.cpp", 2268, " text"},
    {"[rank7]:[F105 09:14:02.007718211 ProcessGroupNCCL.cpp:1664] [PG ID 0 PG GUID 0(default_pg) "
     "Rank 7] [PG ID 0 PG GUID 0(default_pg) Rank 7] text",
     7, "0", "default_pg", 7, "ProcessGroupNCCL.cpp", 1664, " text"},
    {"[rank0]:[W717 13:20:49.407638053 Utils.hpp:136] Warning: text", 0, "", "", -1, "Utils.hpp",
     136, "Warning: text"},
    // glog builds.
    {"E0717 13:20:49.407638  4242 ProcessGroupNCCL.cpp:607] [Rank 3] text", -1, "", "", 3,
     "ProcessGroupNCCL.cpp", 607, " text"},
    {"E20260717 13:20:49.407638  4242 ProcessGroupNCCL.cpp:607] text", -1, "", "", -1,
     "ProcessGroupNCCL.cpp", 607, "text"},
    // Behind launchers, bars and torn lines.
    {"[1,6]<stderr>:[E ProcessGroupNCCL.cpp:828] [Rank 2] text", 6, "", "", 2,
     "ProcessGroupNCCL.cpp", 828, " text"},
    {"[rank3]:[rank11]:[E105 09:14:02.007718211 ProcessGroupNCCL.cpp:607] text", 11, "", "", -1,
     "ProcessGroupNCCL.cpp", 607, "text"},
    {"33%|###  | 5/17 [1:02<2:06, 6.59s/it][rank1]:[E ProcessGroupNCCL.cpp:523] text", 1, "", "",
     -1, "ProcessGroupNCCL.cpp", 523, "text"},
    {"        ^^^^^^^^^^^[rank1]:[E1003 18:37:01.800000001 ProcessGroupNCCL.cpp:607] text", 1, "",
     "", -1, "ProcessGroupNCCL.cpp", 607, "text"},
    {"[rank1]:[E ProcessGroupNCCL.cpp:523] one.[rank2]:[E ProcessGroupNCCL.cpp:523] two", 1, "", "",
     -1, "ProcessGroupNCCL.cpp", 523, "one."},
    // Python's loggers, oldest first.
    {"ERROR:torch.distributed.elastic.multiprocessing.api:text", -1, "", "", -1, kLogger, -1,
     "text"},
    {"[2026-01-05 12:00:00,123] torch.distributed.elastic.multiprocessing.api: [ERROR] text", -1,
     "", "", -1, kLogger, -1, "text"},
    {"[rank4]:[2026-01-05 12:00:00,123] torch.distributed.elastic.multiprocessing.api: [ERROR] "
     "text",
     4, "", "", -1, kLogger, -1, "text"},
    {"E0105 12:00:00.123000 4242 torch/distributed/elastic/multiprocessing/api.py:826] text", -1,
     "", "", -1, kApi, 826, "text"},
    {"W0524 10:31:07.214 torch/distributed/run.py:779] text", -1, "", "", -1,
     "torch/distributed/run.py", 779, "text"},
    {"3: E0105 12:00:00.123000 4242 torch/distributed/elastic/multiprocessing/api.py:826] text", 3,
     "", "", -1, kApi, 826, "text"},
};

TEST(FrameworkHeader, ReadsRecordsOfEveryEra) {
  for (const FrameworkRow& row : kRecords) {
    SCOPED_TRACE(row.line);
    const auto header = parse_framework_header(row.line);
    ASSERT_TRUE(header.has_value());
    EXPECT_EQ(header->level, Level::Framework);
    EXPECT_EQ(header->prefix.rank, row.rank);
    EXPECT_EQ(header->process_group, row.group);
    EXPECT_EQ(header->process_group_name, row.group_name);
    EXPECT_EQ(header->group_rank, row.group_rank);
    EXPECT_EQ(header->file, row.file);
    EXPECT_EQ(header->line, row.file_line);
    EXPECT_EQ(header->message, row.message);
  }
}

TEST(FrameworkHeader, LeavesOtherBracketsAlone) {
  const std::string_view lines[] = {
      "",
      "text",
      "[rank3]: Traceback (most recent call last):",
      "[Errno 2] No such file",
      "[E] text",
      "[Epoch 3] text",
      "[I 12:00:00 NotebookApp] text",
      "[Error at main.cpp:12] text",
      "[Rank 3] Watchdog",
      "E0717 text",
      "ERROR:root:text",
      "see torch.distributed] for more",
  };
  for (const std::string_view line : lines)
    EXPECT_FALSE(parse_framework_header(line).has_value()) << line;
}

TEST(FrameworkHeader, KeepsTheTitleOfTheBarBeforeTheRecord) {
  const auto header = parse_framework_header(
      "Validation:  1%|  | 2/210 [00:01<02:58,  1.16it/s][rank0]:[E ProcessGroupNCCL.cpp:1] text");
  ASSERT_TRUE(header.has_value());
  EXPECT_EQ(header->prefix.progress_title, "Validation");
}

TEST(FrameworkHeader, SurvivesEveryCut) {
  for (const FrameworkRow& row : kRecords) {
    for (size_t size = 0; size <= row.line.size(); ++size) {
      const std::string cut(row.line.substr(0, size));
      const Header header = parse_header(cut);
      EXPECT_LE(header.message.size(), cut.size());
    }
  }
}

}  // namespace
}  // namespace ncclog

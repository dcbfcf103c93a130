#include "log/line/header.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "log/event.h"
#include "log/known_messages.h"

namespace ncclog {
namespace {

/// The header's parts as one text: level host:pid:tid [dev] file:line | message
std::string show_header(const Header& header) {
  return std::string(to_string(header.level)) + " " + std::string(header.host) + ":" +
         std::to_string(header.pid) + ":" + std::to_string(header.tid) + " [" +
         std::to_string(header.cuda_dev) + "] " + std::string(header.file) + ":" +
         std::to_string(header.line) + " | " + std::string(header.message);
}

std::string show_nccl(std::string_view line) {
  const Header header = parse_header(line);
  return is_nccl(header) ? show_header(header) : "none";
}

struct HeaderCase {
  std::string_view line;
  std::string_view header;
};

TEST(Header, ReadsEveryEra) {
  const HeaderCase cases[] = {
      {"node07:4121:4188 [3] NCCL INFO Connected all rings",
       "INFO node07:4121:4188 [3] :-1 | Connected all rings"},
      {"node07:4121:4188 [-1] NCCL INFO x", "INFO node07:4121:4188 [-1] :-1 | x"},
      {"node07:4121:4188 [3] misc/socket.cc:57 NCCL WARN Connection",
       "WARN node07:4121:4188 [3] misc/socket.cc:57 | Connection"},
      {"node07:4121:4188 [3] misc/socket.cc:57 (socketProgress) NCCL WARN Connection",
       "WARN node07:4121:4188 [3] misc/socket.cc:57 | Connection"},
      {"[2026-02-03 04:05:06] node07:4121:4188 [3] misc/socket.cc:57 NCCL WARN Connection",
       "WARN node07:4121:4188 [3] misc/socket.cc:57 | Connection"},
      {"[2026-02-03 04:05:06.123456] node07:4121:4188 [3] NCCL INFO x",
       "INFO node07:4121:4188 [3] :-1 | x"},
      {"04:05:06 node07:4121:4188 [3] NCCL INFO x", "INFO node07:4121:4188 [3] :-1 | x"},
      {"04:05:06:1:2 at node07:4121:4188 [3] NCCL INFO x", "INFO node07:4121:4188 [3] :-1 | x"},
      {"node07:4121:4188 [3] 1523.404125 ncclTopoCompute:812 NCCL TRACE x",
       "TRACE node07:4121:4188 [3] ncclTopoCompute:812 | x"},
      {"node07:4121:4188 NCCL CALL ncclGroupStart()",
       "CALL node07:4121:4188 [-1] :-1 | ncclGroupStart()"},
      {"node07:4121:4188 [3] init.cc:57 NCCL ABORT", "ABORT node07:4121:4188 [3] init.cc:57 | "},
      // Reports of 2.31 name no thread.
      {"node07:4121 NCCL DIAG [OK]   CUDA driver version: 13000",
       "DIAG node07:4121:-1 [-1] :-1 | [OK]   CUDA driver version: 13000"},
      {"[1,3]<stdout>:node07:4121 NCCL DIAG x", "DIAG node07:4121:-1 [-1] :-1 | x"},
      {"04:05:06 NCCL DIAG x", "DIAG :-1:-1 [-1] :-1 | x"},
      {"NCCL DIAG === RAS Diagnostics ===", "DIAG :-1:-1 [-1] :-1 | === RAS Diagnostics ==="},
      // RCCL's errors do not name the library.
      {"node01:4242:4242 [0] [FATAL ERROR]: HIP failure: 'x'",
       "WARN node01:4242:4242 [0] :-1 | HIP failure: 'x'"},
      // Plugins put their own words where NCCL puts the file.
      {"node07:4121:4188 [3] int nccl_net_ofi_init(ncclDebugLogger_t):123 NCCL WARN NET/OFI x",
       "WARN node07:4121:4188 [3] int nccl_net_ofi_init(ncclDebugLogger_t):123 | NET/OFI x"},
      {"gpu-a_1.local:1:2 [0] NCCL INFO x", "INFO gpu-a_1.local:1:2 [0] :-1 | x"},
      // Quoted without what stands in front.
      {"NCCL WARN Cuda failure 'x'", "WARN :-1:-1 [-1] :-1 | Cuda failure 'x'"},
      {"NCCL INFO ", "INFO :-1:-1 [-1] :-1 | "},
      {"misc/socket.cc:57 NCCL WARN x", "WARN :-1:-1 [-1] misc/socket.cc:57 | x"},
      // Launchers.
      {"[1,3]<stdout>:node07:4121:4188 [3] NCCL INFO x", "INFO node07:4121:4188 [3] :-1 | x"},
      {"3: node07:4121:4188 [3] NCCL INFO x", "INFO node07:4121:4188 [3] :-1 | x"},
      {"(TrainWorker pid=4242, ip=10.0.0.7) node07:4121:4188 [3] NCCL INFO x",
       "INFO node07:4121:4188 [3] :-1 | x"},
      {"[0] NCCL INFO x", "INFO :-1:-1 [0] :-1 | x"},
      {"[1,3]<stdout>:[0] misc/socket.cc:57 NCCL WARN x", "WARN :-1:-1 [0] misc/socket.cc:57 | x"},
      {"[1,3]<stdout>:[-1] misc/socket.cc:57 NCCL WARN x",
       "WARN :-1:-1 [-1] misc/socket.cc:57 | x"},
      // Where a device stands, even none, what is in front of it is no place in NCCL's source.
      {"job:7 [0] misc/socket.cc:57 NCCL WARN x", "WARN :-1:-1 [0] misc/socket.cc:57 | x"},
      {"job:7 [-1] misc/socket.cc:57 NCCL WARN x", "WARN :-1:-1 [-1] misc/socket.cc:57 | x"},
      {"job:7 [-1] NCCL INFO x", "INFO :-1:-1 [-1] :-1 | x"},
      {"Mon Jan  5 12:00:00 2026[1,3]<stdout>:NCCL INFO x", "INFO :-1:-1 [-1] :-1 | x"},
      {"2026-01-05T12:00:00 NCCL INFO x", "INFO :-1:-1 [-1] :-1 | x"},
      {"[default3]:NCCL INFO x", "INFO :-1:-1 [-1] :-1 | x"},
      {"[0]<stdout>: NCCL INFO x", "INFO :-1:-1 [-1] :-1 | x"},
      {" 40%|####      | 4/10 [00:01<00:02,  2.9it/s]NCCL INFO x", "INFO :-1:-1 [-1] :-1 | x"},
      // NCCL_DEBUG_TIMESTAMP_FORMAT may be anything, and may end without a blank.
      {"[04:05:06.123]node07:4121:4188 [3] NCCL INFO x", "INFO node07:4121:4188 [3] :-1 | x"},
      {"04:05:06node07:4121:4188 [3] NCCL INFO x", "INFO node07:4121:4188 [3] :-1 | x"},
      {"2026-02-03T04:05:06.123-node07:4121:4188 [3] NCCL INFO x",
       "INFO node07:4121:4188 [3] :-1 | x"},
      {"20260203-040506-node07:4121:4188 [3] NCCL INFO x", "INFO node07:4121:4188 [3] :-1 | x"},
      {"Tue 3 Feb 04:05:06 PM CET 2026 node07:4121:4188 [3] a.cc:1 NCCL WARN x",
       "WARN node07:4121:4188 [3] a.cc:1 | x"},
      {"1767614400.123 node07:4121:4188 [3] NCCL INFO x", "INFO node07:4121:4188 [3] :-1 | x"},
      {"2026-worker:4121:4188 [3] NCCL INFO x", "INFO 2026-worker:4121:4188 [3] :-1 | x"},
      {"1,3:07:4121:4188 [3] NCCL INFO x", "INFO 07:4121:4188 [3] :-1 | x"},
      // The last record counts: it cut the first one off, and is whole but for its host's name.
      {"a:1:2 [0] NCCL INFO Channb:3:4 [1] NCCL INFO y", "INFO Channb:3:4 [1] :-1 | y"},
      // Up to 2.3 NCCL does not name itself.
      {"node07:4121:4188 [3] INFO NET/Socket : 1 interfaces found",
       "INFO node07:4121:4188 [3] :-1 | NET/Socket : 1 interfaces found"},
      {"[1,3]<stdout>:node07:4121:4188 [3] include/socket.h:360 WARN Call to connect failed",
       "WARN node07:4121:4188 [3] include/socket.h:360 | Call to connect failed"},
      // Addresses in a message are no header.
      {"a:1:2 [0] NCCL INFO via 10.1.2.3:4:5 [7]", "INFO a:1:2 [0] :-1 | via 10.1.2.3:4:5 [7]"},
      // Numbers that do not fit are no process.
      {"a:99999999999999999999:2 [0] NCCL INFO x", "INFO :-1:-1 [0] :-1 | x"},
      {"node:x:2 [0] NCCL INFO x", "INFO :-1:-1 [0] :-1 | x"},
  };
  for (const HeaderCase& c : cases) EXPECT_EQ(show_nccl(c.line), c.header) << c.line;
}

TEST(Header, NeedsTheAnchorAsWordsOfTheirOwn) {
  for (const std::string_view line :
       {"", "NCCL", "NCCL ", "NCCL INFORMATION x", "a:1:2 [0]NCCL INFO x", "NCCL version 2.20.5",
        "a:1:2 [0] nccl info x", "a:1:2 INFO x", "a:1:2 [0] INFORMATION x", "a:1:2 [0] see WARN x",
        "ENCCL INFO x", "NCCL\xFFINFO x"}) {
    EXPECT_EQ(show_nccl(line), "none") << line;
  }
}

TEST(Header, NotesASecondAnchorWithoutAHost) {
  EXPECT_TRUE(parse_header("a:1:2 [0] NCCL INFO x NCCL INFO y").anchored_twice);
  EXPECT_TRUE(parse_header("a:1:2 [0] NCCL INFO [1,3]<stdout>:NCCL INFO y").anchored_twice);
  EXPECT_TRUE(parse_header("a:1:2 [0] NCCL INFO x NCCL INFO [default3]:NCCL WARN").anchored_twice);
  // Glued to a word it may be a part of it, and a level belongs to it.
  for (const std::string_view line :
       {"a:1:2 [0] NCCL INFO xNCCL INFO y", "a:1:2 [0] NCCL INFO x [1,3]<stdout>:NCCL INFO y",
        "a:1:2 [0] NCCL INFO [1,3]<stdout>:NCCL version 2.20.5"}) {
    EXPECT_FALSE(parse_header(line).anchored_twice) << line;
  }
}

TEST(Header, TakesTheRankFromAPrefix) {
  const Header header = parse_header("[1,3]<stdout>:node07:4121:4188 [0] NCCL INFO x");
  EXPECT_EQ(header.prefix.rank, 3);
  EXPECT_EQ(header.cuda_dev, 0);
}

TEST(Header, TakesTheLabelOfTheSameHostForAPrefixWhateverItsName) {
  const Header header = parse_header("w1: w1:900:950 [0] NCCL INFO Using network IB");
  EXPECT_EQ(header.prefix.host, "w1");
  EXPECT_EQ(header.host, "w1");
  EXPECT_EQ(header.unexplained, "");
  EXPECT_FALSE(header.torn);
  EXPECT_EQ(parse_header("w1: w11:900:950 [0] NCCL INFO Using network IB").unexplained, "w1:");
}

TEST(Header, ReadsBehindTheTagThatMpirunRepeatsInALine) {
  const Header header = parse_header("[1,19]<stderr>:RuntimeError[1,19]<stderr>:: it is over");
  EXPECT_EQ(header.prefix.rank, 19);
  EXPECT_EQ(header.message, "it is over");
  // Another task's record, and what is no exception, stay as they are.
  for (const std::string_view line : {"[1,19]<stderr>:RuntimeError[1,2]<stderr>:: it is over",
                                      "[1,19]<stderr>:see [1,19]<stderr>:: it is over"}) {
    EXPECT_NE(parse_header(line).message, "it is over") << line;
  }
}

TEST(Header, TakesRaysCountOfLeftOutLinesOffTheMessage) {
  const std::string hint =
      " (Ray deduplicates logs by default. Set RAY_DEDUP_LOGS=0 to disable log deduplication, or "
      "see "
      "https://docs.ray.io/x for more options.)";
  const std::string line =
      "(W pid=5) a:1:2 [0] NCCL INFO NCCL_IB_HCA set to mlx5 [repeated 3x across cluster]";
  for (const std::string& text : {line, line + hint}) {
    const Header header = parse_header(text);
    EXPECT_EQ(header.message, "NCCL_IB_HCA set to mlx5");
    EXPECT_EQ(header.repeated, 3);
  }
  EXPECT_EQ(parse_header("(W pid=5) text [repeated 12x across cluster]").message, "text");
  EXPECT_EQ(parse_header("(W pid=5) text [repeated x across cluster]").repeated, 0);
  EXPECT_EQ(parse_header("(W pid=5) text [repeated 3x]").message, "text [repeated 3x]");
}

TEST(Header, KnowsTheBeginningOfAWrappedRecord) {
  EXPECT_TRUE(is_header_stub("[2026-02-03 04:05:06] node:1:2 [1] misc/shmutils.cc:129"));
  EXPECT_TRUE(is_header_stub("node:1:2 [1] misc/shmutils.cc:129 "));
  EXPECT_TRUE(is_header_stub("node:1:2 [1] misc/shmutils.cc:129 (ncclShmOpen)"));
  EXPECT_TRUE(is_header_stub("node:1:2 [1]"));
  EXPECT_TRUE(is_header_stub("node:1:2 [1] NCCL"));
  EXPECT_TRUE(is_header_stub("3: node:1:2 [1] misc/shmutils.cc:129 NCCL "));
  EXPECT_FALSE(is_header_stub("node:1:2 [1] text [1]"));
  EXPECT_FALSE(is_header_stub("GPU [1]"));
  EXPECT_FALSE(is_header_stub("node:1:2 [1] NCCL INFO transport/net.cc:1034"));
  EXPECT_FALSE(is_header_stub("node:1:2 [1] INFO transport/net.cc:1034"));
  EXPECT_FALSE(is_header_stub("misc/shmutils.cc:129"));
  EXPECT_FALSE(is_header_stub(""));
}

TEST(Header, StartsAUnitOnlyWhereNothingContinues) {
  EXPECT_TRUE(may_start_unit("node07:4121:4188 [3] NCCL INFO x"));
  EXPECT_FALSE(may_start_unit("node07:4121:4188 [3] a.cc:1 NCCL WARN x"));
  EXPECT_FALSE(may_start_unit("NCCL INFO x"));
  EXPECT_FALSE(may_start_unit("error: No such file or directory (2)"));
}

TEST(Header, SurvivesEveryBeginningAndAnyByte) {
  const std::string line =
      "[2026-02-03 04:05:06] [1,3]<stdout>:node07:4121:4188 [3] misc/socket.cc:57 (f) NCCL WARN "
      "NET/IB : Got completion";
  for (size_t length = 0; length <= line.size(); ++length) {
    parse_event(line.substr(0, length), all_wordings());
    is_header_stub(line.substr(0, length));
    for (const char byte : {'\0', '\xFF', '[', ':', '\n', '\x1b'}) {
      std::string broken = line;
      if (length < line.size()) broken[length] = byte;
      parse_event(broken, all_wordings());
      is_header_stub(broken);
    }
  }
}

TEST(Header, TornBytesLongerThanAnyHostNameAreNone) {
  const auto host_of = [](size_t length) {
    const std::string line = std::string(length, 'n') + ":41:42 [0] NCCL INFO Using network Socket";
    return std::string(parse_header(line).host);
  };
  EXPECT_EQ(host_of(255), std::string(255, 'n'));
  EXPECT_EQ(host_of(256), "");
}

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
    // What lost its beginning.
    {"ProcessGroupNCCL.cpp:629] [Rank 1] text", -1, "", "", 1, "ProcessGroupNCCL.cpp", 629,
     " text"},
    {"38.928019586 ProcessGroupNCCL.cpp:607] [PG 3 Rank 4] text", -1, "3", "", 4,
     "ProcessGroupNCCL.cpp", 607, " text"},
    {"[Rank 2] Watchdog caught text", -1, "", "", 2, "", -1, " Watchdog caught text"},
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
    const Header header = parse_header(row.line);
    EXPECT_EQ(header.level, Level::Framework);
    EXPECT_EQ(header.prefix.rank, row.rank);
    EXPECT_EQ(header.process_group, row.group);
    EXPECT_EQ(header.process_group_name, row.group_name);
    EXPECT_EQ(header.group_rank, row.group_rank);
    EXPECT_EQ(header.file, row.file);
    EXPECT_EQ(header.line, row.file_line);
    EXPECT_EQ(header.message, row.message);
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
      "[Rank 3] text",
      "E0717 text",
      "ERROR:root:text",
      "see torch.distributed] for more",
  };
  for (const std::string_view line : lines)
    EXPECT_NE(parse_header(line).level, Level::Framework) << line;
}

TEST(FrameworkHeader, KeepsTheTitleOfTheBarBeforeTheRecord) {
  const Header header = parse_header(
      "Validation:  1%|  | 2/210 [00:01<02:58,  1.16it/s][rank0]:[E ProcessGroupNCCL.cpp:1] text");
  EXPECT_EQ(header.level, Level::Framework);
  EXPECT_EQ(header.prefix.progress_title, "Validation");
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

struct TextRow {
  std::string_view text;
  bool holds;
};

TEST(RecordMarks, ProcessOfAnotherRecordIsSeenAnywhere) {
  constexpr TextRow kRows[] = {
      {"Using [0]ethnode-b:52:52 [1] NCCL INFO", true},
      {"node-b:52:52 [1] NC", true},
      {"NET/Socket : Using [0]eth0:10.1.2.3<0> [1]eth1:10.1.3.3<0>", false},
      {"comm 0xa rank 0 at 04:05:06 [trainer]", false},
      {"node-b:52:52 [", false},
      {":52:52 [1]", false},
      {"", false},
  };
  for (const TextRow& row : kRows) EXPECT_EQ(holds_process(row.text), row.holds) << row.text;
}

TEST(RecordMarks, TaskTagIsSeenAnywhere) {
  constexpr TextRow kRows[] = {
      {"frame #3: c10d::Proc[rank1]:[E1120 21:25:35", true},
      {"Sock[rank12]:", true},
      {"[rank12]:", false},
      {"<worker 3> [rank12]:", false},
      {"via P2P/[default1]:CUMEM", true},
      {"Trees [0] 1/-1/-1->0->-1 [1]: [0]eth0:10.1.2.3<0>", false},
      {"x[rank]: x[rank1] x[rank1:", false},
      {"x[rank1", false},
  };
  for (const TextRow& row : kRows)
    EXPECT_EQ(find_task_tag(row.text) != row.text.npos, row.holds) << row.text;
}

TEST(RecordMarks, AnNcclMessageDoesNotBeginWithATask) {
  constexpr std::string_view kCut = "[rank2]:[E ProcessGroupNCCL.cpp:563] [Rank 2] Watchdog caught";
  EXPECT_EQ(find_task_tag(kCut, true), 0u);
  EXPECT_EQ(find_task_tag(kCut), kCut.npos);
  EXPECT_EQ(find_task_tag("[Service thread] Accept failed", true), kCut.npos);
}

struct HostRow {
  std::string_view host;
  std::string_view known;
  bool interrupted;
};

TEST(RecordMarks, HostWithBytesInsideIsNoOther) {
  constexpr HostRow kRows[] = {
      {"node-node-ba", "node-a", true}, {"noe-de-a", "node-a", true},
      {"no13de-a", "node-a", true},     {"worker-11", "worker-1", false},
      {"node-1-a", "node-a", false},    {"node-a", "node-a", false},
      {"node-ab", "node-a", false},     {"a", "", false},
  };
  for (const HostRow& row : kRows) {
    EXPECT_EQ(is_interrupted(row.host, row.known), row.interrupted) << row.host;
  }
}

}  // namespace
}  // namespace ncclog

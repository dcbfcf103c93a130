#include "log/event_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "log/known_messages.h"

namespace ncclog {
namespace {

std::vector<std::string_view> views_of(const Event& event) {
  const Header& header = event.header;
  std::vector<std::string_view> views = {header.host,
                                         header.file,
                                         header.process_group,
                                         header.process_group_name,
                                         header.unexplained,
                                         header.message,
                                         header.prefix.host,
                                         header.prefix.address,
                                         header.prefix.time,
                                         header.prefix.stream,
                                         header.prefix.progress_title};
  views.insert(views.end(), event.message.fields.begin(), event.message.fields.end());
  return views;
}

TEST(Event, MovesWithItsLine) {
  constexpr std::string_view kLines[] = {
      "(Trainer pid=7, ip=10.0.0.7) odd node-a:41:42 [3] misc/socket.cc:57 NCCL WARN Connect to "
      "10.0.0.8<5000> failed : Connection refused",
      "node-a:41:42 [3] NCCL INFO comm 0xa rank 1 nranks 2 cudaDev 1 busId 70 - Destroy COMPLETE",
      "[rank6]:[E717 13:20:49.407638053 ProcessGroupNCCL.cpp:632] [PG ID 0 PG GUID 0(default_pg) "
      "Rank 6] Watchdog caught collective operation timeout",
      "[pod/worker-3/pytorch] Validation:   1%|          | 2/210 [00:01<02:58,  1.16it/s]done", ""};
  for (const std::string_view line : kLines) {
    const std::string copy(line);
    const Event event = parse_event(line, all_wordings());
    const Event other = moved(event, line, copy);
    EXPECT_EQ(other.fate, event.fate);
    EXPECT_EQ(other.message.kind, event.message.kind);
    EXPECT_EQ(views_of(other), views_of(event)) << line;
    for (const std::string_view view : views_of(other)) {
      if (view.empty()) continue;
      EXPECT_TRUE(view.data() >= copy.data() && view.end() <= copy.data() + copy.size()) << view;
    }
  }
}

constexpr std::string_view kErrors[] = {
    "[rank3]: ncclRemoteError: A call failed possibly due to a network error",
    "srun: error: node7: task 9: Exited with exit code 134",
    "node4.cluster.example: rank 4 died from signal 6 and dumped core",
    "worker 3 exited with code 1",
    "container exited with code 0x8b",
    "lookup of head-0 failed (gai error: -2 - Name or service not known)",
    "???:41:42 NCCL WARN Call to bind failed",
    "./run.sh: line 7: 4711 Aborted  (core dumped) python train.py",
};

constexpr std::string_view kOthers[] = {
    "worker 3 exited with code 0",
    "srun: job 4711 exited with exit code 0.",
    "    raise RuntimeError('ncclSystemError')",
    "# ncclInternalError means that a check failed",
    "TORCH_NCCL_ASYNC_ERROR_HANDLING=1",
    "step 3 loss 0.12",
    "",
};

TEST(ErrorLine, KnowsWhatReportsAnError) {
  for (const std::string_view line : kErrors) EXPECT_TRUE(looks_like_error(line)) << line;
  for (const std::string_view line : kOthers) EXPECT_FALSE(looks_like_error(line)) << line;
}

/// Lines without any needle are never asked.
TEST(ErrorLine, EveryErrorHoldsANeedle) {
  const auto needles = error_needles();
  for (const std::string_view line : kErrors) {
    EXPECT_TRUE(std::any_of(needles.begin(), needles.end(), [&](std::string_view needle) {
      return line.find(needle) != line.npos;
    })) << line;
  }
}

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kDay = 86400 * kSecond;

struct TimeRow {
  const char* head;
  const char* text;  ///< Empty: no time.
  int year;
  int64_t nanoseconds;
  bool has_zone;
};

const TimeRow kTimes[] = {
    {"[2026-02-03 04:05:06] node07:41:42 [3] ", "2026-02-03 04:05:06", 2026,
     33 * kDay + 14706 * kSecond, false},
    {"2026-01-05T12:00:00.000000001Z ", "2026-01-05T12:00:00.000000001Z", 2026,
     4 * kDay + 43200 * kSecond + 1, true},
    {"2026-01-05T12:00:00+02:00 host:1:1 [0] ", "2026-01-05T12:00:00+02:00", 2026,
     4 * kDay + 36000 * kSecond, true},
    {"2024-03-01 00:00:00,250 ", "2024-03-01 00:00:00,250", 2024, 60 * kDay + kSecond / 4, false},
    {"2026-03-01 00:00:00 ", "2026-03-01 00:00:00", 2026, 60 * kDay, false},
    {"[rank3]:[E717 13:20:49.5 ProcessGroupNCCL.cpp:632] ", "717 13:20:49.5", 0,
     198 * kDay + 48049 * kSecond + kSecond / 2, false},
    {"I20260105 12:00:00 4242 x.cpp:1] ", "20260105 12:00:00", 2026, 4 * kDay + 43200 * kSecond,
     false},
    {"Jan  5 12:00:00 node07 kernel: ", "Jan  5 12:00:00", 0, 4 * kDay + 43200 * kSecond, false},
    {"[Mon Jan  5 12:00:00 2026] ", "Mon Jan  5 12:00:00 2026", 0, 4 * kDay + 43200 * kSecond,
     false},
    {"(EngineCore_0 pid=4121) INFO 01-05 12:00:00 [core.py:58] ", "01-05 12:00:00", 0,
     4 * kDay + 43200 * kSecond, false},
    {"between 01-05 12:00:00 and ", "", 0, 0, false},
    {"INFO 13-05 12:00:00 ", "", 0, 0, false},
    // The collector's stamp wins over NCCL's own.
    {"2026-01-05T12:00:00Z [2026-01-05 13:00:00] h:1:1 [0] ", "2026-01-05T12:00:00Z", 2026,
     4 * kDay + 43200 * kSecond, true},
    {"node07:4121:4188 [3] ", "", 0, 0, false},
    {"2026-13-05 12:00:00 ", "", 0, 0, false},
    {"2026-01-00 12:00:00 ", "", 0, 0, false},
    {"E1 ", "", 0, 0, false},
    {"", "", 0, 0, false},
};

TEST(LineTime, IsFoundInFrontOfTheMessage) {
  for (const TimeRow& row : kTimes) {
    const LineTime time = find_line_time(row.head);
    EXPECT_EQ(time.text, row.text) << row.head;
    EXPECT_EQ(time.year, row.year) << row.head;
    EXPECT_EQ(time.nanoseconds, row.nanoseconds) << row.head;
    EXPECT_EQ(time.has_zone, row.has_zone) << row.head;
  }
}

TEST(LineTime, OfALineIsThatInFrontOfItsMessage) {
  EXPECT_EQ(time_of_line("[2026-02-03 04:05:06] n7:41:42 [3] NCCL INFO Using network IB").text,
            "2026-02-03 04:05:06");
  EXPECT_EQ(time_of_line("n7:41:42 [3] NCCL INFO until 2026-02-03 04:05:06").text, "");
  EXPECT_EQ(time_of_line("").text, "");
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

/// Records as "first line number+lines: text".
std::vector<std::string> joined_lines(const std::vector<std::string>& lines) {
  std::vector<std::string> records;
  RecordJoiner joiner([&](const Line& record, int count) {
    records.push_back(std::to_string(record.number) + "+" + std::to_string(count) + ": " +
                      std::string(record.text));
  });
  uint64_t number = 0;
  for (const std::string& text : lines) {
    Line line;
    line.text = text;
    line.number = ++number;
    joiner.add(line);
  }
  joiner.finish();
  return records;
}

using Records = std::vector<std::string>;

TEST(RecordJoiner, HandsOrdinaryLinesOn) {
  EXPECT_EQ(joined_lines({"a", "", "node:1:2 [0] NCCL INFO x"}),
            (Records{"1+1: a", "2+1: ", "3+1: node:1:2 [0] NCCL INFO x"}));
}

TEST(RecordJoiner, JoinsARecordThatAPageWrapped) {
  EXPECT_EQ(joined_lines({"[2026-02-03 04:05:06] node:1:2 [1] misc/shmutils.cc:129",
                          "NCCL WARN Error while attaching to shared memory segment x (size 0), ",
                          "error: No such file or directory (2)"}),
            (Records{"1+3: [2026-02-03 04:05:06] node:1:2 [1] misc/shmutils.cc:129 NCCL WARN Error "
                     "while attaching to shared memory segment x (size 0), error: No such file or "
                     "directory (2)"}));
}

TEST(RecordJoiner, JoinsAHeaderThatWasWrappedAnywhereBehindItsProcess) {
  EXPECT_EQ(joined_lines({"node:1:2 [1]", "NCCL INFO x"}),
            (Records{"1+2: node:1:2 [1] NCCL INFO x"}));
  EXPECT_EQ(joined_lines({"node:1:2 [1] NCCL ", "INFO x"}),
            (Records{"1+2: node:1:2 [1] NCCL INFO x"}));
  EXPECT_EQ(joined_lines({"node:1:2", "[1] NCCL INFO x"}),
            (Records{"1+2: node:1:2 [1] NCCL INFO x"}));
  EXPECT_EQ(joined_lines({"node:1:2 [1] NCCL", "text"}),
            (Records{"1+1: node:1:2 [1] NCCL", "2+1: text"}));
  EXPECT_EQ(joined_lines({"node:1:2 [1]", "node:1:2 [1] NCCL INFO x"}),
            (Records{"1+1: node:1:2 [1]", "2+1: node:1:2 [1] NCCL INFO x"}));
}

TEST(RecordJoiner, JoinsAFrameworkRecordThatATerminalCut) {
  const std::string begin =
      "[rank6]:[E429 13:55:49.384372190 ProcessGroupNCCL.cpp:1743] [PG ID 0 PG GUID ";
  const std::string stuck = "0(default_pg) Rank 6] ProcessGroupNCCL's watchdog got stuck for 480 ";
  const std::string seconds = "seconds without making progress in monitoring enqueued collectives.";
  const std::string whole = begin + "0(default_pg) Rank 6] ProcessGroupNCCL's watchdog got stuck ";
  // In the middle of a word, and where the blank at the line's end was lost.
  EXPECT_EQ(joined_lines(
                {whole + "for 480 secon", "ds without making progress in monitoring enqueued col"}),
            (Records{"1+1: " + whole + "for 480 secon",
                     "2+1: ds without making progress in monitoring enqueued col"}));
  EXPECT_EQ(joined_lines({whole + "for 480 secon",
                          "ds without making progress in monitoring enqueued "
                          "collectives. Then"}),
            (Records{"1+2: " + whole + "for 480 " + seconds + " Then"}));
  EXPECT_EQ(joined_lines({whole + "for 480", seconds}),
            (Records{"1+2: " + whole + "for 480 " + seconds}));
  // What is understood alone, or begins a record, is no rest.
  EXPECT_EQ(joined_lines({whole, "Traceback (most recent call last):"}),
            (Records{"1+1: " + whole, "2+1: Traceback (most recent call last):"}));
  EXPECT_EQ(joined_lines({begin + stuck, "node:1:2 [0] NCCL INFO x"}),
            (Records{"1+1: " + begin + stuck, "2+1: node:1:2 [0] NCCL INFO x"}));
}

TEST(RecordJoiner, JoinsBehindTheSamePrefixOnly) {
  EXPECT_EQ(joined_lines({"3: node:1:2 [1] a.cc:9", "3: NCCL WARN x", "3: y"}),
            (Records{"1+3: 3: node:1:2 [1] a.cc:9 NCCL WARN x y"}));
  EXPECT_EQ(joined_lines({"[0]<stdout>: node:1:2 [1] a.cc:9", "[0]<stdout>: NCCL WARN x"}),
            (Records{"1+2: [0]<stdout>: node:1:2 [1] a.cc:9 NCCL WARN x"}));
  EXPECT_EQ(joined_lines({"3: node:1:2 [1] a.cc:9", "NCCL WARN x", "4: y"}),
            (Records{"1+2: 3: node:1:2 [1] a.cc:9 NCCL WARN x", "3+1: 4: y"}));
}

TEST(RecordJoiner, EndsARecordAtABlankLineOrAHeader) {
  EXPECT_EQ(joined_lines({"node:1:2 [1] a.cc:9", "NCCL WARN x", "", "text"}),
            (Records{"1+2: node:1:2 [1] a.cc:9 NCCL WARN x", "3+1: ", "4+1: text"}));
  EXPECT_EQ(joined_lines({"node:1:2 [1] a.cc:9", "NCCL WARN x", "node:1:2 [1] NCCL INFO y"}),
            (Records{"1+2: node:1:2 [1] a.cc:9 NCCL WARN x", "3+1: node:1:2 [1] NCCL INFO y"}));
  EXPECT_EQ(
      joined_lines({"node:1:2 [1] a.cc:9", "NCCL WARN x", "node:1:2 [1] b.cc:9", "NCCL WARN y"}),
      (Records{"1+2: node:1:2 [1] a.cc:9 NCCL WARN x", "3+2: node:1:2 [1] b.cc:9 NCCL WARN y"}));
}

TEST(RecordJoiner, GivesUpOnAStubThatNothingContinues) {
  EXPECT_EQ(joined_lines({"node:1:2 [1] a.cc:9", "text"}),
            (Records{"1+1: node:1:2 [1] a.cc:9", "2+1: text"}));
  EXPECT_EQ(joined_lines({"node:1:2 [1] a.cc:9"}), (Records{"1+1: node:1:2 [1] a.cc:9"}));
}

TEST(RecordJoiner, PutsAnAnswerBehindItsCommand) {
  EXPECT_EQ(joined_lines({"$ mpirun -np 1 bash -c 'ulimit -l'", "8192", "8192"}),
            (Records{"1+2: $ mpirun -np 1 bash -c 'ulimit -l' 8192", "3+1: 8192"}));
  EXPECT_EQ(joined_lines({"[default0]:$ ulimit -l", "[default0]:8192"}),
            (Records{"1+2: [default0]:$ ulimit -l 8192"}));
  EXPECT_EQ(joined_lines({"$ ulimit -l", "unlimited"}), (Records{"1+2: $ ulimit -l unlimited"}));
  EXPECT_EQ(joined_lines({"$ ulimit -l", "node:1:2 [1] NCCL INFO y"}),
            (Records{"1+1: $ ulimit -l", "2+1: node:1:2 [1] NCCL INFO y"}));
}

TEST(RecordJoiner, CountsEveryLineOnce) {
  const std::vector<std::string> pieces{
      "node:1:2 [1] a.cc:9",     "NCCL WARN x", "rest", "", "$ ulimit -l", "64",
      "node:1:2 [1] NCCL INFO y"};
  for (size_t seed = 0; seed < 2000; ++seed) {
    size_t state = seed;
    size_t count = 0;
    RecordJoiner joiner([&](const Line&, int lines) { count += static_cast<size_t>(lines); });
    for (int i = 0; i < 8; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      Line line;
      line.text = pieces[(state >> 33) % pieces.size()];
      joiner.add(line);
    }
    joiner.finish();
    ASSERT_EQ(count, 8u) << "seed " << seed;
  }
}

/// Records as "first line number+lines kind: text"; kind is "?" where no wording fits.
Records joined_messages(const std::vector<std::string>& lines) {
  Records records;
  BrokenMessage messages(all_wordings(), [&](const Line& record, const Event& event, int count) {
    const std::string kind = event.message.kind ? std::string(event.message.kind->name) : "?";
    records.push_back(std::to_string(record.number) + "+" + std::to_string(count) + " " + kind +
                      ": " + std::string(record.text));
  });
  uint64_t number = 0;
  for (const std::string& text : lines) {
    Line line;
    line.text = text;
    line.number = ++number;
    messages.add(line, 1);
  }
  messages.finish();
  return records;
}

const std::string kBegin = "node:1:2 [0] NCCL INFO comm 0x5e0 rank 3 nranks 8 cudaDev 3 nvmlDev";
const std::string kRest = "3 busId a1000 commId 0x315c - Init COMPLETE";

TEST(BrokenMessage, IsJoinedWhereAWordingFitsTheLinesTogetherOnly) {
  EXPECT_EQ(joined_messages({kBegin, kRest}), (Records{"1+2 comm_init: " + kBegin + " " + kRest}));
  EXPECT_EQ(joined_messages({kBegin, "3 busId a1000 commId", "0x315c - Init COMPLETE"}),
            (Records{"1+3 comm_init: " + kBegin + " " + kRest}));
  // A terminal breaks words too.
  EXPECT_EQ(joined_messages({kBegin + " 3 busId a1000 comm", "Id 0x315c - Init COMPLETE"}),
            (Records{"1+2 comm_init: " + kBegin + " " + kRest}));
}

TEST(BrokenMessage, IsJoinedBehindTheSamePrefix) {
  EXPECT_EQ(joined_messages({"3: " + kBegin, "3: " + kRest}),
            (Records{"1+2 comm_init: 3: " + kBegin + " " + kRest}));
  EXPECT_EQ(joined_messages({"3: " + kBegin, "4: " + kRest}),
            (Records{"1+1 ?: 3: " + kBegin, "2+1 ?: 4: " + kRest}));
}

TEST(BrokenMessage, StaysAsItIsWhereNothingFits) {
  EXPECT_EQ(joined_messages({kBegin, "text"}), (Records{"1+1 ?: " + kBegin, "2+1 ?: text"}));
  EXPECT_EQ(joined_messages({kBegin, "", kRest}),
            (Records{"1+1 ?: " + kBegin, "2+1 ?: ", "3+1 ?: " + kRest}));
  EXPECT_EQ(joined_messages({kBegin, "node:1:3 [0] NCCL INFO Connected all rings", kRest}),
            (Records{"1+1 ?: " + kBegin,
                     "2+1 rings_connected: node:1:3 [0] NCCL INFO Connected all rings",
                     "3+1 ?: " + kRest}));
  EXPECT_EQ(joined_messages({kBegin, "a", "b", "c", "d"}),
            (Records{"1+1 ?: " + kBegin, "2+1 ?: a", "3+1 ?: b", "4+1 ?: c", "5+1 ?: d"}));
}

TEST(BrokenMessage, AWarningThatAnExceptionQuotesIsReadAsOne) {
  const std::string label = "[rank1]: Last error:";
  const std::string warning = "Call to ibv_create_qp failed with error Cannot allocate memory";
  EXPECT_EQ(joined_messages({label, "[rank1]: " + warning}),
            (Records{"1+1 last_error_label: " + label, "2+1 ib_call_failed: [rank1]: " + warning}));
  // A text that is no WARN, a header of its own: the label stands alone.
  EXPECT_EQ(joined_messages({label, "[rank1]: over and out"}),
            (Records{"1+1 last_error_label: " + label, "2+1 ?: [rank1]: over and out"}));
  // Another rank's words are not this one's last error: each line stays its own.
  EXPECT_EQ(joined_messages({label, "[rank2]: " + warning}),
            (Records{"1+1 last_error_label: " + label, "2+1 ib_call_failed: [rank2]: " + warning}));
  EXPECT_EQ(joined_messages({label}), (Records{"1+1 last_error_label: " + label}));
}

TEST(BrokenMessage, ACutCompletionIsReadByItsBeginningAndJoinedWhereItGoesOn) {
  const std::string begin =
      "ib4:7:8 [0] transport/net_ib.cc:1238 NCCL WARN NET/IB : Got completion from peer "
      "ib9<40312> with error 12, opcode 1, len 0, vendor";
  EXPECT_EQ(joined_messages({begin}), (Records{"1+1 ib_completion: " + begin}));
  EXPECT_EQ(joined_messages({begin, "err 129 (Send)"}),
            (Records{"1+2 ib_completion: " + begin + " err 129 (Send)"}));
  EXPECT_EQ(joined_messages({begin, "text"}),
            (Records{"1+1 ib_completion: " + begin, "2+1 ?: text"}));
}

}  // namespace
}  // namespace ncclog

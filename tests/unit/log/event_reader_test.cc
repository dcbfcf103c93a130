#include "log/event_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "log/messages.h"

namespace ncclog {
namespace {

/// For each line that means something "kind" or "kind type", one behind the other.
std::string meanings(std::string_view log) {
  std::string all;
  EventReader reader([&](const Line&, const Event& event, int) {
    if (event.message.kind == nullptr) return;
    if (!all.empty()) all += ", ";
    all += event.message.kind->name;
    if (event.message.kind->index == kKindIndex<PythonException>)
      all.append(" ").append(read_message<PythonException>(event.message).type);
  });
  Line line;
  for (const std::string_view text : split(log, '\n')) {
    line.text = text;
    ++line.number;
    reader.add(line);
  }
  reader.finish();
  return all;
}

const std::string kFrames =
    "Traceback (most recent call last):\n"
    "  File \"/w/train.py\", line 210, in main\n"
    "    batch = next(batches)\n";

/// `log` behind the same prefix on every line.
std::string of_rank(int rank, std::string_view log) {
  std::string all;
  if (log.ends_with('\n')) log.remove_suffix(1);
  for (const std::string_view line : split(log, '\n'))
    all += "[rank" + std::to_string(rank) + "]: " + std::string(line) + "\n";
  return all;
}

TEST(Tracebacks, TheLineBehindTheFramesIsTheExceptionWhateverItsName) {
  EXPECT_EQ(meanings(kFrames + "data.errors.ShardCorrupt: shard 12"),
            "traceback_started, python_exception data.errors.ShardCorrupt");
  EXPECT_EQ(meanings(kFrames + "_queue.Empty"),
            "traceback_started, python_exception _queue.Empty, traceback_frame");
  EXPECT_EQ(meanings(of_rank(3, kFrames + "bdb.BdbQuit")),
            "traceback_started, python_exception bdb.BdbQuit, traceback_frame");
}

TEST(Tracebacks, AnExceptionWithoutAMessageIsToldWithItsLastFrame) {
  EXPECT_EQ(meanings(kFrames + "NotImplementedError"),
            "traceback_started, python_exception NotImplementedError, traceback_frame");
  EXPECT_EQ(meanings(of_rank(3, kFrames + "AssertionError")),
            "traceback_started, python_exception AssertionError, traceback_frame");
  // Ray's frames stand below the exception of the task.
  EXPECT_EQ(
      meanings(kFrames + "task.Failed: in a worker\n  File \"a/b/loss.py\", line 7, in value\n"
                         "    assert ok\nAssertionError"),
      "traceback_started, python_exception task.Failed, traceback_frame, "
      "python_exception AssertionError, traceback_frame");
  EXPECT_EQ(meanings("AssertionError"), "python_exception AssertionError");
}

TEST(Tracebacks, VllmWritesThemBehindTheLastLineOfTheException) {
  EXPECT_EQ(meanings("(Worker pid=4) ERROR 05-06 10:11:12 util.py:226] "
                     "Error while creating shared memory segment /dev/shm/nccl-a (size 9637888), "
                     "Traceback (most recent call last):"),
            "shm_create_failed, traceback_started");
}

TEST(Tracebacks, OtherLinesBehindTheFramesAreNone) {
  EXPECT_EQ(meanings(kFrames + "Epoch: 3"), "traceback_started");
  EXPECT_EQ(meanings(kFrames + "loss: 3.1"), "traceback_started");
  EXPECT_EQ(meanings(kFrames + "During handling of the above exception, another one occurred:"),
            "traceback_started");
}

TEST(Tracebacks, WithoutFramesANameIsNoException) {
  EXPECT_EQ(meanings("_queue.Empty"), "");
  EXPECT_EQ(meanings("Traceback (most recent call last):\n_queue.Empty"), "traceback_started");
  EXPECT_EQ(meanings(kFrames + "ValueError: no\n_queue.Empty"),
            "traceback_started, python_exception ValueError");
}

TEST(Tracebacks, WhatPythonIgnoredRaisesNothing) {
  const std::string ignored = "Exception ignored in: <function L.__del__ at 0x7f0>\n" + kFrames;
  EXPECT_EQ(meanings(ignored + "AssertionError: can only test a child process"),
            "exception_ignored");
  EXPECT_EQ(meanings(ignored + "AssertionError: one\n" + kFrames + "ValueError: two"),
            "exception_ignored, traceback_started, python_exception ValueError");
}

TEST(Tracebacks, RanksThatTakeTurnsAreToldApart) {
  const std::string first = of_rank(0, "Exception ignored in: <function L.__del__ at 0x7f0>");
  EXPECT_EQ(meanings(first + of_rank(1, kFrames) + of_rank(0, kFrames) +
                     of_rank(1, "data.Missing: x") + of_rank(0, "ValueError: y")),
            "exception_ignored, traceback_started, python_exception data.Missing");
}

TEST(Tracebacks, ALineFromWhichALogMayBeReadEndsThem) {
  const std::string info = "node-a:41:42 [0] NCCL INFO Using network Socket\n";
  EXPECT_EQ(meanings(kFrames + info + "data.Missing: x"), "traceback_started, network_selected");
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

TEST(RecordJoiner, JoinsAWorkThatATerminalCutTwice) {
  const std::string whole =
      "[rank1]:[E424 01:17:25.031948957 ProcessGroupNCCL.cpp:1895] [PG ID 0 PG GUID 0(default_pg) "
      "Rank 1] Process group watchdog thread terminated with exception: [Rank 1] Watchdog caught "
      "collective operation timeout: WorkNCCL(SeqNum=4, OpType=BROADCAST, NumelIn=7, NumelOut=7, "
      "Timeout(ms)=1800000) ran for 1800010 milliseconds before timing out.";
  const size_t width = 137;
  EXPECT_EQ(
      joined_lines({whole.substr(0, width), whole.substr(width, width), whole.substr(2 * width)}),
      (Records{"1+3: " + whole}));
  // What is as wide by accident stays a line of its own.
  const std::string begin = whole.substr(0, width);
  const std::string other(width, 'x');
  EXPECT_EQ(joined_lines({begin, other}), (Records{"1+1: " + begin, "2+1: " + other}));
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

TEST(RecordJoiner, KnowsTheBytesOfALineThatNothingContinues) {
  Line ascii;
  ascii.has_control = ascii.has_high = false;
  std::vector<bool> has_high;
  RecordJoiner joiner([&](const Line& record, int) {
    EXPECT_EQ(record.has_control, record.has_high);
    has_high.push_back(record.has_high);
  });
  for (const std::string_view text :
       {"text", "node:1:2 [1] a.cc:9", "text", "node:1:2 [1] a.cc:9", "NCCL WARN x"}) {
    ascii.text = text;
    joiner.add(ascii);
  }
  joiner.finish();
  EXPECT_EQ(has_high, (std::vector<bool>{false, false, false, true}));
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

TEST(BrokenMessage, ACollectorsStampOnTheFurtherLinesNamesNobodyElse) {
  const std::string stamp = "2026-01-05T12:00:00Z ";
  const std::string begin = "[rank6]: " + kBegin;
  EXPECT_EQ(joined_messages({stamp + begin, stamp + kRest}),
            (Records{"1+2 comm_init: " + stamp + begin + " " + kRest}));
}

TEST(BrokenMessage, AWorkThatAnExceptionQuotesIsJoinedWhereItsFieldsGoOn) {
  const std::string begin =
      "[rank6]:  what():  [Rank 6] Watchdog caught collective operation timeout: "
      "WorkNCCL(SeqNum=77, OpType=BROADCAST,";
  const std::string rest = "Timeout(ms)=600000) ran for 600120 milliseconds before timing out.";
  EXPECT_EQ(joined_messages({begin, rest}), (Records{"1+2 cpp_what: " + begin + " " + rest}));
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

TEST(BrokenMessage, AnExceptionSaysWhatStandsBelowIt) {
  const std::string load = "[rank1]: RuntimeError: Error(s) in loading state_dict for Net:";
  EXPECT_EQ(joined_messages({load, "[rank1]: \tsize mismatch for head.weight", "[rank1]: \tand"}),
            (Records{"1+2 python_exception: " + load + " size mismatch for head.weight",
                     "3+1 ?: [rank1]: \tand"}));
  EXPECT_EQ(joined_messages({"ValueError:", "1 validation error"}),
            (Records{"1+2 python_exception: ValueError: 1 validation error"}));
  const std::string list = "ValidationError: 1 validation error for Config";
  EXPECT_EQ(joined_messages({list, "  Value error, too long"}),
            (Records{"1+2 python_exception: " + list + " Value error, too long"}));
  for (const std::string next : {"Epoch 3 done", "    loss = step(batch)", "", "[rank2]: \tx",
                                 "Traceback (most recent call last):", "  warnings.warn(",
                                 "\tat java.lang.Thread.run(Thread.java:1)"}) {
    EXPECT_EQ(joined_messages({"[rank1]: ValueError: bad batch", next}).front(),
              "1+1 python_exception: [rank1]: ValueError: bad batch")
        << next;
  }
}

TEST(HeadedTable, ARowOfNumbersIsOneBelowAHeadingOnly) {
  const std::string heading = "size(MB)   tavg(usec)    avgbw(GB/sec)\n";
  EXPECT_EQ(meanings("1.00      121.5         14.41"), "");
  EXPECT_EQ(meanings(heading + "1.00      121.5         14.41\n1.25      115.3         18.97"),
            "bandwidth_columns, bandwidth_row, bandwidth_row");
  EXPECT_EQ(meanings(heading + "1.00      121.5"), "bandwidth_columns") << "a cell is lost";
  EXPECT_EQ(meanings(heading + "--------\n\n1.00      121.5         14.41"),
            "bandwidth_columns, bandwidth_row");
}

TEST(HeadedTable, RowsOfTimesAloneAreNoBandwidth) {
  const std::string times = "# Size          Latency (us)\n";
  EXPECT_EQ(meanings(times + "4194304               493.41"), "bandwidth_columns");
  EXPECT_EQ(meanings("# Size      Bandwidth (MB/s)\n1048576       9906.17\n" + times +
                     "4194304               493.41"),
            "bandwidth_columns, bandwidth_row, bandwidth_columns");
}

TEST(HeadedTable, EndsWhereOthersSpeakForLong) {
  const std::string heading = "size(MB)   tavg(usec)    avgbw(GB/sec)\n";
  std::string others;
  for (int i = 0; i < 8; ++i) others += "loading shard\n";
  EXPECT_EQ(meanings(heading + others + "1.00      121.5         14.41"), "bandwidth_columns");
  EXPECT_EQ(meanings(of_rank(0, heading) + "[rank1]: 1.00      121.5         14.41"),
            "bandwidth_columns")
      << "another rank's";
}

}  // namespace
}  // namespace ncclog

// What the lines of tracebacks mean, read one behind the other.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "log/event_reader.h"
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
  EXPECT_EQ(meanings(kFrames + "_queue.Empty"), "traceback_started, python_exception _queue.Empty");
  EXPECT_EQ(meanings(of_rank(3, kFrames + "bdb.BdbQuit")),
            "traceback_started, python_exception bdb.BdbQuit");
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

}  // namespace
}  // namespace ncclog

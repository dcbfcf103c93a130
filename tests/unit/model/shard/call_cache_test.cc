#include "model/shard/call_cache.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "log/event.h"
#include "log/known_messages.h"

namespace ncclog {
namespace {

constexpr std::string_view kLine =
    "node-a:4001:4009 [0] NCCL INFO AllGather: opCount 1a sendbuff 0x7f3eae00000 recvbuff "
    "0x7f3ece00000 count 1048576 datatype 9 op 0 root 0 comm 0x2610000 [nranks=8] stream "
    "0x5581aa30";

void learn(CallCache& calls, std::string_view line) {
  calls.learn(line, parse_event(line, all_wordings()));
}

/// Bytes of the line with which `text` begins, if it is known; what follows is long enough.
size_t known_bytes(CallCache& calls, std::string text) {
  text += std::string(CallCache::kMaxLineBytes, '#');
  CachedCallLine line;
  const size_t length = calls.find(text, line);
  if (length > 0) {
    EXPECT_EQ(line.text, std::string_view(text).substr(0, length - 1));
  }
  return length;
}

/// Calls of which that line was read; or found before, too, so that it is foreseen.
void learn_and_find(CallCache& calls, std::string_view line, bool is_foreseen) {
  learn(calls, line);
  if (is_foreseen) {
    EXPECT_GT(known_bytes(calls, std::string(line) + "\n"), 0u);
  }
}

std::string replaced(std::string_view line, std::string_view from, std::string_view to) {
  std::string text(line);
  text.replace(text.find(from), from.size(), to);
  return text;
}

TEST(CallCache, FindsALineThatDiffersInOpCountAndBuffersOnly) {
  struct Row {
    std::string_view name, from, to;
  };
  constexpr Row kRows[] = {
      {"the same", "opCount", "opCount"},
      {"opCount", "opCount 1a", "opCount 1b3"},
      {"send buffer", "0x7f3eae00000", "0x7f"},
      {"no send buffer", "0x7f3eae00000", "(nil)"},
      {"receive buffer", "0x7f3ece00000", "0x7f3ece0000012345"},
  };
  for (const Row& row : kRows) {
    for (const bool is_foreseen : {false, true}) {
      CallCache calls;
      learn_and_find(calls, kLine, is_foreseen);
      const std::string line = replaced(kLine, row.from, row.to) + "\n";
      EXPECT_EQ(known_bytes(calls, line), line.size()) << row.name << " " << is_foreseen;
      EXPECT_EQ(known_bytes(calls, line), line.size()) << row.name << " again";
    }
  }
}

TEST(CallCache, LeavesEverythingElseToBeRead) {
  struct Row {
    std::string_view name, from, to;
  };
  constexpr Row kRows[] = {
      {"host", "node-a", "node-b"},
      {"pid", "4001", "4002"},
      {"device", "[0]", "[1]"},
      {"level", "INFO", "WARN"},
      {"operation", "AllGather", "AllReduce"},
      {"capital digits", "opCount 1a", "opCount 1A"},
      {"no opCount", "opCount 1a", "opCount "},
      {"another record inside a number", "0x7f3eae00000", "0x7f3node-b:1:1 [0] NCCL INFO eae00000"},
      {"a number that is none", "0x7f3ece00000", "0xnode"},
      {"a digit that is none", "0x7f3ece00000", "0x7f3ecg00000"},
      {"a letter between the numbers", "recvbuff", "recvbafe"},
      {"another prefix of a number", "0x7f3ece00000", "1x7f3ece00000"},
      {"a count that is none", "1048576", "-1048576"},
      {"a count that may not fit", "1048576", "1048576104857610485"},
      {"no datatype", "datatype 9", "datatype "},
      {"another order", "op 0 root 0", "root 0 op 0"},
      {"communicator", "0x2610000", "0x2610001"},
      {"nranks", "nranks=8", "nranks=9"},
      {"stream", "0x5581aa30", "0x5581aa31"},
      {"longer", "0x5581aa30", "0x5581aa301"},
      {"a blank behind", "0x5581aa30", "0x5581aa30 "},
      {"a carriage return behind", "0x5581aa30", "0x5581aa30\r"},
      {"something before", "node-a", "x node-a"},
  };
  for (const Row& row : kRows) {
    for (const bool is_foreseen : {false, true}) {
      CallCache calls;
      learn_and_find(calls, kLine, is_foreseen);
      EXPECT_EQ(known_bytes(calls, replaced(kLine, row.from, row.to) + "\n"), 0u)
          << row.name << " " << is_foreseen;
    }
  }
}

TEST(CallCache, ReadsTheNumbersInWhichALineDiffers) {
  const std::string line =
      replaced(kLine, "count 1048576 datatype 9 op 0 root 0", "count 77 datatype 7 op 2 root 3") +
      "\n";
  const CallSignature said{"AllGather", 77, 7, 2, 3};
  const std::string text = line + std::string(CallCache::kMaxLineBytes, '#');
  CallCache calls;
  learn(calls, kLine);
  CachedCallLine found;
  EXPECT_EQ(calls.find(text, found), line.size());
  EXPECT_EQ(found.call->call.call, said) << "learnt while there is room";
  EXPECT_EQ(found.call->call.comm, 0x2610000u);
  CallCache full;
  learn(full, kLine);
  for (size_t count = 1; count < CallCache::kMaxCallsOfHead; ++count) {
    known_bytes(full, replaced(kLine, "1048576", std::to_string(2'000'000 + count)) + "\n");
  }
  EXPECT_EQ(full.find(text, found), line.size());
  ASSERT_NE(found.call->shape, nullptr);
  EXPECT_EQ(found.call->call.call, said);
  EXPECT_EQ(full.all().size(), CallCache::kMaxCallsOfHead);
}

TEST(CallCache, LeavesTheLastLinesOfABlockToBeRead) {
  CallCache calls;
  learn(calls, kLine);
  CachedCallLine line;
  EXPECT_EQ(calls.find(std::string(kLine) + "\n", line), 0u);
}

TEST(CallCache, KnowsTheSameCallAtAnotherTime) {
  CallCache calls;
  learn(calls, "[2026-03-01 12:00:01] " + std::string(kLine));
  EXPECT_GT(known_bytes(calls, "[2026-03-01 12:00:59] " + std::string(kLine) + "\n"), 0u);
  EXPECT_EQ(known_bytes(calls, "[2026-03-01 12:00:5x] " + std::string(kLine) + "\n"), 0u);
  EXPECT_EQ(known_bytes(calls, std::string(kLine) + "\n"), 0u) << "without a time";
}

TEST(CallCache, DoesNotLearnUnusualLines) {
  const std::string kLines[] = {
      "node-a:4001:4009 [0] NCCL INFO Connected all rings",
      "[2026-03-01 12:00:01] [rank3]: " + std::string(kLine),
      "no launcher knows this " + std::string(kLine),
      std::string(kLine) + " [repeated 7x across cluster]",
      replaced(kLine, "node-a",
               "n\xc3\xb6"
               "de-a"),
      std::string(kLine) + std::string(CallCache::kMaxLineBytes, ' '),
  };
  for (const std::string& line : kLines) {
    CallCache calls;
    learn(calls, line);
    EXPECT_EQ(calls.all().size(), 0u) << line;
  }
}

TEST(CallCache, KeepsBoundedMemory) {
  CallCache calls;
  for (int count = 0; count < 1000; ++count) {
    learn(calls, replaced(kLine, "1048576", std::to_string(1'000'000 + count)));
  }
  EXPECT_EQ(calls.all().size(), CallCache::kMaxCallsOfHead);
}

}  // namespace

}  // namespace ncclog

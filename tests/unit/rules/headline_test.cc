#include "rules/headline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/text.h"

namespace ncclog::testing {
namespace {

struct SentenceRow {
  const char* message;
  const char* sentence;
};

constexpr SentenceRow kSentences[] = {
    {"One. Two.", "One."},
    {"NCCL 2.20.5 runs. Here", "NCCL 2.20.5 runs."},
    {"About 2.5 GB, e.g. here", "About 2.5 GB, e.g. here"},
    {"One.", "One."},
    {"A WARN says: \"NET/X cannot open it. RC: -22\". Two.",
     "A WARN says: \"NET/X cannot open it. RC: -22\"."},
    {"No room (NET/X: it failed. RC: -22). Two.", "No room (NET/X: it failed. RC: -22)."},
    {"A rail of 5\" length. Two.", "A rail of 5\" length."},
    {"", ""},
};

TEST(Headline, FirstSentenceEndsBeforeAnUpperCaseLetter) {
  for (const SentenceRow& row : kSentences) EXPECT_EQ(first_sentence(row.message), row.sentence);
}

struct UnknownRow {
  const char* text;
  const char* known;
};

constexpr UnknownRow kUnknownRows[] = {
    {"Rank 3 lost its peer (unknown), which left.", "Rank 3 lost its peer, which left."},
    {"It failed (device mlx5_0, port (unknown)).", "It failed."},
    {"It failed (device mlx5_0, port 1).", "It failed (device mlx5_0, port 1)."},
    {"(unknown) and (unknown)", " and"},
};

TEST(Headline, WhatLinesDoNotTellIsLeftOut) {
  for (const UnknownRow& row : kUnknownRows) EXPECT_EQ(without_unknown(row.text), row.known);
}

struct FittedRow {
  const char* sentence;
  size_t room;
  const char* fitted;
};

constexpr FittedRow kFitted[] = {
    {"It failed.", 120, "It failed."},
    {"Rank 3 on node-a sends 92160 float32 to rank 2; rank 1 sends 134144.", 60,
     "Rank 3 on node-a sends 92160 float32 to rank 2."},
    {"Call 67 of communicator 0x65a1959fd0c1829d (4 ranks): ranks 0,1 called AllGather.", 50,
     "Call 67: ranks 0,1 called AllGather."},
    {"Rank 3 on node-a got completion status 12 (vendor error 129): no answer came.", 64,
     "Rank 3 on node-a got completion status 12: no answer came."},
    {"Rank 3 on node-a ran out of memory of the GPU, which others had filled before.", 60,
     "Rank 3 on node-a ran out of memory of the GPU."},
    {"By the Flight Recorder's dumps, collective 169 of process group weight_sync (3 ranks): ranks "
     "0,2 "
     "called Broadcast of 524288 Float, at /w/s.py:16, rank 3 called Broadcast of 256 Float.",
     120,
     "Collective 169: ranks 0,2 called Broadcast of 524288 Float, rank 3 called Broadcast of 256 "
     "Float."},
    {"Call 8: ranks 0,1,3 called AllReduce of 1048576 float32 (sum), rank 2 called AllReduce of "
     "1048576 float32 (max) (reduction differs).",
     120,
     "Call 8: ranks 0,1,3 called AllReduce of 1048576 float32 (sum), rank 2 called AllReduce of "
     "1048576 float32 (max)."},
    {"node-a, node-b talk TCP through FastSocket, although ibdev2netdev shows RDMA ports", 70,
     "node-a, node-b talk TCP through FastSocket"},
    {"Ranks 0,1 on node-a: a dependency was created on work in another stream.", 60,
     "Ranks 0,1 on node-a: a dependency was created on work in…"},
    {"Rank 3 on node-a says \"one thing, and another, and a third\" of itself", 60,
     "Rank 3 on node-a says \"one thing, and another, and a third\"…"},
};

TEST(Headline, LosesLastClausesAndNotesButNotWhoAndWhere) {
  for (const FittedRow& row : kFitted)
    EXPECT_EQ(fitted_headline(row.sentence, row.room), row.fitted);
}

TEST(Headline, FitsWhateverTheLogHolds) {
  const std::string hostile[] = {std::string(500, 'x'), std::string(300, '\xff'),
                                 "\x1b[31m" + std::string(400, '('), std::string(200, ' ') + "; "};
  for (const std::string& text : hostile) {
    const std::string fitted = fitted_headline(text);
    EXPECT_TRUE(is_valid_utf8(fitted));
    EXPECT_LE(std::ranges::count_if(fitted, [](char c) { return (c & 0xC0) != 0x80; }), 120);
  }
}

}  // namespace
}  // namespace ncclog::testing

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "log/event.h"
#include "log/known_messages.h"

namespace ncclog {
namespace {

using Records = std::vector<std::string>;

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

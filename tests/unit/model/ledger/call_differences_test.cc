// Law: a line about a call that is lost, or that stands there twice, is no call of another kind.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "app/read/read_example.h"
#include "base/text.h"
#include "model/job.h"
#include "support/call_log.h"
#include "support/letter_calls.h"

namespace ncclog {
namespace {

using testing::CallLog;
using testing::repeated;

std::string_view op_of(char letter) {
  switch (letter) {
    case 'G':
      return "AllGather";
    case 'S':
      return "ReduceScatter";
    case 'B':
      return "Broadcast";
    case 'D':
      return "Reduce";
    default:
      return "AllReduce";
  }
}

/// Calls of ranks, a letter each; 'r' is an AllReduce of another size.
struct Ranks {
  std::vector<std::string> calls;
  bool numbered = false;  ///< Lines carry their number as opCount.
  int gave_up = 0;        ///< On which call all watchdogs gave up; 0: none did.
  bool over = false;      ///< All destroyed the communicator.
};

std::string text_of(const Ranks& ranks) {
  const int size = static_cast<int>(ranks.calls.size());
  CallLog log;
  for (int r = 0; r < size; ++r) log.init(r, size, 1);
  for (int r = 0; r < size; ++r) {
    uint64_t number = 0;
    for (const char letter : ranks.calls[static_cast<size_t>(r)]) {
      if (ranks.numbered) log.op_count(number++);
      log.call(r, 1, op_of(letter), letter == 'r' ? 8 : 512);
    }
  }
  for (int r = 0; r < size && ranks.gave_up > 0; ++r) log.timeout(r, ranks.gave_up);
  for (int r = 0; r < size && ranks.over; ++r) log.destroyed(r, size, 1);
  return log.text();
}

/// "rank 1 lost 1 behind 4; differ at 7".
std::string answer(const Ranks& ranks) {
  const Job job = read_example(text_of(ranks), {});
  const Communicator& comm = job.communicators.at(0);
  std::vector<std::string> phrases;
  for (const CallGap& gap : comm.gaps) {
    phrases.push_back(fmt::format("rank {} lost {} behind {}",
                                  comm.ranks.at(static_cast<size_t>(gap.member)).rank, gap.lost,
                                  gap.index));
  }
  if (comm.difference) phrases.push_back(fmt::format("differ at {}", comm.difference->index));
  if (comm.difference && !comm.difference->camps.empty()) {
    std::vector<int> odd = comm.difference->camps.back().members;
    phrases.back() += fmt::format(", odd {}", ranges_text(odd));
  }
  return join(phrases, "; ");
}

struct Row {
  std::string_view what;
  Ranks ranks;
  std::string_view answer;
};

const std::string kUsual = "AGSBDAGSBDAGSB";

const Row kRows[] = {
    {"all alike", {{kUsual, kUsual, kUsual}}, ""},
    {"a line is lost", {{kUsual, "AGBDAGSBDAGSB", kUsual}}, "rank 1 lost 1 behind 2"},
    {"a line is lost from a log that ends two calls before the others",
     {{kUsual, "AGBDAGSBDAG", kUsual}},
     "rank 1 lost 1 behind 2"},
    {"a line stands there twice", {{kUsual, kUsual, "AGSBBDAGSBDAGSB"}}, "rank 2 lost -1 behind 4"},
    {"lines are lost from two ranks",
     {{kUsual, "AGBDAGSBDAGSB", kUsual, "AGSBDAGSDAGSB", kUsual}},
     "rank 1 lost 1 behind 2; rank 3 lost 1 behind 8"},
    {"two lines are lost from one",
     {{kUsual, "AGBDAGSDAGSB", kUsual}},
     "rank 1 lost 1 behind 2; rank 1 lost 1 behind 8"},
    {"a line is lost, and another rank diverges",
     {{kUsual, "AGBDAGSBDAGSB", "AGSBDAGSBrAGSB", kUsual}},
     "rank 1 lost 1 behind 2; differ at 9, odd 2"},
    {"the rank that diverges lacks a line before that",
     {{kUsual, kUsual, "AGBDAGSBrAGSB", kUsual}},
     "rank 2 lost 1 behind 2; differ at 9, odd 2"},
    {"the rank leaves a call out and stops there",
     {{kUsual, "AGSBDAGSBDASB", kUsual}},
     "differ at 11, odd 1"},
    {"a line is lost near the end of a job that came to it",
     {{kUsual, "AGSBDAGSBDASB", kUsual}, false, 0, true},
     "rank 1 lost 1 behind 11"},
    {"lines changed places near the end of a job that came to it",
     {{kUsual, "AGSBDAGSBDASGB", kUsual}, false, 0, true},
     "rank 1 lost 0 behind 11"},
    {"a rank called another size near the end of a job that came to it",
     {{kUsual, "AGSBDAGSBDrGSB", kUsual}, false, 0, true},
     "differ at 10, odd 1"},
    {"the watchdogs gave up where the rank goes its own way",
     {{"AGSADAGSBDAGSB", "AGADAGSBDAGSB", "AGSADAGSBDAGSB"}, false, 3},
     "differ at 2, odd 1"},
    {"they did, and the rank's own on another call than its lines have there",
     {{kUsual, "AGBDAGSBDAGSB", kUsual}, false, 3},
     "rank 1 lost 1 behind 2"},
    {"the watchdogs gave up far behind that",
     {{kUsual, "AGBDAGSBDAGSB", kUsual}, false, 14},
     "rank 1 lost 1 behind 2"},
    {"lines that carry their numbers lack none",
     {{kUsual, "AGBDAGSBDAGSB", kUsual}, true},
     "differ at 2, odd 1"},
    {"ranks that call another size there differ",
     {{kUsual, "AGrBDAGSBDAGSB", kUsual}},
     "differ at 2, odd 1"},
    {"calls of a loop all of whose calls are alike",
     {{repeated("A", 20), repeated("A", 19), repeated("A", 20)}},
     ""},
    {"several lines count for lost only where many calls go on alike",
     {{kUsual, "AGAGSBDAGSB", kUsual}},
     "differ at 2, odd 1"},
    {"several lines are lost, and many calls go on alike",
     {{kUsual + kUsual, "AGAGSBDAGSB" + kUsual, kUsual + kUsual}},
     "rank 1 lost 3 behind 2"},
    {"lines changed places, and many calls go on alike",
     {{kUsual + kUsual, "AGBSDAGSBDAGSB" + kUsual, kUsual + kUsual}},
     "rank 1 lost 0 behind 2"},
};

TEST(CallDifferences, ALineThatIsLostOrDoubledIsNoOtherCall) {
  for (const Row& row : kRows) EXPECT_EQ(answer(row.ranks), row.answer) << row.what;
}

TEST(CallDifferences, TornLinesAreComparedAsFarAsTheyGo) {
  // The third call of rank 1 is torn: what stands behind it is compared all the same.
  std::string text = text_of({{kUsual, kUsual, "AGSBDAGrBDAGSB", kUsual}});
  const std::string_view third = "n3:51:51 [1] NCCL INFO ReduceScatter: opCount 0 sendb";
  const size_t at = text.find(third) + third.size();
  text.erase(at, text.find('\n', at) - at);
  const Job job = read_example(text, {});
  EXPECT_TRUE(job.processes.at(1).torn);
  ASSERT_TRUE(job.communicators.at(0).difference.has_value());
  EXPECT_EQ(job.communicators.at(0).difference->index, 7U);
  EXPECT_EQ(job.communicators.at(0).difference->camps.back().members, std::vector<int>{2});
}

}  // namespace
}  // namespace ncclog

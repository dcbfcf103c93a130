#include "model/record.h"

#include <gtest/gtest.h>

namespace ncclog {
namespace {

void add(RecordList& list, int message, uint64_t line) {
  list.add(message_hash(std::to_string(message)), [&] {
    Record record;
    record.where = {0, line};
    return record;
  });
}

std::vector<uint64_t> lines_of(const RecordList& list) {
  std::vector<uint64_t> lines;
  for (const Record& record : list.kept) lines.push_back(record.where.line);
  return lines;
}

TEST(RecordList, KeepsDifferentMessagesOnceAndCountsAll) {
  RecordList list;
  for (uint64_t line = 1; line <= 6; ++line) add(list, static_cast<int>(line % 2), line);
  EXPECT_EQ(list.total, 6u);
  EXPECT_EQ(lines_of(list), (std::vector<uint64_t>{1, 2}));
  EXPECT_FALSE(list.full);
}

TEST(RecordList, IsFullOnlyWhenAFurtherDifferentMessageComes) {
  RecordList list;
  const auto limit = static_cast<int>(RecordList::kMaxKept);
  for (int i = 0; i < limit; ++i) add(list, i, static_cast<uint64_t>(i) + 1);
  add(list, 0, 9000);
  EXPECT_FALSE(list.full);
  add(list, limit, 9001);
  EXPECT_TRUE(list.full);
  EXPECT_EQ(list.kept.size(), RecordList::kMaxKept);
}

TEST(RecordList, CutDownItIsAsIfItHadNeverKeptMore) {
  RecordList cut;
  RecordList small;
  for (int i = 0; i < 20; ++i) {
    const auto hash = static_cast<uint64_t>(i % 12);
    const auto record = [&] { return Record{{0, static_cast<uint64_t>(i) + 1}, 0, ""}; };
    cut.add(hash, record);
    small.add(hash, record, 5);
    if (i == 9) cut.cut_to(5);
  }
  EXPECT_EQ(lines_of(cut), lines_of(small));
  EXPECT_EQ(cut.total, small.total);
  EXPECT_TRUE(cut.full && small.full);
}

TEST(RecordList, MergingPartsGivesTheListOfTheWholeEvenWhenFull) {
  const int count = 3 * static_cast<int>(RecordList::kMaxKept);
  const auto message = [](int i) { return i * 7 % 600; };
  for (const int cut : {0, 1, 100, 256, 300, 700, count}) {
    RecordList whole;
    RecordList first;
    RecordList second;
    for (int i = 0; i < count; ++i) {
      add(whole, message(i), static_cast<uint64_t>(i) + 1);
      add(i < cut ? first : second, message(i), static_cast<uint64_t>(i) + 1);
    }
    first.merge(std::move(second));
    EXPECT_EQ(first.total, whole.total);
    EXPECT_EQ(first.full, whole.full);
    EXPECT_EQ(lines_of(first), lines_of(whole)) << "cut at " << cut;
  }
}

}  // namespace
}  // namespace ncclog

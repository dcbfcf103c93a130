#include "model/record_lists.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace ncclog {
namespace {

void add(RecordLists& lists, uint16_t key, const std::string& message) {
  lists[key].add(message_hash(message), [&] {
    Record record;
    record.text = message;
    return record;
  });
}

std::string show(const RecordLists& lists) {
  std::string text;
  for (const auto& [key, list] : lists) {
    text += std::to_string(key) + ":" + std::to_string(list.total);
    for (const Record& record : list.kept) text += " " + record.text;
    text += ";";
  }
  return text;
}

TEST(RecordLists, AreInTheOrderOfTheirKeysHoweverTheyWereMade) {
  RecordLists lists;
  EXPECT_TRUE(lists.empty());
  add(lists, 40, "d");
  add(lists, 7, "a");
  add(lists, 512, "e");
  add(lists, 9, "b");
  add(lists, 7, "a");
  EXPECT_EQ(show(lists), "7:2 a;9:1 b;40:1 d;512:1 e;");
  EXPECT_TRUE(lists.contains(40));
  EXPECT_FALSE(lists.contains(8));
  EXPECT_EQ(lists.find(1000), nullptr);
  ASSERT_NE(lists.find(9), nullptr);
  EXPECT_EQ(lists.find(9)->kept.front().text, "b");
  EXPECT_TRUE(std::any_of(lists.begin(), lists.end(),
                          [](const auto& entry) { return entry.first == 512; }));
}

TEST(RecordLists, MergeKeyByKey) {
  RecordLists first;
  RecordLists second;
  add(first, 1, "a");
  add(first, 3, "c");
  add(second, 2, "b");
  add(second, 3, "c");
  add(second, 3, "x");
  first.merge(std::move(second));
  EXPECT_EQ(show(first), "1:1 a;2:1 b;3:3 c x;");
  RecordLists whole;
  whole.merge(std::move(first));
  EXPECT_EQ(show(whole), "1:1 a;2:1 b;3:3 c x;");
}

}  // namespace
}  // namespace ncclog

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "report/tables/tables.h"

namespace ncclog {
namespace {

CountRow row(int64_t first, int64_t iterations, std::string op, uint64_t calls) {
  CountRow row;
  row.keys = {{first, std::to_string(first)}, {0, std::move(op)}};
  row.sum.calls = calls;
  row.processes = 8;
  row.iterations = iterations;
  return row;
}

CountRow named(int64_t order, std::string text, std::string op, uint64_t calls) {
  CountRow row = ncclog::row(order, 1, std::move(op), calls);
  row.keys[0].text = std::move(text);
  return row;
}

const std::vector<CountBy> kBy = {CountBy::Iteration, CountBy::Op};

const std::vector<CountRow> kCounts = {
    named(INT64_MIN, "before", "AllReduce", 1),
    row(0, 1, "AllGather", 8),
    row(0, 1, "Broadcast", 8),
    row(1, 2, "AllGather", 8),
    row(1, 2, "AllReduce", 8),
    row(3, 2, "AllGather", 8),
    row(3, 2, "AllReduce", 8),
    named(5, "5-6", "AllGather", 16),
    row(7, 1, "AllGather", 8),
    row(8, 1, "AllGather", 9),
    named(INT64_MAX, "", "AllGather", 3),
};

std::string folded(const std::vector<CountRow>& rows, const std::vector<CountBy>& by) {
  std::string text;
  for (const CountRow& row : folded_rows(rows, by)) {
    for (const CountKey& key : row.keys) text += key.text + " ";
    text += std::to_string(row.sum.calls) + "\n";
  }
  return text;
}

TEST(IterationRows, AreSingleInTheOrderOfIterations) {
  std::string text;
  each_single_row(kCounts, kBy, [&](const CountRow& row, int64_t iteration) {
    if (row.iterations == 1) return true;
    text += std::to_string(iteration) + " " + row.keys[1].text + "\n";
    return true;
  });
  EXPECT_EQ(text,
            "1 AllGather\n1 AllReduce\n2 AllGather\n2 AllReduce\n"
            "3 AllGather\n3 AllReduce\n4 AllGather\n4 AllReduce\n");
  EXPECT_EQ(single_row_count(kCounts), 15u);
}

TEST(IterationRows, AreFoldedWhereNeighboursSayTheSame) {
  EXPECT_EQ(folded(kCounts, kBy),
            "before AllReduce 1\n0 AllGather 8\n0 Broadcast 8\n1-4 AllGather 8\n1-4 AllReduce 8\n"
            "5-6 AllGather 16\n7 AllGather 8\n8 AllGather 9\n AllGather 3\n");
}

TEST(IterationRows, NeitherGapsNorOtherProcessesAreFoldedOver) {
  std::vector<CountRow> rows = {row(1, 3, "AllGather", 8), row(5, 3, "AllGather", 8),
                                row(8, 3, "AllGather", 8)};
  rows[2].processes = 7;
  EXPECT_EQ(folded(rows, kBy), "1-3 AllGather 8\n5-7 AllGather 8\n8-10 AllGather 8\n");
}

TEST(IterationRows, EndWhereNoMoreAreWanted) {
  int seen = 0;
  each_single_row(kCounts, kBy, [&](const CountRow&, int64_t) { return ++seen < 6; });
  EXPECT_EQ(seen, 6);
}

}  // namespace
}  // namespace ncclog

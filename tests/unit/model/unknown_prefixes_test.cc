#include "model/unknown_prefixes.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace ncclog {
namespace {

TEST(UnknownPrefixes, ShapeIsWhatStaysTheSame) {
  EXPECT_EQ(shape_of("<worker 3 of 8>"), shape_of("<trainer 11 of 16>"));
  EXPECT_NE(shape_of("<worker 3 of 8>"), shape_of("<worker 3/8>"));
  EXPECT_NE(shape_of("frame #3: c10d::Pro"), shape_of("frame #3: c10d::ProcessGroup::"));
  EXPECT_NE(shape_of(""), 0u);
}

struct Row {
  std::string_view name;
  std::vector<uint64_t> before;  ///< Shape before each record.
  bool is_prefix;                ///< Shape 7, as long as lines come.
  bool is_prefix_of_few;         ///< At the end.
};

TEST(UnknownPrefixes, MostRecordsHaveTheSameBeforeThem) {
  const Row kRows[] = {
      {"none", {0, 0, 0, 0}, false, false},
      {"once", {0, 0, 7, 0}, false, false},
      {"one record is all there is", {7}, false, true},
      {"always", {7, 7, 7}, true, true},
      {"mostly", {7, 9, 7, 7, 0}, true, true},
      {"often, but not mostly", {7, 7, 7, 0, 0, 0, 9}, false, false},
      {"others made room", {1, 3, 5, 9, 11, 13, 15, 17, 7, 7, 7}, false, false},
  };
  for (const Row& row : kRows) {
    UnknownPrefixes prefixes;
    for (const uint64_t shape : row.before) prefixes.add(shape);
    EXPECT_EQ(prefixes.is_prefix(7), row.is_prefix) << row.name;
    EXPECT_EQ(prefixes.is_prefix_of_few(7), row.is_prefix_of_few) << row.name;
  }
}

}  // namespace
}  // namespace ncclog

#include "model/unknown_shapes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "report/tables/tables.h"

namespace ncclog {
namespace {

UnknownShapes shapes_of(const std::vector<std::string>& lines, size_t begin, size_t end) {
  UnknownShapes shapes;
  for (size_t i = begin; i < end; ++i) {
    shapes.add({0, i + 1}, lines[i], parse_event(lines[i], all_wordings()));
  }
  return shapes;
}

/// A word of letters only: each is a shape of its own.
std::string word_of(size_t number) {
  std::string word;
  for (; number > 0; number /= 26) word += static_cast<char>('a' + number % 26);
  return "q" + word;
}

TEST(UnknownShapes, CountLinesAndKeepTheFirst) {
  const std::vector<std::string> lines = {"n:1:2 [0] NCCL INFO Frobnicated 3 rails",
                                          "n:1:2 [0] NCCL INFO Weighed 4 rails",
                                          "n:1:2 [0] a.cc:7 NCCL WARN Frobnicated 4 rails"};
  const UnknownShapes shapes = shapes_of(lines, 0, lines.size());
  ASSERT_EQ(shapes.shapes.size(), 2U);
  const UnknownLines& found = shapes.shapes.at("Frobnicated # rails");
  EXPECT_EQ(found.count, 2U);
  EXPECT_EQ(found.first, (SourceRef{0, 1}));
  EXPECT_EQ(found.example, lines[0]);
  EXPECT_EQ(found.levels,
            1U << static_cast<unsigned>(Level::Info) | 1U << static_cast<unsigned>(Level::Warn));
}

TEST(UnknownShapes, AreBoundedAndTheSameWhereverTheyAreCut) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < UnknownShapes::kMaxShapes + 700; ++i) {
    lines.push_back("n:1:2 [0] NCCL INFO " + word_of(i * 7919 % 2600) + " is unknown");
  }
  const UnknownShapes whole = shapes_of(lines, 0, lines.size());
  EXPECT_EQ(whole.shapes.size(), UnknownShapes::kMaxShapes);
  uint64_t total = whole.other;
  for (const auto& [shape, found] : whole.shapes) total += found.count;
  EXPECT_EQ(total, lines.size());
  EXPECT_GT(whole.other, 0U);
  for (const size_t cut : {size_t{1}, size_t{1000}, size_t{2500}, lines.size() - 1}) {
    UnknownShapes parts = shapes_of(lines, 0, cut);
    parts.merge(shapes_of(lines, cut, lines.size()));
    EXPECT_EQ(parts, whole) << "cut at " << cut;
  }
}

TEST(UnknownTable, SaysHowToReportAndWhatWasLeftOut) {
  Job job;
  job.inputs = {{.path = "a.log"}};
  job.units = {{}};
  EXPECT_EQ(unknown_table(job).notes.front(), "Every NCCL line here fits a known wording.");
  job.unknown = shapes_of({"n:1:2 [0] NCCL INFO Frobnicated 3 rails"}, 0, 1);
  job.unknown.other = 5;
  const Table table = unknown_table(job);
  EXPECT_EQ(write_table_csv(table),
            "count,levels,printer,shape,first,example\n"
            "1,INFO,,Frobnicated # rails,a.log:1,n:1:2 [0] NCCL INFO Frobnicated 3 rails\n");
  ASSERT_EQ(table.notes.size(), 2U);
  EXPECT_EQ(table.notes[1], "5 more lines are of other shapes; 2048 shapes are kept.");
}

}  // namespace
}  // namespace ncclog

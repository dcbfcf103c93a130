#include "base/loss_table.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace ncclog {
namespace {

LossTable table(uint64_t recognised, uint64_t foreign, uint64_t cut_lines) {
  LossTable losses;
  losses.lines = recognised + foreign;
  losses.recognised = recognised;
  losses.foreign = foreign;
  losses.add(Loss::LineCut, cut_lines);
  return losses;
}

LossTable sum(LossTable a, const LossTable& b) { return a += b; }

TEST(LossTable, AddingIsAssociativeCommutativeAndHasAZero) {
  const LossTable a = table(3, 1, 2);
  const LossTable b = table(0, 5, 0);
  LossTable c = table(7, 0, 1);
  c.unrecognised = 2;
  c.unreadable = 1;
  c.lines += 3;
  EXPECT_EQ(sum(sum(a, b), c), sum(a, sum(b, c)));
  EXPECT_EQ(sum(a, c), sum(c, a));
  EXPECT_EQ(sum(a, {}), a);
}

TEST(LossTable, LinesStayTheSumOfTheirFates) {
  LossTable all = sum(table(3, 1, 2), table(0, 5, 9));
  all.add(Loss::NulBytes);
  EXPECT_EQ(all.lines, all.recognised + all.unrecognised + all.foreign + all.unreadable);
  EXPECT_EQ(all.count(Loss::LineCut), 11u);
  EXPECT_EQ(all.count(Loss::NulBytes), 1u);
  EXPECT_EQ(all.count(Loss::InputCut), 0u);
}

TEST(LossTable, EveryRowSaysWhatItMeansAndWhatToDo) {
  std::set<std::string_view> names;
  for (const LossRow& row : kLossRows) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(row.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"), row.name.npos);
    EXPECT_TRUE(row.meaning.ends_with('.')) << row.name;
    EXPECT_TRUE(row.advice.ends_with('.')) << row.name;
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(Loss::kCount));
}

struct NameCase {
  Loss loss;
  std::string_view name;
};

TEST(LossTable, RowsStandInTheOrderOfTheirEnumerators) {
  const NameCase cases[] = {
      {Loss::LineTorn, "line_torn"},         {Loss::LineCut, "line_cut"},
      {Loss::InvalidUtf8, "invalid_utf8"},   {Loss::NulBytes, "nul_bytes"},
      {Loss::InputCut, "input_cut"},         {Loss::InputUnreadable, "input_unreadable"},
      {Loss::InputSkipped, "input_skipped"}, {Loss::RecordsDropped, "records_dropped"},
      {Loss::LineLeftOut, "line_left_out"},  {Loss::SizeLimit, "size_limit"},
      {Loss::ErrorUnknown, "error_unknown"}, {Loss::ProcessesDropped, "processes_dropped"},
      {Loss::LineInDoubt, "line_in_doubt"},
  };
  ASSERT_EQ(std::size(cases), static_cast<size_t>(Loss::kCount));
  for (const NameCase& c : cases) {
    EXPECT_EQ(kLossRows[static_cast<size_t>(c.loss)].name, c.name);
  }
}

}  // namespace
}  // namespace ncclog

#include <gtest/gtest.h>

#include "model/build/build_job.h"
#include "report/document/report_document.h"
#include "report/graph/graph.h"
#include "support/ring_lines.h"

namespace ncclog {
namespace {

std::string letters(const TransportMatrix& matrix, size_t row, size_t column) {
  const auto cell = matrix.cells.find({row, column});
  std::string out;
  if (cell == matrix.cells.end()) return out;
  for (const TransportClass value : cell->second.classes) out += row_of(value).letter;
  return out;
}

TransportMatrix matrix_of(std::string_view log) {
  return transport_matrix(rank_paths(job_from_text(log)));
}

TEST(TransportMatrix, HasARowForEachRank) {
  const TransportMatrix matrix = matrix_of(testing::ring_lines(2, 2));
  EXPECT_EQ(matrix.names, (std::vector<std::string>{"0", "1", "2", "3"}));
  EXPECT_FALSE(matrix.by_host);
  EXPECT_EQ(letters(matrix, 0, 1), "P");
  EXPECT_EQ(letters(matrix, 1, 2), "I");
  EXPECT_EQ(letters(matrix, 3, 0), "I");
  EXPECT_EQ(letters(matrix, 1, 0), "");
  EXPECT_EQ((matrix.cells.at({0, 1}).detail), "rank 0 to rank 1: P2P/CUMEM on channels 0");
}

TEST(TransportMatrix, ManyRanksShareTheRowsOfTheirHosts) {
  const TransportMatrix matrix = matrix_of(testing::ring_lines(9, 8));
  EXPECT_EQ(matrix.ranks, 72u);
  EXPECT_TRUE(matrix.by_host);
  ASSERT_EQ(matrix.names.size(), 9u);
  EXPECT_EQ(matrix.names[8], "rack-008");
  EXPECT_EQ(letters(matrix, 0, 0), "P");
  EXPECT_EQ((matrix.cells.at({0, 0}).pairs), 7u);
  EXPECT_EQ(letters(matrix, 8, 0), "I");
}

TEST(TransportMatrix, OfMoreHostsThanRowsIsLeftOutOfThePage) {
  for (const Section& section : job_sections(job_from_text(testing::ring_lines(65, 1)))) {
    if (section.id != "transports") continue;
    ASSERT_EQ(section.blocks.size(), 1u);
    EXPECT_EQ(std::get<Paragraph>(section.blocks[0]).text,
              "The matrix is left out: 65 hosts. 'ncclog show channels' lists connections.");
  }
}

TEST(TransportMatrix, OfSeveralCommunicatorsOnlyCertainEndsCount) {
  // Two groups whose ranks have the same numbers: 0 -> 1 is another pair in each of them.
  const char* kLog =
      "n1:1:1 [0] NCCL INFO ncclCommInitRank comm 0x1 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1 "
      "commId 0xa - Init START\n"
      "n1:2:2 [1] NCCL INFO ncclCommInitRank comm 0x2 rank 1 nranks 2 cudaDev 1 nvmlDev 1 busId 2 "
      "commId 0xa - Init START\n"
      "n1:3:3 [2] NCCL INFO ncclCommInitRank comm 0x3 rank 0 nranks 2 cudaDev 2 nvmlDev 2 busId 3 "
      "commId 0xb - Init START\n"
      "n1:1:1 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC\n"
      "n1:3:3 [2] NCCL INFO Channel 00/0 : 0[2] -> 1[3] via SHM/direct\n";
  const RankPaths paths = rank_paths(job_from_text(kLog));
  ASSERT_EQ(paths.pairs.size(), 1u);
  EXPECT_EQ(paths.pairs.begin()->first, std::pair(0, 1));
  EXPECT_EQ(paths.pairs.begin()->second.text, "P2P/IPC");
  EXPECT_EQ(paths.unplaced, 1u);
}

TEST(TransportClass, EachHasALetterOfItsOwn) {
  std::set<char> letters;
  for (size_t i = 0; i < transport_classes().size(); ++i) {
    EXPECT_EQ(static_cast<size_t>(transport_classes()[i].value), i);
    EXPECT_TRUE(letters.insert(transport_classes()[i].letter).second);
  }
}

}  // namespace
}  // namespace ncclog

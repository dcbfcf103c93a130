#include "model/init_section.h"

#include <gtest/gtest.h>

#include "model/derive/build_job.h"
#include "model/shard/shard.h"

namespace ncclog {
namespace {

BoundedLines table(std::initializer_list<IndentedLine> lines) {
  BoundedLines table;
  for (const IndentedLine& line : lines) table.add(line.indent, line.text);
  return table;
}

TEST(BoundedLines, GiveBackTheirLinesWithTheirIndents) {
  const std::vector<IndentedLine> lines = {{0, "CPU/0-0 (1/1/2)"}, {14, ""}, {2, "a b"}};
  const BoundedLines kept = table({lines[0], lines[1], lines[2]});
  EXPECT_EQ(kept.lines(), lines);
  EXPECT_TRUE(kept.any() && kept.has_lines());
  EXPECT_FALSE(kept.cut());
  EXPECT_TRUE(BoundedLines().lines().empty());
  EXPECT_FALSE(BoundedLines().any());
}

TEST(BoundedLines, KeepTheFirstThatFitWhereverTheyAreCut) {
  const std::string text(1000, 'x');
  constexpr int kLines = 200;
  BoundedLines whole;
  for (int i = 0; i < kLines; ++i) whole.add(i, text);
  ASSERT_TRUE(whole.cut());
  EXPECT_LT(whole.lines().size(), static_cast<size_t>(kLines));
  for (const int cut : {0, 1, 100, 129, 130, 199, kLines}) {
    BoundedLines first;
    BoundedLines second;
    for (int i = 0; i < kLines; ++i) (i < cut ? first : second).add(i, text);
    first.merge(std::move(second));
    EXPECT_EQ(first, whole) << "cut at " << cut;
  }
}

TEST(BoundedLines, DroppedAreCutUnlessThereWereNone) {
  BoundedLines some = table({{0, "a"}});
  some.drop();
  EXPECT_TRUE(some.cut() && some.lines().empty());
  some.add(0, "b");
  EXPECT_FALSE(some.has_lines());
  BoundedLines none;
  none.drop();
  EXPECT_FALSE(none.any());
}

TEST(BoundedLines, ShareTheBytesOfEqualOnesOnly) {
  const BoundedLines known = table({{0, "a"}, {2, "b"}});
  BoundedLines same = table({{0, "a"}, {2, "b"}});
  BoundedLines other = table({{0, "a"}, {3, "b"}});
  EXPECT_TRUE(same.share(known));
  EXPECT_EQ(same.lines()[1].text.data(), known.lines()[1].text.data());
  EXPECT_FALSE(other.share(known));
  EXPECT_EQ(other.lines()[1].indent, 3);
  EXPECT_FALSE(BoundedLines().share(BoundedLines()));
}

TEST(BoundedLines, WhatIsAddedToSharedOnesIsInOneOfThemOnly) {
  const BoundedLines known = table({{0, "a"}});
  BoundedLines same = table({{0, "a"}});
  ASSERT_TRUE(same.share(known));
  same.fit();
  same.add(1, "b");
  EXPECT_EQ(known, table({{0, "a"}}));
  EXPECT_EQ(same, table({{0, "a"}, {1, "b"}}));
}

TEST(BoundedLines, AreNotCopiedAsLongAsTheyAreThoseOfAnotherTable) {
  const BoundedLines known = table({{0, "a"}, {2, "b"}, {0, "c"}});
  BoundedLines same;
  for (const IndentedLine& line : known.lines()) same.add(line.indent, line.text, &known);
  EXPECT_EQ(same.bytes().data(), known.bytes().data());
  EXPECT_EQ(same, known);
  BoundedLines shorter;
  shorter.add(0, "a", &known);
  EXPECT_EQ(shorter, table({{0, "a"}}));
  shorter.fit();
  EXPECT_NE(shorter.bytes().data(), known.bytes().data());
  EXPECT_EQ(shorter, table({{0, "a"}}));
  for (const IndentedLine other : {IndentedLine{1, "b"}, {3, "b"}, {2, "bb"}, {2, ""}, {2, "x"}}) {
    BoundedLines differs;
    differs.add(0, "a", &known);
    differs.add(other.indent, other.text, &known);
    differs.add(0, "c", &known);
    EXPECT_EQ(differs, table({{0, "a"}, other, {0, "c"}})) << other.text;
  }
  EXPECT_EQ(known, table({{0, "a"}, {2, "b"}, {0, "c"}}));
}

TEST(BoundedLines, AreEqualOnlyIfBothAreCutOrNeither) {
  BoundedLines cut = table({{0, "a"}});
  cut.add(0, std::string(BoundedLines::kMaxBytes, 'x'));
  EXPECT_EQ(cut.lines().size(), 1u);
  EXPECT_NE(cut, table({{0, "a"}}));
}

/// The sections of the only process of a log.
std::vector<InitSection> sections_of(const std::string& text) {
  const Shard shard = read_text(text);
  EXPECT_EQ(shard.speakers.size(), 1u);
  return shard.speakers.begin()->second.inits.all();
}

std::string start(const char* thread, const char* comm) {
  return std::string("h:1:") + thread + " [0] NCCL INFO comm " + comm +
         " rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 60 commId 0xc0 - Init START\n";
}

std::string complete(const char* thread, const char* comm) {
  return std::string("h:1:") + thread + " [0] NCCL INFO comm " + comm +
         " rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 60 commId 0xc0 - Init COMPLETE\n";
}

std::string said(const char* thread, const char* message) {
  return std::string("h:1:") + thread + " [0] NCCL INFO " + message + "\n";
}

TEST(InitSections, BelongToTheThreadThatSpeaks) {
  const auto sections =
      sections_of(start("7", "0xa") + start("8", "0xb") + said("8", "Ring 00 : 5 -> 6 -> 7") +
                  said("7", "Ring 00 : 1 -> 0 -> 1") + complete("8", "0xb") + complete("7", "0xa"));
  ASSERT_EQ(sections.size(), 2u);
  EXPECT_EQ(sections[0].comm, 0xau);
  EXPECT_EQ(sections[0].ring_places.all.begin()->first, (RingPlace{0, 1, 1}));
  EXPECT_EQ(sections[1].comm, 0xbu);
  EXPECT_EQ(sections[1].ring_places.all.begin()->first, (RingPlace{6, 5, 7}));
}

TEST(InitSections, WithoutStartEndAtTheLineThatNamesTheCommunicator) {
  const auto sections = sections_of(said("7", "Trees [0] 1/-1/-1->0->-1") + complete("7", "0xa") +
                                    said("7", "Trees [0] -1/-1/-1->0->1") + complete("7", "0xb"));
  ASSERT_EQ(sections.size(), 2u);
  EXPECT_EQ(sections[0].comm, 0xau);
  EXPECT_EQ(sections[0].trees, "[0] 1/-1/-1->0->-1");
  EXPECT_EQ(sections[1].comm, 0xbu);
  EXPECT_EQ(sections[1].trees, "[0] -1/-1/-1->0->1");
}

TEST(InitSections, HaveTheirTimingsBehindTheirEnd) {
  const std::string timings = said(
      "7", "Init timings - ncclCommInitRank: rank 0 nranks 2 total 1.11 (kernels 0.33, rest 0.06)");
  const auto sections = sections_of(start("7", "0xa") + complete("7", "0xa") + timings +
                                    said("7", "Ring 00 : 1 -> 0 -> 1") + timings);
  ASSERT_EQ(sections.size(), 2u);
  EXPECT_EQ(sections[0].timings_total, "1.11");
  EXPECT_EQ(sections[0].timings, "kernels 0.33, rest 0.06");
  EXPECT_EQ(sections[1].timings_total, "1.11");
  EXPECT_EQ(sections[1].comm, 0u);
}

TEST(InitSections, KeepAnIndentAndTheChannelsOfASearch) {
  const auto sections = sections_of(
      said("7", "+ PCI[48.0] - GPU/0-60 (0)") + said("7", "              + NVL[240.0] - NVS/0-0") +
      said("7", "Pattern 4, crossNic 0, nChannels 2, bw 40.0/40.0, type NVL/PIX, sameChannels 1") +
      said("7", " 0 : GPU/0-60 GPU/0-70") + said("7", " 1 : 0 1") +
      said("7", "Pattern 3, crossNic 0, nChannels 0, bw 0.0/0.0, type NVL/PIX, sameChannels 1"));
  ASSERT_EQ(sections.size(), 1u);
  EXPECT_EQ(sections[0].system.lines()[1], (IndentedLine{14, "+ NVL[240.0] - NVS/0-0"}));
  ASSERT_EQ(sections[0].graphs.size(), 2u);
  const decltype(SearchedGraph::members.all) members = {{"GPU/0-60 GPU/0-70", {1}}, {"0 1", {2}}};
  EXPECT_EQ(sections[0].graphs[0].members.all, members);
  EXPECT_EQ(sections[0].graphs[1].channels, 0);
}

/// Many initialisations of one thread, each with a topology line.
std::string many_inits(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    const std::string comm = "0x" + std::to_string(i + 1);
    text += start("7", comm.c_str()) + said("7", "CPU/0-0 (1/1/2)") + complete("7", comm.c_str());
  }
  return text;
}

TEST(InitSections, KeepOnlyTheFirstTables) {
  const auto sections = sections_of(many_inits(InitSections::kMaxTables + 1));
  for (size_t s = 0; s < sections.size(); ++s) {
    EXPECT_EQ(sections[s].system.lines().size(), s < InitSections::kMaxTables ? 1u : 0u);
    EXPECT_EQ(sections[s].system.cut(), s >= InitSections::kMaxTables);
  }
}

TEST(InitSections, AreBoundedAndTheSameWhereverTheLogIsCut) {
  const std::string text = many_inits(InitSections::kLimit + 3);
  const Shard whole = read_text(text);
  ASSERT_EQ(whole.speakers.begin()->second.inits.all().size(), InitSections::kLimit);
  for (const size_t fraction : {2, 3, 7}) {
    const size_t cut = text.find('\n', text.size() / fraction) + 1;
    Shard first = read_text(text.substr(0, cut));
    first.merge(read_text(text.substr(cut)));
    const auto& joined = first.speakers.begin()->second.inits.all();
    const auto& all = whole.speakers.begin()->second.inits.all();
    ASSERT_EQ(joined.size(), all.size());
    for (size_t s = 0; s < all.size(); ++s) {
      EXPECT_EQ(joined[s].comm, all[s].comm);
      EXPECT_EQ(joined[s].system, all[s].system);
    }
  }
}

}  // namespace

}  // namespace ncclog

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "log/event_reader.h"
#include "log/messages.h"
#include "model/process_log.h"
#include "model/record_trie.h"
#include "report/tables/tables.h"

namespace ncclog {
namespace {

constexpr uint16_t kKey = 7;

/// Of lists for which it does not matter what others have.
SharedTrie& some_trie() {
  static SharedTrie trie;
  return trie;
}

void add(RecordLists& lists, int message, uint64_t line, size_t most = RecordList::kMaxKept) {
  const std::string text = std::to_string(message);
  Event event;
  event.header.message = text;
  const SourceRef where = {0, line};
  const auto make = [&] { return make_record(where, text, event); };
  lists.add(some_trie(), kKey, {.where = where}, message_hash(text), make, most);
  lists.settle();
}

std::vector<uint64_t> lines_of(RecordLists lists) {
  lists.settle();
  std::vector<uint64_t> lines;
  for (const Record& record : lists.kept(kKey)) lines.push_back(record.where.line);
  return lines;
}

TEST(RecordList, KeepsDifferentMessagesOnceAndCountsAll) {
  RecordLists lists;
  for (uint64_t line = 1; line <= 6; ++line) add(lists, static_cast<int>(line % 2), line);
  EXPECT_EQ(lists.find(kKey).total, 6u);
  EXPECT_EQ(lines_of(lists), (std::vector<uint64_t>{1, 2}));
  EXPECT_FALSE(lists.find(kKey).full);
}

TEST(RecordList, IsFullOnlyWhenAFurtherDifferentMessageComes) {
  RecordLists lists;
  const auto limit = static_cast<int>(RecordList::kMaxKept);
  for (int i = 0; i < limit; ++i) add(lists, i, static_cast<uint64_t>(i) + 1);
  add(lists, 0, 9000);
  EXPECT_FALSE(lists.find(kKey).full);
  add(lists, limit, 9001);
  EXPECT_TRUE(lists.find(kKey).full);
  EXPECT_EQ(lists.kept(kKey).size(), RecordList::kMaxKept);
}

TEST(RecordList, CutDownItIsAsIfItHadNeverKeptMore) {
  RecordLists cut;
  RecordLists small;
  for (int i = 0; i < 20; ++i) {
    const auto line = static_cast<uint64_t>(i) + 1;
    add(cut, i % 12, line);
    add(small, i % 12, line, 5);
    if (i == 9) cut.cut_to(some_trie(), {5, 5});
  }
  EXPECT_EQ(lines_of(cut), lines_of(small));
  EXPECT_EQ(cut.find(kKey).total, small.find(kKey).total);
  EXPECT_TRUE(cut.find(kKey).full && small.find(kKey).full);
}

TEST(RecordList, MergingPartsGivesTheListOfTheWholeEvenWhenFull) {
  const int count = 3 * static_cast<int>(RecordList::kMaxKept);
  const auto message = [](int i) { return i * 7 % 600; };
  for (const int cut : {0, 1, 100, 256, 300, 700, count}) {
    RecordLists whole;
    RecordLists first;
    RecordLists second;
    for (int i = 0; i < count; ++i) {
      add(whole, message(i), static_cast<uint64_t>(i) + 1);
      add(i < cut ? first : second, message(i), static_cast<uint64_t>(i) + 1);
    }
    first.merge(some_trie(), std::move(second));
    EXPECT_EQ(first.find(kKey).total, whole.find(kKey).total);
    EXPECT_EQ(first.find(kKey).full, whole.find(kKey).full);
    EXPECT_EQ(lines_of(first), lines_of(whole)) << "cut at " << cut;
  }
}

TEST(RecordLimit, IsTheLowerTheMoreProcessesSpeak) {
  EXPECT_EQ(record_limit(0), (RecordLimit{256, 256}));
  EXPECT_EQ(record_limit(32), (RecordLimit{256, 256}));
  EXPECT_EQ(record_limit(33), (RecordLimit{128, 128}));
  EXPECT_EQ(record_limit(256), (RecordLimit{32, 32}));
  EXPECT_EQ(record_limit(257), (RecordLimit{32, 16}));
  EXPECT_EQ(record_limit(65536), (RecordLimit{32, 4}));
  RecordLimit before;
  for (size_t speakers = 1; speakers < 5000; ++speakers) {
    const RecordLimit limit = record_limit(speakers);
    EXPECT_LE(limit.most, before.most) << speakers;
    EXPECT_LE(limit.most_numbered, before.most_numbered) << speakers;
    before = limit;
  }
}

TEST(RecordLimit, IsLowerForLinesOfEachConnectionThanForOthers) {
  const RecordLimit limit = {32, 4};
  EXPECT_EQ(limit.of(kKindIndex<ProxyNewConnection>), 4u);
  EXPECT_EQ(limit.of(kKindIndex<RingNeighbours>), 4u);
  EXPECT_EQ(limit.of(kKindIndex<EnvSet>), 32u);
  EXPECT_EQ(limit.of_patterns().of(kKindIndex<ProxyNewConnection>), 32u);
  EXPECT_EQ(limit.of(kKindIndex<Xid>), RecordList::kMaxKept) << "a flood hides what comes behind";
}

void add(RecordLists& lists, uint16_t key, const std::string& message,
         SharedTrie& trie = some_trie()) {
  Event event;
  event.header.message = message;
  lists.add(trie, key, {}, message_hash(message), [&] { return make_record({}, message, event); });
}

std::string show(RecordLists lists) {
  lists.settle();
  std::string text;
  for (const auto& [key, list] : lists) {
    text += std::to_string(key) + ":" + std::to_string(list.total);
    for (const Record& record : list.kept) text += " " + record.text();
    text += list.full ? "…;" : ";";
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
  lists.settle();
  EXPECT_FALSE(lists.contains(8));
  EXPECT_EQ(lists.find(1000).total, 0U);
  EXPECT_EQ(lists.find(9).kept.front().text(), "b");
  EXPECT_TRUE(std::any_of(lists.begin(), lists.end(),
                          [](const auto& entry) { return entry.first == 512; }));
}

TEST(RecordLists, HoldTheSameWheneverTheyAreSettled) {
  RecordLists at_the_end;
  RecordLists each_time;
  for (int i = 0; i < 1000; ++i) {
    const auto key = static_cast<uint16_t>(i * i % 11);
    const std::string message = std::to_string(i % 130);
    add(at_the_end, key, message);
    add(each_time, key, message);
    each_time.settle();
  }
  EXPECT_EQ(show(at_the_end), show(each_time));
  EXPECT_NE(show(each_time).find("4:"), std::string::npos);
}

TEST(RecordLists, MergeKeyByKey) {
  RecordLists first;
  RecordLists second;
  add(first, 1, "a");
  add(first, 3, "c");
  add(second, 2, "b");
  add(second, 3, "c");
  add(second, 3, "x");
  first.merge(some_trie(), std::move(second));
  EXPECT_EQ(show(first), "1:1 a;2:1 b;3:3 c x;");
  RecordLists whole;
  whole.merge(some_trie(), std::move(first));
  EXPECT_EQ(show(whole), "1:1 a;2:1 b;3:3 c x;");
}

TEST(RecordLists, EachKeepsItsOwnFirstOnesWhenAllAreCutDown) {
  RecordLists lists;
  for (const std::string message : {"a", "b", "c", "b"}) {
    add(lists, 9, message);
    add(lists, 4, "z");
    add(lists, 5, message + message);
  }
  lists.cut_to(some_trie(), {2, 2});
  EXPECT_EQ(show(lists), "4:4 z;5:4 aa bb…;9:4 a b…;");
  add(lists, 6, "q");
  EXPECT_EQ(show(lists), "4:4 z;5:4 aa bb…;6:1 q;9:4 a b…;");
}

TEST(RecordLists, SayTheSameAsBeforeWhenTheyShareARow) {
  RecordLists one;
  RecordLists other;
  SharedTrie trie;
  for (const std::string message : {"a", "b", "a"}) {
    add(one, 9, message, trie);
    add(other, 9, message + message, trie);
  }
  one.settle();
  other.settle();
  EXPECT_EQ(&one.entries(), &other.entries());
  EXPECT_EQ(show(one), "9:3 a b;");
  EXPECT_EQ(show(other), "9:3 aa bb;");
  EXPECT_TRUE(one.contains(9));
  add(other, 4, "x", trie);
  other.cut_to(trie, {1, 1});
  EXPECT_EQ(show(other), "4:1 x;9:3 aa…;");
  EXPECT_EQ(show(one), "9:3 a b;");
  one.merge(trie, std::move(other));
  EXPECT_EQ(show(one), "4:1 x;9:6 a b aa…;");
}

TEST(RecordLists, TakeALineThatIsTheirOwnAlreadyForARepeatedOne) {
  SharedTrie trie;
  RecordLists first;
  RecordLists second;
  for (const std::string message : {"a", "b", "c"}) add(first, 9, message, trie);
  // The others go on as the first one did, but what comes then stands in this one already.
  for (const std::string message : {"b", "b", "c"}) add(second, 9, message, trie);
  EXPECT_EQ(show(first), "9:3 a b c;");
  EXPECT_EQ(show(second), "9:3 b c;");
}

TEST(RecordLists, GoOnAlikeAfterTheyWereSettledOrCut) {
  TextCache texts;
  const std::string lines[] = {"d", "a", "b", "e", "a", "b", "c"};
  const uint16_t keys[] = {9, 4, 4, 9, 4, 4, 4};
  const auto is_settled = [](size_t list, size_t line) { return list % 7 == line; };
  SharedTrie trie;
  SharedTrie other_trie;
  std::vector<RecordLists> all(20);
  for (size_t i = 0; i < all.size(); ++i) {
    SharedTrie& own = i % 5 == 4 ? other_trie : trie;
    for (size_t line = 0; line < std::size(lines); ++line) {
      Event event;
      event.header.message = lines[line];
      const uint64_t hash = message_hash(lines[line]);
      const SourceRef where = {i, 10 * i + line};
      const OwnedRecord record = texts.record(where, lines[line], event, hash);
      all[i].add(own, keys[line], {where, nullptr, record.rest.get()}, hash,
                 [&] { return record; });
      if (is_settled(i, line)) all[i].settle();
      if (line == 5 && i % 3 == 0) all[i].cut_to(own, {2, 2});
    }
    all[i].cut_to(own, {2, 2});
    all[i].settle();
    EXPECT_EQ(show(all[i]), "4:5 a b…;9:2 d e;") << i;
    EXPECT_EQ(all[i].kept(4)[1].where, (SourceRef{i, 10 * i + 2})) << i;
  }
  EXPECT_EQ(&all[0].entries(), &all[1].entries());
}

/// What a rank prints: the same as all others, but for its number, and from its own thread.
RecordLists lists_of_rank(int rank, TextCache& texts, SharedTrie& trie, uint64_t unit = 0) {
  const std::string head =
      "n" + std::to_string(rank / 8) + ":" + std::to_string(100 + rank) + ":7 [0] ";
  RecordLists lists;
  uint64_t line = 1000 * static_cast<uint64_t>(rank);
  for (int i = 0; i < 20; ++i) {
    const std::string what = i == 7 ? "rank " + std::to_string(rank) : "line " + std::to_string(i);
    const std::string text =
        head + "NCCL " + (i == 9 ? "WARN" : "INFO") + " NET/Plugin: No plugin found (" + what + ")";
    const Event event = parse_event(text, all_wordings());
    const uint64_t hash = message_hash(event.header.message);
    const SourceRef where = {unit, ++line};
    lists.add(trie, static_cast<uint16_t>(i % 5), {.where = where}, hash,
              [&] { return texts.record(where, text, event, hash); });
  }
  lists.settle();
  return lists;
}

TEST(RecordLists, OfOneLayoutKeepTheirOwnPlacesHeadsAndTexts) {
  TextCache texts;
  SharedTrie trie;
  std::vector<RecordLists> ranks;
  for (int rank = 0; rank < 40; ++rank) ranks.push_back(lists_of_rank(rank, texts, trie));
  for (int rank = 0; rank < 40; ++rank) {
    const RecordLists& own = ranks[static_cast<size_t>(rank)];
    EXPECT_EQ(&own.entries(), &ranks.front().entries()) << "they share no row";
    const Record record = own.kept(2)[1];
    const std::string host = "n" + std::to_string(rank / 8) + ":";
    EXPECT_NE(record.text().find("(rank " + std::to_string(rank) + ")"), std::string::npos);
    EXPECT_TRUE(record.text().starts_with(host)) << record.text();
    EXPECT_EQ(record.where.line, 1000u * static_cast<uint64_t>(rank) + 8);
    EXPECT_EQ(own.kept(4)[1].text().find("WARN") != std::string::npos, true);
    EXPECT_EQ(own.all()->level(own.kept(4).first_place() + 1), Level::Warn);
    EXPECT_EQ(own.all()->level(own.kept(0).first_place()), Level::Info);
  }
}

TEST(RecordLists, HoldWhatTheyHeldWhenTheirLayoutsAreTakenApart) {
  TextCache texts;
  SharedTrie trie;
  const RecordLists first = lists_of_rank(1, texts, trie);
  RecordLists other = lists_of_rank(2, texts, trie);
  RecordLists copy = other;
  EXPECT_EQ(show(copy), show(other));
  // Of another stretch, and behind more lines than 32 bits count.
  Event event;
  event.header.message = "late";
  const SourceRef far = {9, uint64_t{1} << 35};
  copy.add(trie, 3, {.where = far}, message_hash("late"),
           [&] { return make_record(far, "late", event); });
  copy.settle();
  const Records kept = copy.kept(3);
  EXPECT_EQ(kept.back().where, far);
  EXPECT_EQ(kept.back().text(), "late");
  EXPECT_EQ(kept.front(), other.kept(3).front());
  EXPECT_EQ(show(RecordLists(copy)), show(copy));
  other.merge(trie, RecordLists(first));
  EXPECT_EQ(other.find(2).total, 8u);
  EXPECT_EQ(other.kept(2).size(), 5u) << "one message differs";
}

TEST(RecordLists, WhatIsTakenOutIsAsIfItHadNotCome) {
  RecordLists lists;
  for (const std::string message : {"a", "b", "a", "c"}) add(lists, 9, message);
  add(lists, 4, "b");
  add(lists, 5, "x");
  lists.keep_only(some_trie(), [](uint16_t, const Record& record) { return record.text() != "b"; });
  EXPECT_EQ(show(lists), "5:1 x;9:3 a c;");
  lists.forget_repeats();
  EXPECT_EQ(show(lists), "5:1 x;9:2 a c;");
}

TEST(TextCache, LinesOfOneProcessAndMessagesOfManyShareTheirBytes) {
  const std::vector<std::string> lines = {
      "n1:7:8 [0] NCCL INFO Using network IB",
      "n1:7:8 [0] NCCL INFO P2P Chunksize set to 131072",
      "n2:9:9 [1] NCCL INFO Using network IB",
  };
  TextCache texts;
  std::vector<OwnedRecord> records;
  for (const std::string& line : lines) {
    const Event event = parse_event(line, all_wordings());
    records.push_back(texts.record({0, 1}, line, event, message_hash(event.header.message)));
  }
  EXPECT_EQ(records[0].head, records[1].head);
  EXPECT_EQ(records[0].rest, records[2].rest);
  EXPECT_NE(records[0].head, records[2].head);
  for (size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(Record(records[i]).text(), lines[i]);
}

TEST(TextCache, ARecordSaysWhatItsLineSays) {
  const std::string lines[] = {
      "n1:7:8 [0] NCCL INFO Using network IB",
      "n1:7:8 [0] NCCL INFO                 + NET[1.2] - NET/0-0 (0/0/0/1.250000)",
      "n1:7:8 [0] include/socket.h:390 NCCL WARN Connect to 10.0.0.2<4> failed : Timeout",
      "2026-01-02 03:04:05 [1,3]<stdout>:n1:7:8 [0] NCCL INFO NCCL_DEBUG set by environment to "
      "INFO.",
      "n1:7:8 [0] NCCL INFO Frobnicated",
      "n1:7:8 [0] NCCL INFO Using network NCCL INFO IB",
      "Traceback (most recent call last):",
      "n1:7:8 [0] NCCL INFO Using network IB ",
  };
  TextCache texts;
  for (const std::string& line : lines) {
    const Event event = parse_event(line, all_wordings());
    const OwnedRecord kept = texts.record({0, 1}, line, event, message_hash(event.header.message));
    const Record record = kept;
    const Event read = parse_record(record);
    EXPECT_EQ(record.text(), line);
    EXPECT_EQ(read.fate, event.fate) << line;
    EXPECT_EQ(read.header.level, event.header.level) << line;
    EXPECT_EQ(read.header.host, event.header.host) << line;
    EXPECT_EQ(read.header.tid, event.header.tid) << line;
    EXPECT_EQ(read.header.prefix.rank, event.header.prefix.rank) << line;
    EXPECT_EQ(read.header.prefix.time, event.header.prefix.time) << line;
    EXPECT_EQ(read.header.message, event.header.message) << line;
    EXPECT_EQ(read.message.wording, event.message.wording) << line;
    EXPECT_EQ(read.message.fields, event.message.fields) << line;
    EXPECT_EQ(level_of(record), event.header.level) << line;
  }
}

UnknownShapes shapes_of(const std::vector<std::string>& lines, size_t begin, size_t end) {
  UnknownShapes shapes;
  for (size_t i = begin; i < end; ++i) {
    count_unknown(shapes, {0, i + 1}, lines[i], parse_event(lines[i], all_wordings()));
  }
  return shapes;
}

/// A word of letters only: each is a shape of its own.
std::string word_of(size_t number) {
  std::string word;
  for (; number > 0; number /= 26) word += static_cast<char>('a' + number % 26);
  return "q" + word;
}

TEST(Record, KeepsTheSenseThatTheLinesBeforeItGaveIt) {
  constexpr std::string_view kException = "[rank5]: datatools.ShardCorrupt: shard 12";
  OwnedRecord kept;
  EventReader reader([&](const Line& line, const Event& event, int) {
    if (line.text == kException) kept = make_record({0, line.number}, line.text, event);
  });
  const std::string_view lines[] = {"[rank5]: Traceback (most recent call last):",
                                    "[rank5]:   File \"/w/train.py\", line 3, in main", kException};
  for (const std::string_view text : lines) reader.add({.text = text});
  reader.finish();
  const Event event = parse_record(kept);
  EXPECT_EQ(event.fate, LineFate::Recognised);
  ASSERT_TRUE(event.message.kind != nullptr);
  const auto said = read_message<PythonException>(event.message);
  EXPECT_EQ(said.type, "datatools.ShardCorrupt");
  EXPECT_EQ(said.message, "shard 12");
}

TEST(UnknownShapes, CountLinesAndKeepTheFirst) {
  const std::vector<std::string> lines = {"n:1:2 [0] NCCL INFO Frobnicated 3 rails",
                                          "n:1:2 [0] NCCL INFO Weighed 4 rails",
                                          "n:1:2 [0] a.cc:7 NCCL WARN Frobnicated 4 rails"};
  const UnknownShapes shapes = shapes_of(lines, 0, lines.size());
  ASSERT_EQ(shapes.all.size(), 2U);
  const UnknownLines& found = shapes.all.at("Frobnicated # rails");
  EXPECT_EQ(found.count, 2U);
  EXPECT_EQ(found.first, (SourceRef{0, 1}));
  EXPECT_EQ(found.example, lines[0]);
  EXPECT_EQ(found.levels,
            1U << static_cast<unsigned>(Level::Info) | 1U << static_cast<unsigned>(Level::Warn));
}

TEST(UnknownShapes, AreBoundedAndTheSameWhereverTheyAreCut) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < UnknownShapes::kLimit + 700; ++i) {
    lines.push_back("n:1:2 [0] NCCL INFO " + word_of(i * 7919 % 2600) + " is unknown");
  }
  const UnknownShapes whole = shapes_of(lines, 0, lines.size());
  EXPECT_EQ(whole.all.size(), UnknownShapes::kLimit);
  uint64_t total = whole.other;
  for (const auto& [shape, found] : whole.all) total += found.count;
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
  EXPECT_EQ(written(write_table_csv, table),
            "count,levels,printer,shape,first,example\n"
            "1,INFO,,Frobnicated # rails,a.log:1,n:1:2 [0] NCCL INFO Frobnicated 3 rails\n");
  ASSERT_EQ(table.notes.size(), 2U);
  EXPECT_EQ(table.notes[1], "5 more lines are of other shapes; 2048 shapes are kept.");
}

}  // namespace

}  // namespace ncclog

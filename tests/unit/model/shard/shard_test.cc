#include "model/shard/shard.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "log/messages.h"
#include "model/derive/build_job.h"
#include "model/shard/read_log.h"

namespace ncclog {
namespace {

/// As torn lines invent them: ever new processes, in no order, some of them again.
std::vector<std::string> lines_of_many_processes() {
  const uint64_t count = Shard::kMaxSpeakers + 3000;
  std::vector<std::string> lines;
  for (uint64_t i = 0; i < count + 2000; ++i) {
    const std::string host = "n" + std::to_string(i * 7919 % count + 100'000);
    lines.push_back(host + ":1:1 [0] NCCL INFO Using network Socket");
  }
  return lines;
}

const LineMatcher kNone;

/// With `before`, as one thread reads a stretch behind others.
Shard read(const std::vector<std::string>& lines, size_t begin, size_t end,
           ReadBefore* before = nullptr) {
  LogReader reader(0, 0, kNone, MarkerFinder(), nullptr, before);
  for (size_t i = begin; i < end; ++i) reader.add({lines[i], i + 1, 0, false});
  return reader.finish();
}

std::vector<std::pair<std::string, uint64_t>> kept(const Shard& shard) {
  std::vector<std::pair<std::string, uint64_t>> logs;
  for (const auto& [speaker, log] : shard.speakers) logs.emplace_back(speaker.host, log.lines);
  return logs;
}

/// The lines cut at all of `cuts`, put together again from the left or from the right.
Shard read_in_pieces(const std::vector<std::string>& lines, const std::vector<size_t>& cuts,
                     bool from_the_right, ReadBefore* before = nullptr) {
  std::vector<Shard> pieces;
  size_t begin = 0;
  for (const size_t cut : cuts) {
    pieces.push_back(read(lines, begin, cut, before));
    begin = cut;
  }
  pieces.push_back(read(lines, begin, lines.size(), before));
  while (pieces.size() > 1) {
    const size_t at = from_the_right ? pieces.size() - 2 : 0;
    pieces[at].merge(std::move(pieces[at + 1]));
    pieces.erase(pieces.begin() + static_cast<long>(at) + 1);
  }
  return std::move(pieces.front());
}

TEST(Shard, KeepsTheSameProcessesAndCountsTheSameLossesWhereverItIsCut) {
  const std::vector<std::string> lines = lines_of_many_processes();
  const Shard whole = read(lines, 0, lines.size());
  EXPECT_EQ(whole.speakers.size(), Shard::kMaxSpeakers);
  uint64_t kept_lines = 0;
  for (const auto& [host, count] : kept(whole)) kept_lines += count;
  EXPECT_EQ(whole.losses.count(Loss::ProcessesDropped), lines.size() - kept_lines);
  for (const bool from_the_right : {false, true}) {
    const Shard parts =
        read_in_pieces(lines, {1, 30'000, 67'000, lines.size() - 1}, from_the_right);
    EXPECT_EQ(parts.losses, whole.losses) << "from the right: " << from_the_right;
    EXPECT_EQ(kept(parts), kept(whole)) << "from the right: " << from_the_right;
  }
}

/// Each of so many processes prints more lines of a kind than are kept of it, which differ in the
/// number at their end.
std::vector<std::string> lines_of_wordy_processes(int processes, const std::string& message,
                                                  int count) {
  std::vector<std::string> lines;
  for (int line = 0; line < count; ++line) {
    for (int process = 0; process < processes; ++process) {
      // Some come later than others.
      if (line < process % 7) continue;
      lines.push_back("node:" + std::to_string(process + 1) + ":1 [0] NCCL INFO " + message +
                      std::to_string(line));
    }
  }
  return lines;
}

/// What a shard keeps of each process's lines: where they stand, and whether there were more.
std::vector<std::pair<bool, std::vector<uint64_t>>> records(const Shard& shard) {
  std::vector<std::pair<bool, std::vector<uint64_t>>> all;
  for (const auto& [speaker, log] : shard.speakers) {
    for (const auto& [kind, list] : log.records) {
      std::vector<uint64_t> places;
      for (const Record& record : list.kept) places.push_back(record.where.line);
      all.emplace_back(list.full, places);
    }
  }
  return all;
}

TEST(Shard, KeepsTheFewerLinesOfEachTheMoreProcessesSpeakWhereverItIsCut) {
  struct Row {
    int processes;
    std::string message;
    int lines;
    size_t kept;
  };
  const std::string connection = "Connected to proxy localRank 0 -> connection 0x7f00";
  const Row rows[] = {{3, "Using network eth", 300, 256},
                      {40, "Using network eth", 300, 128},
                      {130, "Using network eth", 300, 32},
                      {600, "Using network eth", 40, 32},
                      {600, connection, 40, 8}};
  for (const Row& row : rows) {
    const std::vector<std::string> lines =
        lines_of_wordy_processes(row.processes, row.message, row.lines);
    const auto whole = records(read(lines, 0, lines.size()));
    ASSERT_EQ(whole.size(), static_cast<size_t>(row.processes));
    for (const auto& [full, places] : whole) {
      EXPECT_EQ(places.size(), row.kept);
      EXPECT_TRUE(full);
    }
    const std::vector<size_t> cuts = {2, lines.size() / 50, lines.size() / 2, lines.size() - 2};
    for (const bool from_the_right : {false, true}) {
      const Shard parts = read_in_pieces(lines, cuts, from_the_right);
      EXPECT_EQ(records(parts), whole) << row.processes << " processes, " << from_the_right;
      ReadBefore before(kNone, MarkerFinder());
      const Shard learning = read_in_pieces(lines, cuts, from_the_right, &before);
      EXPECT_EQ(records(learning), whole) << row.processes << " processes, learnt before";
    }
  }
}

std::string topology_of(int pid, int comm, const std::string& gpu) {
  const std::string head = "node:" + std::to_string(pid) + ":1 [0] NCCL INFO ";
  const std::string pointer = "ncclCommInitRank comm 0x" + std::to_string(comm) +
                              " rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 60 commId 0x1 - Init ";
  return head + pointer + "START\n" + head + "CPU/0-0 (1/1/2)\n" + head + "+ PCI[48.0] - " + gpu +
         "\n" + head + pointer + "COMPLETE\n";
}

/// Where the bytes of each topology are that the processes of `text` print.
std::vector<const char*> places_of_topologies(const Shard& shard) {
  std::vector<const char*> places;
  for (const auto& [speaker, log] : shard.speakers) {
    for (const InitSection& section : log.inits.all()) {
      places.push_back(section.system.lines().front().text.data());
    }
  }
  return places;
}

/// As where a file was copied while its job ran.
TEST(Shard, ALastLineWithoutAnEndIsNoEvidenceWhereItsEndTells) {
  struct CutRow {
    std::string_view line;
    bool is_kept;
  };
  constexpr std::string_view kTraceback =
      "Traceback (most recent call last):\n  File \"/app/train.py\", line 4, in <module>\n";
  const CutRow rows[] = {
      {"KeyboardIn", false},
      {"KeyboardInterrupt: stopped", true},
      {"RuntimeError", true},
      {"8388608 2097152 float sum -1 49.3 170.15 319.0 0 50.1 167.43 313.9 12", false},
      {"8388608 2097152 float sum -1 49.3 170.15 319.0 0 50.1 167.43 313.9 0", true},
      {"8388608 2097152 float sum -1 49.3 170.15 319.0 N/A 50.1 167.43 313.9 N/A", true},
      {"# Avg bus bandwidth    : 41.6", false},
      {"# Out of bounds values : 0 OK", true},
  };
  const auto kept_lines = [&](const CutRow& row, bool is_cut) {
    const std::string text = std::string(kTraceback) + std::string(row.line);
    LogReader reader(0, 0, kNone);
    uint64_t number = 0;
    for (const std::string_view line : split(text, '\n')) {
      ++number;
      reader.add({line, number, 0, is_cut && number == 3});
    }
    const Shard shard = reader.finish();
    size_t lines = 0;
    for (const auto& [speaker, log] : shard.speakers) {
      lines += log.records.kept(kKindIndex<PythonException>).size();
      lines += log.benchmarks->kept.size();
    }
    return lines;
  };
  for (const CutRow& row : rows) {
    EXPECT_EQ(kept_lines(row, false), 1u) << row.line;
    EXPECT_EQ(kept_lines(row, true), row.is_kept ? 1u : 0u) << row.line;
  }
}

TEST(Shard, KeepsEqualTopologiesOfAHostOnce) {
  Shard shard;
  shard.merge(read_text(topology_of(1, 1, "GPU/0-60 (0)") + topology_of(2, 1, "GPU/0-60 (0)") +
                        topology_of(2, 2, "GPU/0-70 (1)") + topology_of(3, 1, "GPU/0-70 (1)") +
                        topology_of(3, 2, "GPU/0-70 (1)")));
  const std::vector<const char*> places = places_of_topologies(shard);
  ASSERT_EQ(places.size(), 5u);
  EXPECT_EQ(places[0], places[1]);
  EXPECT_NE(places[1], places[2]);
  EXPECT_EQ(places[2], places[3]);
  EXPECT_EQ(places[3], places[4]);
}

}  // namespace

}  // namespace ncclog

#include "model/shard.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/read_log.h"

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

Shard read(const std::vector<std::string>& lines, size_t begin, size_t end) {
  const LineMatcher none;
  LogReader reader(0, 0, none);
  for (size_t i = begin; i < end; ++i) reader.add({lines[i], i + 1, 0, false});
  return reader.finish();
}

std::vector<std::pair<std::string, uint64_t>> kept(const Shard& shard) {
  std::vector<std::pair<std::string, uint64_t>> logs;
  for (const auto& [speaker, log] : shard.speakers()) logs.emplace_back(speaker.host, log.lines);
  return logs;
}

TEST(Shard, KeepsTheSameProcessesAndCountsTheSameLossesWhereverItIsCut) {
  const std::vector<std::string> lines = lines_of_many_processes();
  const Shard whole = read(lines, 0, lines.size());
  EXPECT_EQ(whole.speakers().size(), Shard::kMaxSpeakers);
  uint64_t kept_lines = 0;
  for (const auto& [host, count] : kept(whole)) kept_lines += count;
  EXPECT_EQ(whole.losses().count(Loss::ProcessesDropped), lines.size() - kept_lines);
  for (const size_t cut : {size_t{1}, size_t{30'000}, size_t{67'000}, lines.size() - 1}) {
    Shard parts = read(lines, 0, cut);
    parts.merge(read(lines, cut, lines.size()));
    EXPECT_EQ(parts.losses(), whole.losses()) << "cut at " << cut;
    EXPECT_EQ(kept(parts), kept(whole)) << "cut at " << cut;
  }
}

/// Each of so many processes names more network interfaces than are kept of it.
std::vector<std::string> lines_of_wordy_processes(int processes) {
  std::vector<std::string> lines;
  for (int line = 0; line < 300; ++line) {
    for (int process = 0; process < processes; ++process) {
      // Some come later than others.
      if (line < process % 7) continue;
      lines.push_back("node:" + std::to_string(process + 1) + ":1 [0] NCCL INFO Using network eth" +
                      std::to_string(line));
    }
  }
  return lines;
}

/// What a shard keeps of each process's lines: where they stand, and whether there were more.
std::vector<std::pair<bool, std::vector<uint64_t>>> records(const Shard& shard) {
  std::vector<std::pair<bool, std::vector<uint64_t>>> all;
  for (const auto& [speaker, log] : shard.speakers()) {
    for (const auto& [kind, list] : log.records) {
      std::vector<uint64_t> places;
      for (const Record& record : list.kept) places.push_back(record.where.line);
      all.emplace_back(list.full, places);
    }
  }
  return all;
}

TEST(Shard, KeepsTheFewerLinesOfEachTheMoreProcessesSpeakWhereverItIsCut) {
  for (const int processes : {3, 40, 130}) {
    const std::vector<std::string> lines = lines_of_wordy_processes(processes);
    const auto whole = records(read(lines, 0, lines.size()));
    ASSERT_EQ(whole.size(), static_cast<size_t>(processes));
    for (const auto& [full, places] : whole) {
      EXPECT_EQ(places.size(), most_records(static_cast<size_t>(processes)));
      EXPECT_TRUE(full);
    }
    for (const size_t cut : {size_t{2}, lines.size() / 50, lines.size() / 2, lines.size() - 2}) {
      Shard parts = read(lines, 0, cut);
      parts.merge(read(lines, cut, lines.size()));
      EXPECT_EQ(records(parts), whole) << processes << " processes, cut at " << cut;
    }
  }
}

}  // namespace
}  // namespace ncclog

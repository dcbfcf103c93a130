// What the filter of foreign lines lets go means nothing to any later stage, whatever the line.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "bench/log_generator.h"
#include "log/event_reader.h"
#include "log/iteration_marker.h"
#include "log/known_messages.h"
#include "log/line/header.h"
#include "log/line/prefix.h"
#include "log/line/scanner.h"
#include "log/other_programs_filter.h"
#include "log/unwrapper.h"
#include "support/launcher_wraps.h"
#include "support/paths.h"

namespace ncclog {
namespace {

const MarkerFinder& finder() {
  static const MarkerFinder all;
  return all;
}

const ForeignFilter& filter() {
  static const ForeignFilter all({}, finder());
  return all;
}

bool can_matter(std::string_view line) {
  return filter().boring_lines(std::string(line) + "\n", 1).lines == 0;
}

bool names_nobody(const Prefix& prefix) {
  return prefix.rank < 0 && prefix.local_rank < 0 && prefix.pid < 0 && prefix.host.empty() &&
         prefix.address.empty() && prefix.progress_title.empty();
}

/// What the line means, if it does; empty: nothing.
std::string meaning_of(std::string_view line) {
  std::string plain;
  if (strip_ansi(line, plain).data() != line.data()) return "holds escape sequences";
  int records = 0;
  std::string why;
  EventReader reader([&](const Line& record, const Event& event, int lines) {
    ++records;
    if (record.text != line || lines != 1) why = "is taken apart";
    if (event.fate != LineFate::Foreign) why = "is understood";
    if (event.header.level != Level::None) why = "has a level";
    if (!names_nobody(event.header.prefix)) why = "names somebody";
    if (!event.header.unexplained.empty() || event.header.repeated != 0)
      why = "is more than a line";
    if (line.empty() != event.header.message.empty()) why = "is all prefix";
    if (find_task_tag(event.header.message) != event.header.message.npos) why = "holds a task";
  });
  reader.add({.text = line, .number = 1});
  // What is held back for the next line is not there yet.
  if (records != 1) why = "goes on in the next line";
  Marker marker;
  if (finder().find(line, marker)) why = "is a marker";
  if (holds_process(line)) why = "holds a process";
  return why;
}

void expect_right(const std::string& line) {
  if (!may_have_prefix(line) && line.find("%|") == line.npos) {
    EXPECT_EQ(parse_prefix(line).length, 0u) << line;
  }
  if (can_matter(line)) return;
  EXPECT_EQ(meaning_of(line), "") << line;
}

void for_each_line(const std::string& text, const std::function<void(const std::string&)>& take) {
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find_first_of("\r\n", begin), text.size());
    take(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

/// Every line of the sample logs once, digits aside, and every wording's example.
std::vector<std::string> find_known_lines() {
  std::vector<std::pair<std::string, std::string>> lines;
  const auto add = [&](const std::string& line) {
    if (line.size() > 2000) return;
    std::string shape = line;
    std::replace_if(shape.begin(), shape.end(), is_digit, '0');
    lines.emplace_back(std::move(shape), line);
  };
  const auto samples = testing::source_dir() / "sample_logs";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(samples)) {
    if (entry.is_regular_file()) for_each_line(testing::read_file(entry.path()), add);
  }
  for (const Kind& kind : all_kinds()) {
    for (const Wording& wording : kind.wordings) add(std::string(wording.example));
  }
  for (const IterationWording& wording : iteration_wordings()) add(std::string(wording.example));
  std::sort(lines.begin(), lines.end());
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  lines.erase(std::unique(lines.begin(), lines.end(), same), lines.end());
  std::vector<std::string> known;
  for (auto& [shape, line] : lines) known.push_back(std::move(line));
  return known;
}

const std::vector<std::string>& known_lines() {
  static const std::vector<std::string> all = find_known_lines();
  return all;
}

std::string training_output(uint64_t bytes) {
  std::ostringstream out;
  testing::generate_log({.bytes = bytes, .mix = testing::LogMix::Training}, out);
  return out.str();
}

TEST(ForeignFilterProperty, LinesOfSampleLogsThatAreLetGoMeanNothing) {
  for (const std::string& line : known_lines()) expect_right(line);
}

TEST(ForeignFilterProperty, WrappedLinesThatAreLetGoMeanNothing) {
  size_t i = 0;
  for (const std::string& line : known_lines()) {
    if (++i % 40 != 0) continue;
    for (const testing::Wrap& wrap : testing::all_wraps()) {
      expect_right(testing::wrapped(wrap, {.number = 3, .local_rank = 3, .pid = 4242}, line));
    }
  }
}

TEST(ForeignFilterProperty, DamagedLinesThatAreLetGoMeanNothing) {
  const std::vector<std::string>& lines = known_lines();
  std::mt19937 random(11);
  constexpr std::string_view kBytes("[]:|%# $-\"{}\x1b\t\0aE0", 18);
  for (uint64_t round = 0; round < testing::affordable(20'000); ++round) {
    std::string line = lines[random() % lines.size()];
    const std::string& other = lines[random() % lines.size()];
    const size_t cut = random() % (line.size() + 1);
    switch (random() % 4) {
      case 0:
        line = line.substr(cut);
        break;
      case 1:
        line.resize(cut);
        break;
      case 2:
        line.insert(cut, 1, kBytes[random() % kBytes.size()]);
        break;
      default:
        line = line.substr(0, cut) + other.substr(random() % (other.size() + 1));
    }
    expect_right(line);
  }
}

TEST(ForeignFilterProperty, MostTrainingOutputIsLetGo) {
  size_t lines = 0;
  size_t let_go = 0;
  for_each_line(training_output(1 << 20), [&](const std::string& line) {
    expect_right(line);
    ++lines;
    let_go += can_matter(line) ? 0 : 1;
  });
  EXPECT_GT(let_go, lines * 2 / 3);
}

/// Lines of all lengths, some with texts that have to be looked at more closely and mean nothing, a
/// few that matter.
std::string mixed_lines(unsigned seed) {
  constexpr std::string_view kTexts[] = {
      "a plain line of words",
      "/dev/shm in passing",
      "what ends in Error or in Killed",
      "12%| no bar",
      "odd text n:1:2 [0] misc/socket.cc:57 NCCL WARN Connection closed by remote peer x",
  };
  std::mt19937 random(seed);
  std::string text;
  for (int i = 0; i < 400; ++i) {
    const size_t which = random() % 8;
    text += which < std::size(kTexts) ? kTexts[which] : kTexts[0];
    if (random() % 3 == 0) text += " " + std::string(random() % 400, 'x');
    text += '\n';
  }
  return text;
}

TEST(ForeignFilterProperty, LinesThatMatterEndABlock) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const std::string text = mixed_lines(seed);
    for (std::string_view rest = text; !rest.empty();) {
      const LineRun boring = filter().boring_lines(rest, 1 + seed % 100);
      for_each_line(std::string(rest.substr(0, boring.bytes)), [&](const std::string& line) {
        ASSERT_FALSE(can_matter(line)) << "seed " << seed << ": " << line;
      });
      rest.remove_prefix(boring.bytes);
      rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1);
      if (rest.size() == 0) break;
    }
  }
}

TEST(ForeignFilterProperty, BlocksAreReadLikeTheirLines) {
  const std::string text = training_output(1 << 20);
  std::string_view rest = text;
  for (size_t most = 1; !rest.empty(); most = most % 100 + 1) {
    const LineRun boring = filter().boring_lines(rest, most);
    const std::string_view taken = rest.substr(0, boring.bytes);
    EXPECT_EQ(static_cast<uint64_t>(std::count(taken.begin(), taken.end(), '\n')), boring.lines);
    for_each_line(std::string(taken),
                  [&](const std::string& line) { EXPECT_FALSE(can_matter(line)) << line; });
    rest.remove_prefix(boring.bytes);
    if (boring.lines > 0) continue;
    const std::string_view next = rest.substr(0, rest.find('\n'));
    EXPECT_TRUE(next.empty() || next.find('\r') != next.npos || can_matter(next)) << next;
    rest.remove_prefix(std::min(next.size() + 1, rest.size()));
  }
}

}  // namespace
}  // namespace ncclog

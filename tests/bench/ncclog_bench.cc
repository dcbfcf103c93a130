// How many lines and bytes a second do the steps of reading take, each for itself and together?
//
//   split/collectives       header/init       ledger/collectives       merge/init
//
// All read generated logs of 1 MB from memory. Items are lines, but for merge: shards of 64 KB.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "bench/log_generator.h"
#include "input/line_reader.h"
#include "log/event.h"
#include "log/known_messages.h"
#include "model/derive/build_job.h"
#include "model/shard/read_log.h"
#include "rules/evaluate.h"
#include "rules/load_rules.h"

namespace ncclog {
namespace {

struct BenchText {
  std::string text;
  std::vector<std::string_view> lines;
};

const BenchText& text_of(const std::string& mix) {
  static std::map<std::string, BenchText> texts;
  BenchText& entry = texts[mix];
  if (entry.text.empty()) {
    std::ostringstream out;
    testing::generate_log({.bytes = 1 << 20, .ranks = 16, .mix = testing::log_mix_named(mix)}, out);
    entry.text = std::move(out).str();
    entry.lines = split(std::string_view(entry.text).substr(0, entry.text.size() - 1), '\n');
  }
  return entry;
}

void count(benchmark::State& state, const std::string& mix) {
  const auto rounds = static_cast<int64_t>(state.iterations());
  const BenchText& log = text_of(mix);
  state.SetItemsProcessed(rounds * static_cast<int64_t>(log.lines.size()));
  state.SetBytesProcessed(rounds * static_cast<int64_t>(log.text.size()));
}

/// Runs `read` on every line of the mix again and again.
template <typename Read>
void for_each_line(benchmark::State& state, const std::string& mix, Read&& read) {
  const BenchText& log = text_of(mix);
  for (auto _ : state) {
    for (std::string_view line : log.lines) read(line);
  }
  count(state, mix);
}

void line_splitting(benchmark::State& state, const std::string& mix) {
  const std::string& text = text_of(mix).text;
  for (auto _ : state) {
    size_t at = 0;
    LineReader reader([&](char* buffer, size_t capacity) {
      const size_t size = std::min(capacity, text.size() - at);
      std::memcpy(buffer, text.data() + at, size);
      at += size;
      return size;
    });
    for (Line line; reader.next(line);) benchmark::DoNotOptimize(line);
  }
  count(state, mix);
}

void header(benchmark::State& state, const std::string& mix) {
  for_each_line(state, mix, [](std::string_view line) {
    Header parsed = parse_header(line);
    benchmark::DoNotOptimize(parsed);
  });
}

void wordings(benchmark::State& state, const std::string& mix) {
  const WordingTable& table = all_wordings();
  for_each_line(state, mix, [&](std::string_view line) {
    // The header ends at a fixed word here, so its cost does not hide that of the wordings.
    size_t at = line.find("NCCL INFO ");
    Message message =
        at == line.npos ? table.foreign.parse(line) : table.nccl.parse(line.substr(at + 10));
    benchmark::DoNotOptimize(message);
  });
}

void event(benchmark::State& state, const std::string& mix) {
  const WordingTable& table = all_wordings();
  for_each_line(state, mix, [&](std::string_view line) {
    Event parsed = parse_event(line, table);
    benchmark::DoNotOptimize(parsed);
  });
}

/// Understood lines into a shard: counts, hashes, places.
void ledger(benchmark::State& state, const std::string& mix) {
  const BenchText& log = text_of(mix);
  std::vector<Event> events;
  for (std::string_view line : log.lines) events.push_back(parse_event(line, all_wordings()));
  const std::vector<int> matched;
  TextCache texts;
  SharedTrie trie;
  for (auto _ : state) {
    ShardWriter shard(0, 0, {}, texts, trie);
    Line line;
    for (size_t i = 0; i < events.size(); ++i) {
      line.text = log.lines[i];
      ++line.number;
      shard.add(line, events[i], 1, matched);
    }
    benchmark::DoNotOptimize(&shard);
  }
  count(state, mix);
}

void rules_on_lines(benchmark::State& state, const std::string& mix) {
  static const Rulebook kRulebook = load_rulebook();
  const LineMatcher matcher = make_line_matcher(kRulebook);
  std::vector<int> matched;
  for_each_line(state, mix, [&](std::string_view line) {
    matched.clear();
    matcher(line, matched);
    benchmark::DoNotOptimize(matched);
  });
}

/// All of it, from the line to the shard.
void lines_to_shard(benchmark::State& state, const std::string& mix) {
  const LineMatcher none;
  LogReader reader(0, 0, none);
  Line numbered;
  for_each_line(state, mix, [&](std::string_view line) {
    numbered.text = line;
    ++numbered.number;
    reader.add(numbered);
  });
  benchmark::DoNotOptimize(reader.finish());
}

/// Stretches of the log, each read by itself.
std::vector<Shard> shards_of(const std::string& text) {
  constexpr size_t kStretch = 64 << 10;
  std::vector<Shard> shards;
  for (size_t at = 0; at < text.size();) {
    const size_t end =
        std::min(text.find('\n', std::min(at + kStretch, text.size() - 1)), text.size() - 1);
    shards.push_back(read_text(std::string_view(text).substr(at, end + 1 - at)));
    at = end + 1;
  }
  return shards;
}

void merge(benchmark::State& state, const std::string& mix) {
  int64_t merged = 0;
  for (auto _ : state) {
    state.PauseTiming();
    std::vector<Shard> shards = shards_of(text_of(mix).text);
    state.ResumeTiming();
    Shard whole;
    for (Shard& shard : shards) whole.merge(std::move(shard));
    benchmark::DoNotOptimize(whole);
    merged += static_cast<int64_t>(shards.size());
  }
  state.SetItemsProcessed(merged);
}

struct Step {
  std::string name;
  void (*run)(benchmark::State& state, const std::string& mix);
};

void register_steps() {
  const std::array<Step, 8> steps = {{{"split", line_splitting},
                                      {"header", header},
                                      {"wordings", wordings},
                                      {"event", event},
                                      {"ledger", ledger},
                                      {"rules_on_lines", rules_on_lines},
                                      {"lines_to_shard", lines_to_shard},
                                      {"merge", merge}}};
  for (const Step& step : steps) {
    for (const std::string mix : {"collectives", "everything", "init", "storm", "training"}) {
      benchmark::RegisterBenchmark((step.name + "/" + mix).c_str(), step.run, mix);
    }
  }
}

}  // namespace
}  // namespace ncclog

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  ncclog::register_steps();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

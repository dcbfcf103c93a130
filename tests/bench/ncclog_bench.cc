// How many lines and bytes a second do the steps of reading take, each for itself and together?
//
// Every benchmark reads the same generated log from memory, so items/s are lines/s.

#include <benchmark/benchmark.h>

#include <sstream>
#include <string>
#include <vector>

#include "base/text.h"
#include "bench/log_generator.h"
#include "log/event.h"
#include "model/read_log.h"

namespace ncclog {
namespace {

using testing::LogMix;

const std::string& text_of(LogMix mix) {
  static const auto make = [](LogMix wanted) {
    std::ostringstream out;
    testing::generate_log({.bytes = 4 << 20, .mix = wanted}, out);
    return std::move(out).str();
  };
  static const std::string kCollectives = make(LogMix::Collectives);
  static const std::string kEverything = make(LogMix::Everything);
  return mix == LogMix::Collectives ? kCollectives : kEverything;
}

/// Runs `read` on every line of the mix again and again.
template <typename Read>
void for_each_line(benchmark::State& state, Read&& read) {
  const std::string& text = text_of(static_cast<LogMix>(state.range(0)));
  std::vector<std::string_view> lines = split(text, '\n');
  for (auto _ : state) {
    for (std::string_view line : lines) read(line);
  }
  auto rounds = static_cast<int64_t>(state.iterations());
  state.SetItemsProcessed(rounds * static_cast<int64_t>(lines.size()));
  state.SetBytesProcessed(rounds * static_cast<int64_t>(text.size()));
}

void header(benchmark::State& state) {
  for_each_line(state, [](std::string_view line) {
    Header parsed = parse_header(line);
    benchmark::DoNotOptimize(parsed);
  });
}

void wordings(benchmark::State& state) {
  const WordingTable& table = all_wordings();
  for_each_line(state, [&](std::string_view line) {
    // The header ends at a fixed word here, so its cost does not hide that of the wordings.
    size_t at = line.find("NCCL INFO ");
    Message message =
        at == line.npos ? table.parse_foreign(line) : table.parse_nccl(line.substr(at + 10));
    benchmark::DoNotOptimize(message);
  });
}

void header_and_wordings(benchmark::State& state) {
  const WordingTable& table = all_wordings();
  for_each_line(state, [&](std::string_view line) {
    Event event = parse_event(line, table);
    benchmark::DoNotOptimize(event);
  });
}

void lines_to_shard(benchmark::State& state) {
  const LineMatcher none;
  LogReader reader(0, 0, none);
  Line numbered;
  for_each_line(state, [&](std::string_view line) {
    numbered.text = line;
    ++numbered.number;
    reader.add(numbered);
  });
  benchmark::DoNotOptimize(reader.finish());
}

// 0: collectives only, 1: everything.
BENCHMARK(header)->Arg(0)->Arg(1);
BENCHMARK(wordings)->Arg(0)->Arg(1);
BENCHMARK(header_and_wordings)->Arg(0)->Arg(1);
BENCHMARK(lines_to_shard)->Arg(0)->Arg(1);

}  // namespace
}  // namespace ncclog

BENCHMARK_MAIN();

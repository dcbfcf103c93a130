// What does it cost to get at lines, without looking at what they say?
//
// Bytes/s are those of the text. Files lie in the page cache, so the disk plays no part.

#include <benchmark/benchmark.h>

#include <sstream>
#include <string>

#include "base/text.h"
#include "bench/log_generator.h"
#include "input/line_reader.h"
#include "support/compressed.h"
#include "support/temp_dir.h"

namespace ncclog {
namespace {

using testing::TempDir;

const std::string& text() {
  static const std::string kText = [] {
    std::ostringstream out;
    testing::generate_log({.bytes = 32 << 20}, out);
    return std::move(out).str();
  }();
  return kText;
}

/// Reads all lines of the log as it is after compression.
void lines_of_file(benchmark::State& state) {
  const auto compression = static_cast<Compression>(state.range(0));
  const TempDir dir;
  const std::string path = dir.add(
      "log", compression == Compression::None ? text() : testing::compressed(compression, text()));
  state.SetLabel(std::string(to_string(compression)));
  const LineBuffer memory;
  uint64_t lines = 0;
  for (auto _ : state) {
    size_t bytes = 0;
    const UnitResult result = read_unit({}, path, {.memory = memory.bytes()},
                                        [&](const Line& line) { bytes += line.text.size(); });
    benchmark::DoNotOptimize(bytes);
    lines += result.lines;
  }
  state.SetItemsProcessed(static_cast<int64_t>(lines));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text().size()));
}

void odd_bytes(benchmark::State& state) {
  const std::string_view block = std::string_view(text()).substr(0, 64 << 10);
  for (auto _ : state) benchmark::DoNotOptimize(find_odd_bytes(block));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * block.size()));
}

void newlines(benchmark::State& state) {
  const std::string_view block = std::string_view(text()).substr(0, 64 << 10);
  for (auto _ : state) benchmark::DoNotOptimize(count_newlines(block));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * block.size()));
}

BENCHMARK(lines_of_file)
    ->Arg(static_cast<int>(Compression::None))
    ->Arg(static_cast<int>(Compression::Gzip))
    ->Arg(static_cast<int>(Compression::Zstd));
BENCHMARK(odd_bytes);
BENCHMARK(newlines);

}  // namespace
}  // namespace ncclog

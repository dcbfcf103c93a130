#include "diagnose/perf/verdict/perf_words.h"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>

namespace ncclog {
namespace {

struct WordsRow {
  std::string_view kind, of, text;
};

constexpr WordsRow kWordsRows[] = {
#include "diagnose/perf/verdict/perf_words.inc"
};

/// `text` with the figures that its braces name.
std::string filled(std::string_view text, const PerfFigures& figures) {
  std::string out;
  while (!text.empty()) {
    const size_t open = text.find('{');
    out.append(text.substr(0, open));
    if (open == text.npos) break;
    const size_t close = text.find('}', open);
    if (close == text.npos) break;
    const auto figure = figures.find(text.substr(open + 1, close - open - 1));
    if (figure != figures.end()) out.append(figure->second);
    text.remove_prefix(close + 1);
  }
  return out;
}

}  // namespace

std::vector<std::string> perf_words(std::string_view kind, std::string_view of,
                                    const PerfFigures& figures) {
  std::vector<std::string> words;
  for (const WordsRow& row : kWordsRows) {
    if (row.kind == kind && row.of == of) words.push_back(filled(row.text, figures));
  }
  return words;
}

std::string bandwidth_text(double value) {
  if (value >= 100) return fmt::format("{:.0f}", value);
  return value >= 10 ? fmt::format("{:.1f}", value) : fmt::format("{:.2f}", value);
}

std::string bytes_text(int64_t bytes) {
  constexpr std::string_view kBinary[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int64_t whole = bytes;
  size_t unit = 0;
  while (whole >= 1024 && whole % 1024 == 0 && unit + 1 < std::size(kBinary)) {
    whole /= 1024;
    ++unit;
  }
  if (whole < 1024) return fmt::format("{} {}", whole, kBinary[unit]);
  constexpr std::string_view kDecimal[] = {"kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes) / 1e3;
  size_t power = 0;
  for (; value >= 1000 && power + 1 < std::size(kDecimal); ++power) value /= 1000;
  return fmt::format("{:.1f} {}", value, kDecimal[power]);
}

}  // namespace ncclog

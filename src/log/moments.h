// By which words do people tell readings of different moments apart?
//
//   before/node-a/…  after/node-a/…      counters.t0.txt  counters.t1.txt      ==== before ====

#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"

namespace ncclog {

/// Where among moments a word stands, the earliest at 0; nullopt: it names none. In any case.
inline std::optional<int> moment_rank(std::string_view word) {
  struct MomentWord {
    std::string_view word;
    int rank;
  };
  static constexpr MomentWord kWords[] = {
      {"before", 0}, {"pre", 0},     {"start", 0},  {"begin", 0}, {"first", 0}, {"old", 0},
      {"t0", 0},     {"initial", 0}, {"second", 1}, {"t1", 1},    {"after", 2}, {"post", 2},
      {"end", 2},    {"last", 2},    {"new", 2},    {"final", 2},
  };
  const std::string key = lower_case(word);
  const auto* const row = std::ranges::find(kWords, key, &MomentWord::word);
  return row == std::end(kWords) ? std::nullopt : std::optional(row->rank);
}

}  // namespace ncclog

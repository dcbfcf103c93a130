// Numbers behind flags.
//
//   --gpus 0 → "--gpus: not a number from 2 to 1048576: '0'"

#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

namespace ncclog {

/// The numbers that a flag takes.
struct NumberRange {
  int64_t least = 0;
  int64_t most = 0;
};

/// The number that a word behind `flag` says. Throws Error if it is none of that range.
int64_t number_behind(const char* flag, const std::string& word, NumberRange range);

/// Declares a flag that takes a number of that range, all of which `target` can hold. `target` must
/// outlive `app`, `flag` too.
template <typename Number>
CLI::Option* add_number_flag(CLI::App& app, const char* flag, NumberRange range, Number& target,
                             const std::string& help) {
  return app.add_option_function<std::string>(
      flag,
      [flag, range, &target](const std::string& word) {
        target = static_cast<Number>(number_behind(flag, word, range));
      },
      help);
}

}  // namespace ncclog

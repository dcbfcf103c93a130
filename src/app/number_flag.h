// Numbers behind flags.
//
//   --gpus 0 → "--gpus: not a number from 2 to 1048576: '0'"

#pragma once

#include <cstdint>
#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace ncclog {

/// The numbers that a flag takes.
struct NumberRange {
  int64_t least = 0;
  int64_t most = 0;
};

/// Declares a flag that takes a number of that range, all of which `target` can hold; another one
/// is thrown as Error. `target` must outlive `app`, `flag` too.
CLI::Option* add_number_flag(CLI::App& app, const char* flag, NumberRange range, int& target,
                             const std::string& help);
CLI::Option* add_number_flag(CLI::App& app, const char* flag, NumberRange range, uint64_t& target,
                             const std::string& help);

}  // namespace ncclog

#include "app/number_flag.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "base/text.h"

namespace ncclog {
namespace {

int64_t number_behind(const char* flag, const std::string& word, NumberRange range) {
  const auto number = parse_int(word);
  if (number && *number >= range.least && *number <= range.most) return *number;
  throw Error(
      fmt::format("not a number from {} to {}: '{}'", range.least, range.most, printable(word)),
      flag);
}

template <typename Number>
CLI::Option* add_flag(CLI::App& app, const char* flag, NumberRange range, Number& target,
                      const std::string& help) {
  const auto set = [flag, range, &target](const std::string& word) {
    target = static_cast<Number>(number_behind(flag, word, range));
  };
  return app.add_option_function<std::string>(flag, set, help);
}

}  // namespace

CLI::Option* add_number_flag(CLI::App& app, const char* flag, NumberRange range, int& target,
                             const std::string& help) {
  return add_flag(app, flag, range, target, help);
}

CLI::Option* add_number_flag(CLI::App& app, const char* flag, NumberRange range, uint64_t& target,
                             const std::string& help) {
  return add_flag(app, flag, range, target, help);
}

}  // namespace ncclog

#include "app/number_flag.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace ncclog {

int64_t number_behind(const char* flag, const std::string& word, NumberRange range) {
  const auto number = parse_int(word);
  if (number && *number >= range.least && *number <= range.most) return *number;
  throw Error(
      fmt::format("not a number from {} to {}: '{}'", range.least, range.most, printable(word)),
      flag);
}

}  // namespace ncclog

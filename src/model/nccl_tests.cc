#include "model/nccl_tests.h"

#include "base/text.h"

namespace ncclog {

int64_t nccl_tests_wrong_values(std::string_view printed) {
  if (const auto count = parse_int(printed)) return *count;
  // "%g" of a large count; the errors of old releases have small exponents.
  const size_t exponent = printed.find("e+");
  if (exponent == printed.npos || !is_digit(printed.front())) return -1;
  const auto digits = parse_int(printed.substr(exponent + 2));
  if (!digits || *digits < 6 || *digits > 17) return -1;
  int64_t value = printed.front() - '0';
  for (int64_t i = 0; i < *digits; ++i) value *= 10;
  return value;
}

}  // namespace ncclog

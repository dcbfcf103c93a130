#include "log/bus_id.h"

#include "base/text.h"
#include "log/scanner.h"

namespace ncclog {
namespace {

/// Takes 1 to `most` hexadecimal digits and adds them behind `number`, `bits` wide.
bool take_hex(Scanner& scan, size_t most, int bits, uint64_t& number) {
  const auto value = parse_hex(scan.take_while(is_hex_digit, most));
  if (!value || (*value >> bits) != 0) return false;
  number = (number << bits) | *value;
  return true;
}

}  // namespace

std::optional<uint64_t> bus_number(std::string_view printed) {
  if (printed.find(':') == printed.npos) {
    return printed.starts_with("0x") ? std::nullopt : parse_hex(printed);
  }
  Scanner scan(printed);
  uint64_t number = 0;
  const bool device = take_hex(scan, 8, 32, number) && scan.skip(':') &&
                      take_hex(scan, 2, 8, number) && scan.skip(':') &&
                      take_hex(scan, 2, 8, number);
  if (!device) return std::nullopt;
  if (!scan.skip('.')) {
    number <<= 4;
  } else if (!take_hex(scan, 1, 4, number)) {
    return std::nullopt;
  }
  return scan.done() ? std::optional(number) : std::nullopt;
}

}  // namespace ncclog

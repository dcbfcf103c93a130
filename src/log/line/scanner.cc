#include "log/line/scanner.h"

namespace ncclog {
namespace {

bool skip_clock(Scanner& scan) {
  if (!scan.digits(2) || !scan.skip(':') || !scan.digits(2) || !scan.skip(':') || !scan.digits(2))
    return false;
  if (scan.peek() == '.' || scan.peek() == ',') {
    scan.skip(scan.peek());
    if (scan.take_while(is_digit).empty()) return false;
  }
  if (scan.skip('Z')) return true;
  if (scan.peek() == '+' || (scan.peek() == '-' && scan.rest().size() > 2)) {
    Scanner zone = scan;
    zone.skip(zone.peek());
    const bool hours = zone.digits(2);
    zone.skip(':');
    if (hours && zone.digits(2)) scan = zone;
  }
  return true;
}

bool is_one_of(std::string_view word, std::string_view words) {
  const size_t at = words.find(word);
  return word.size() == 3 && at != words.npos && at % 3 == 0;
}

bool skip_name(Scanner& scan, std::string_view names) {
  if (!is_one_of(scan.rest().substr(0, 3), names)) return false;
  scan.skip(scan.rest().substr(0, 3));
  return scan.skip(' ');
}

}  // namespace

size_t clock_length(std::string_view text) {
  Scanner scan(text);
  return skip_clock(scan) ? scan.taken() : 0;
}

size_t iso_stamp_length(std::string_view text) {
  Scanner scan(text);
  if (!scan.digits(4) || !scan.skip('-') || !scan.digits(2) || !scan.skip('-') || !scan.digits(2))
    return 0;
  if (!scan.skip('T') && !scan.skip(' ')) return 0;
  return skip_clock(scan) ? scan.taken() : 0;
}

size_t month_stamp_length(std::string_view text) {
  Scanner scan(text);
  const bool weekday = skip_name(scan, "MonTueWedThuFriSatSun");
  if (!skip_name(scan, "JanFebMarAprMayJunJulAugSepOctNovDec")) return 0;
  scan.skip(' ');
  const size_t day = scan.take_while(is_digit, 2).size();
  if (day == 0 || !scan.skip(' ') || !skip_clock(scan)) return 0;
  if (!weekday) return scan.taken();
  return scan.skip(' ') && scan.digits(4) ? scan.taken() : 0;
}

}  // namespace ncclog

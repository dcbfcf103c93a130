#include "rules/quantity.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"

namespace ncclog {
namespace {

struct Unit {
  std::string_view name;
  Quantity::Sort sort;
  double factor;
};

constexpr double kKi = 1024;

constexpr Unit kUnits[] = {
    {"B", Quantity::Sort::Bytes, 1},
    {"bytes", Quantity::Sort::Bytes, 1},
    {"K", Quantity::Sort::Bytes, kKi},
    {"M", Quantity::Sort::Bytes, kKi* kKi},
    {"G", Quantity::Sort::Bytes, kKi* kKi* kKi},
    {"T", Quantity::Sort::Bytes, kKi* kKi* kKi* kKi},
    {"KiB", Quantity::Sort::Bytes, kKi},
    {"MiB", Quantity::Sort::Bytes, kKi* kKi},
    {"GiB", Quantity::Sort::Bytes, kKi* kKi* kKi},
    {"TiB", Quantity::Sort::Bytes, kKi* kKi* kKi* kKi},
    {"KB", Quantity::Sort::Bytes, 1e3},
    {"MB", Quantity::Sort::Bytes, 1e6},
    {"GB", Quantity::Sort::Bytes, 1e9},
    {"us", Quantity::Sort::Time, 1e-6},
    {"ms", Quantity::Sort::Time, 1e-3},
    {"s", Quantity::Sort::Time, 1},
    {"sec", Quantity::Sort::Time, 1},
    {"seconds", Quantity::Sort::Time, 1},
    {"min", Quantity::Sort::Time, 60},
    {"h", Quantity::Sort::Time, 3600},
    {"Mbps", Quantity::Sort::Rate, 1e6},
    {"Gbps", Quantity::Sort::Rate, 1e9},
    {"Mb/s", Quantity::Sort::Rate, 1e6},
    {"Gb/s", Quantity::Sort::Rate, 1e9},
    {"MB/s", Quantity::Sort::Rate, 8e6},
    {"GB/s", Quantity::Sort::Rate, 8e9},
};

/// Length of the number at the start of `text`; 0 if there is none.
size_t number_length(std::string_view text) {
  size_t end = !text.empty() && text.front() == '-' ? 1 : 0;
  const size_t digits = end;
  while (end < text.size() && is_digit(text[end])) ++end;
  if (end == digits) return 0;
  if (end + 1 < text.size() && text[end] == '.' && is_digit(text[end + 1])) {
    ++end;
    while (end < text.size() && is_digit(text[end])) ++end;
  }
  return end;
}

std::optional<Quantity> with_unit(double number, std::string_view name) {
  if (name.empty()) return plain_quantity(number);
  const auto unit = std::find_if(std::begin(kUnits), std::end(kUnits),
                                 [&](const Unit& known) { return known.name == name; });
  if (unit == std::end(kUnits)) return std::nullopt;
  return Quantity{unit->sort, number * unit->factor, number};
}

}  // namespace

std::optional<Quantity> parse_quantity(std::string_view text) {
  text = trim(text);
  const size_t length = number_length(text);
  const auto number = parse_decimal(text.substr(0, length));
  if (length == 0 || !number) return std::nullopt;
  return with_unit(*number, trim(text.substr(length)));
}

std::optional<Quantity> parse_leading_quantity(std::string_view text) {
  text = trim(text);
  const size_t length = number_length(text);
  const auto number = parse_decimal(text.substr(0, length));
  if (length == 0 || !number) return std::nullopt;
  std::string_view rest = text.substr(length);
  if (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  const std::string_view word = rest.substr(0, rest.find_first_of(" ,;()"));
  const auto quantity = with_unit(*number, word);
  return quantity ? quantity : with_unit(*number, {});
}

std::optional<int> compare(const Quantity& a, const Quantity& b) {
  const auto is_plain_beside_bytes = [](const Quantity& x, const Quantity& y) {
    return x.sort == Quantity::Sort::Plain && y.sort == Quantity::Sort::Bytes;
  };
  if (a.sort != b.sort && !is_plain_beside_bytes(a, b) && !is_plain_beside_bytes(b, a)) {
    return std::nullopt;
  }
  return a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
}

}  // namespace ncclog

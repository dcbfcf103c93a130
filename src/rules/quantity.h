// Numbers as logs print them: plain, with a fraction, with a unit.
//
//   1048576   12.5   4 MiB   64M   200 Gb/s   30 s   600000 ms
//
// Two quantities compare where both are of one sort. A plain number counts as bytes where the
// other one is a size, because NCCL prints sizes as bytes; it never counts as a time or a rate.

#pragma once

#include <optional>
#include <string_view>

namespace ncclog {

struct Quantity {
  enum class Sort { Plain, Bytes, Time, Rate };
  Sort sort = Sort::Plain;
  double value = 0;    ///< Bytes, seconds, bits per second.
  double printed = 0;  ///< The number as it stands there.

  bool operator==(const Quantity&) const = default;
};

inline Quantity plain_quantity(double value) { return {Quantity::Sort::Plain, value, value}; }

/// A number, perhaps with a unit behind it; nullopt: it is none, or the unit is unknown.
std::optional<Quantity> parse_quantity(std::string_view text);

/// The number that `text` begins with, whatever follows: "48.0" of "48.0 GB/s (8 links)".
std::optional<Quantity> parse_leading_quantity(std::string_view text);

/// -1, 0, 1 for below, equal, above; nullopt: the two do not compare.
std::optional<int> compare(const Quantity& a, const Quantity& b);

}  // namespace ncclog

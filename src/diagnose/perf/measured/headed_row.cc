#include "diagnose/perf/measured/headed_row.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "base/text.h"
#include "log/wording/headed_tables.h"

namespace ncclog {
namespace {

/// Times in microseconds of a unit that a heading or a cell names; 0: no unit of times.
double microseconds_of(std::string_view unit) {
  if (unit.starts_with("us") || unit.starts_with("µs") || unit.starts_with("μs")) return 1;
  if (unit.starts_with("ms")) return 1e3;
  return unit == "s" || unit.starts_with("sec") ? 1e6 : 0;
}

/// GB/s of a bandwidth in `unit`. "gbps" in small letters is either: gigabytes, unless the size by
/// the time, `expected`, shows bits. Some scripts divide by 2^30 and call it GB.
double gigabytes_of(double printed, std::string_view unit, double expected) {
  if (unit == "Gbps" || unit == "Gb/s" || unit.starts_with("Gbit")) return printed / kBits;
  if (unit.starts_with("MB") || unit.starts_with("MiB")) return printed / 1e3;
  constexpr double kFar = 2.8;  // As in busbw_of.
  return unit == "gbps" && expected > 0 && printed > kFar * expected ? printed / kBits : printed;
}

/// Bytes of a size in the unit that it names, or its heading. Where "MB" may be 2^20 of them, those
/// count with which the size by the time is the algorithm bandwidth.
int64_t size_of(double number, std::string_view unit, double time_us, double algbw) {
  const std::string name = lower_case(unit);
  const size_t power = std::string_view("bkmg").find(name.empty() ? 'b' : name.front());
  if (power == std::string_view::npos || number < 0) return -1;
  const double binary = number * std::pow(1024.0, static_cast<double>(power));
  const double decimal = number * std::pow(1e3, static_cast<double>(power));
  constexpr double kMost = 1e18;
  if (binary > kMost) return -1;
  constexpr double kRounding = 0.02;
  const auto fits = [&](double bytes) {
    return std::abs(bytes / time_us / 1e3 - algbw) < kRounding * algbw;
  };
  const bool is_binary =
      name.find('i') != name.npos || (time_us > 0 && algbw > 0 && !fits(decimal) && fits(binary));
  return std::llround(is_binary ? binary : decimal);
}

}  // namespace

double algbw_of(int64_t bytes, double time_us) {
  return bytes > 0 && time_us > 0 ? static_cast<double>(bytes) / time_us / 1e3 : -1;
}

Operation operation_of_torch(std::string_view op) {
  const Operation found = operation_of(op, AliasSource::Torch);
  return found == Operation::Unknown ? operation_of(op, AliasSource::Param) : found;
}

HeadedRow read_headed_row(std::string_view heading, std::string_view text) {
  const HeadedColumns named = headed_columns(heading);
  const Columns cells = headed_cells(text);
  HeadedRow row;
  std::map<BandwidthColumn, CellNumber> said;
  for (size_t i = 0; i < named.count && i < cells.count; ++i) {
    const HeadedColumn& column = named.columns[i];
    if (column.is == BandwidthColumn::Op) row.op = operation_of_torch(cells[i]);
    const auto quantity = quantity_of(cells[i]);
    if (!quantity || column.is == BandwidthColumn::Other) continue;
    said[column.is] = {quantity->number, quantity->unit.empty() ? column.unit : quantity->unit};
  }
  const auto number = [&](BandwidthColumn column) {
    const auto found = said.find(column);
    return found == said.end() ? CellNumber{-1, {}} : found->second;
  };
  const CellNumber time = number(BandwidthColumn::Time);
  row.value.time_us = time.number > 0 ? time.number * microseconds_of(time.unit) : -1;
  if (row.value.time_us <= 0) row.value.time_us = -1;
  const CellNumber size = number(BandwidthColumn::Size);
  const CellNumber algbw = number(BandwidthColumn::Algbw);
  const CellNumber busbw = number(BandwidthColumn::Busbw);
  const CellNumber either = number(BandwidthColumn::Bandwidth);
  const double printed = algbw.number > 0 ? algbw.number : either.number;
  row.bytes = size_of(size.number, size.unit, row.value.time_us, printed);
  const double expected = algbw_of(row.bytes, row.value.time_us);
  const auto gigabytes = [&](const CellNumber& one) {
    return one.number < 0 ? -1 : gigabytes_of(one.number, one.unit, expected);
  };
  row.value.algbw = gigabytes(algbw);
  row.value.busbw = gigabytes(busbw);
  constexpr double kRounding = 0.05;  // Also of 10^6 and 2^20.
  if (either.number > 0 && row.value.busbw < 0 && row.value.algbw < 0) {
    const double value = gigabytes(either);
    const bool is_algbw = expected > 0 && std::abs(value - expected) < kRounding * expected;
    (is_algbw ? row.value.algbw : row.value.busbw) = value;
  }
  const auto nranks = std::llround(std::clamp(number(BandwidthColumn::Ranks).number, -1.0, 1e6));
  row.nranks = nranks > 0 ? static_cast<int>(nranks) : -1;
  return row;
}

HeadedRow read_labelled_row(std::string_view text, std::string_view size, std::string_view busbw) {
  HeadedRow row;
  const Columns words = columns_of(text, [](char c) { return !is_word(c); });
  for (size_t i = 0; i < words.count && row.op == Operation::Unknown; ++i) {
    row.op = operation_of_torch(words[i]);
    if (row.op == Operation::Unknown) row.op = operation_of(words[i], AliasSource::Trace);
  }
  const auto bytes = quantity_of(size);
  if (bytes) row.bytes = size_of(bytes->number, bytes->unit, -1, -1);
  row.value.busbw = parse_decimal(busbw).value_or(-1);
  return row;
}

}  // namespace ncclog

#include "log/wording/benchmark_rows.h"

#include <cmath>
#include <optional>

#include "log/line/words.h"

namespace ncclog {
namespace {

constexpr size_t kLongestRow = 400;

/// "12.5", "2e-07", "N/A", "inf": a measured value.
bool is_measure(std::string_view cell) {
  const auto in_number = [](char c) {
    return is_digit(c) || c == '.' || c == 'e' || c == '-' || c == '+';
  };
  if (cell == "N/A" || cell == "inf" || cell == "nan" || cell == "-nan") return true;
  return !cell.empty() && (is_digit(cell[0]) || cell[0] == '-') &&
         std::ranges::all_of(cell, in_number);
}

/// "2026-01-05" before "12:00:00": the stamp that nccl-tests puts behind a row on request.
bool is_stamp(std::string_view date, std::string_view clock) {
  return date.size() == 10 && date[4] == '-' && date[7] == '-' && clock.size() == 8 &&
         clock[2] == ':';
}

// The tables of nccl-tests, whose rows holes cannot take apart: columns come and go by release.
//
//   #  Rank  0 Group  0 Pid 114549 on node-a device  0 [0x17] NVIDIA A100-PCIE-40GB
//   #       size         count      type   redop    root     time   algbw   busbw #wrong     time …
//        8388608       2097152     float     sum      -1   4915.3    1.71    3.20      0   5012.1 …
//
// Up to 2.10 a row had only the columns that its test needs, and the largest error instead of the
// number of wrong values. Newer ones may add per-iteration times and a time stamp. Programs that
// follow their form print one way only, or no errors: those are rows where the bandwidth is size
// by time. People paste rows as Markdown or CSV, and mpirun tags each piece that a program flushes.

/// "-1[0]": behind a number, the tag of the piece that follows.
bool has_tag_behind(std::string_view cell) {
  const size_t tag = cell.find('[');
  return tag != cell.npos && tag > 0 && is_digit(cell[tag - 1]) && cell.ends_with(']') &&
         parse_int(cell.substr(tag + 1, cell.size() - tag - 2)).has_value();
}

/// The cells of a row, without the tags that launchers put inside: "-1[1,0]<stdout>:", "-1[0]".
Columns cells_of(std::string_view text) {
  const size_t digits = std::ranges::find_if_not(text, is_digit) - text.begin();
  const bool is_csv = digits < text.size() && text[digits] == ',';
  Columns row = is_csv || text.starts_with('|') ? table_columns_of(text) : columns_of(text);
  size_t count = 0;
  for (size_t i = 0; i < row.count; ++i) {
    std::string_view cell = row.cells[i];
    const bool is_of_mpirun = cell.ends_with(">:") && cell.find("]<std") != cell.npos;
    if (is_of_mpirun || has_tag_behind(cell)) cell = cell.substr(0, cell.find('['));
    if (!cell.empty()) row.cells[count++] = cell;
  }
  row.count = count;
  return row;
}

/// Where the values of a row stand. Four belong together: time, algbw, busbw, wrong.
struct RowShape {
  size_t out_of_place = 0;  ///< Index of its time; 0: not printed.
  size_t in_place = 0;      ///< 0: not printed.
  size_t root = 0;          ///< 0: not printed.
  bool has_wrong = true;
};

/// The bandwidth in cell `time + 1` is the size by the time.
bool is_bandwidth(const Columns& row, size_t time) {
  const auto size = parse_decimal(row[0]);
  const auto microseconds = parse_decimal(row[time]);
  const auto algbw = parse_decimal(row[time + 1]);
  if (!size || !microseconds || !algbw || *microseconds <= 0) return false;
  const double expected = *size / *microseconds / 1e3;
  constexpr double kRounding = 0.01;  // Of two decimals, and of a time of five digits.
  return std::abs(expected - *algbw) <= kRounding + kRounding * expected;
}

/// Whether the column before cell `time` was left blank, as nccl-tests leaves what it did not
/// measure out of place.
bool follows_a_gap(const Columns& row, size_t time) {
  constexpr std::ptrdiff_t kGap = 28;
  return row[time].data() - (row[time - 1].data() + row[time - 1].size()) >= kGap;
}

/// The shape that so many values, from column `first` on, can only have; nullopt: it is no row.
std::optional<RowShape> shape_of(const Columns& row, size_t first, size_t values) {
  constexpr size_t kPlain = 8;
  constexpr size_t kPerIteration = 16;  ///< Four more values behind each four.
  constexpr size_t kOneWay = 4;
  constexpr size_t kBothUnchecked = 6;
  constexpr size_t kOneUnchecked = 3;
  RowShape shape;
  if (values == kOneUnchecked && is_bandwidth(row, first)) {
    return RowShape{.out_of_place = first, .has_wrong = false};
  }
  if (values == kOneUnchecked + 1 && !is_bandwidth(row, first) && is_bandwidth(row, first + 1)) {
    return RowShape{.out_of_place = first + 1, .root = first, .has_wrong = false};
  }
  if (values % 2 == 1) shape.root = first++;
  values -= values % 2;
  if (values == kPlain || values == kPerIteration) {
    shape.out_of_place = first;
    shape.in_place = first + values / 2;
  } else if (values == kOneWay) {
    (follows_a_gap(row, first) ? shape.in_place : shape.out_of_place) = first;
  } else if (values == kBothUnchecked && is_bandwidth(row, first) && is_bandwidth(row, first + 3)) {
    shape.out_of_place = first;
    shape.in_place = first + 3;
    shape.has_wrong = false;
  } else {
    return std::nullopt;
  }
  return shape;
}

/// The four, or three, values from cell `first` on may be such: no time is negative, no bus carries
/// more than twice what the algorithm does, and errors are counted or have an exponent. Those of a
/// row that was cut inside a number, or glued to another one, do not fit.
bool are_values(const Columns& row, size_t first, bool has_wrong) {
  if (first == 0) return true;
  const auto algbw = parse_decimal(row[first + 1]);
  const auto busbw = parse_decimal(row[first + 2]);
  constexpr double kRounding = 0.02;
  const bool fits = row[first + 2].find('e') == std::string_view::npos &&
                    (!algbw || !busbw || *busbw <= 2 * *algbw + kRounding);
  const std::string_view wrong = has_wrong ? row[first + 3] : std::string_view();
  const bool is_count = wrong.find('.') == wrong.npos || wrong.find('e') != wrong.npos;
  return !row[first].starts_with('-') && fits && is_count;
}

constexpr std::string_view kOutOfPlace[] = {"time", "algbw", "busbw", "wrong"};
constexpr std::string_view kInPlace[] = {"time_in_place", "algbw_in_place", "busbw_in_place",
                                         "wrong_in_place"};

void set_values(const Columns& row, size_t first, size_t count, const std::string_view (&names)[4],
                Message& message) {
  for (size_t i = 0; i < count && first > 0; ++i) message.set(names[i], row[first + i]);
}

}  // namespace

bool fits(const re2::RE2& row, std::string_view text, Message& message) {
  re2::StringPiece groups[kMaxFields + 1];
  const int count = row.NumberOfCapturingGroups() + 1;
  const re2::StringPiece all(text.data(), text.size());
  if (!row.Match(all, 0, all.size(), re2::RE2::ANCHOR_BOTH, groups, count)) return false;
  for (const auto& [name, group] : row.NamedCapturingGroups())
    message.set(name, {groups[group].data(), groups[group].size()});
  return true;
}

/// A result. Fields size, count, datatype, redop, root, time, algbw, busbw, wrong and the last four
/// with "_in_place" behind; out of place nothing where only in-place results are printed.
bool recognise_nccl_tests_result(std::string_view text, Message& message) {
  const bool may_be = !text.empty() && (is_digit(text[0]) || text[0] == '|');
  if (!may_be || text.size() > kLongestRow) return false;
  Columns row = cells_of(text);
  if (row.count < 6 || !parse_int(row[0]) || !parse_int(row[1]) || !is_alpha(row[2].front()))
    return false;
  if (row[0].size() > 1 && row[0].front() == '0') return false;  // A dump of bytes: "01 68 c3 …".
  if (is_stamp(row[row.count - 2], row[row.count - 1])) row.count -= 2;
  const bool has_redop = is_alpha(row[3].front()) && row[3] != "N/A";
  const size_t first = has_redop ? 4 : 3;
  size_t end = first;
  while (end < row.count && is_measure(row[end])) ++end;
  // A number that something is glued to is cut.
  if (is_digit(row[end].empty() ? ' ' : row[end].front())) return false;
  const auto shape = shape_of(row, first, end - first);
  if (!shape || !are_values(row, shape->out_of_place, shape->has_wrong) ||
      !are_values(row, shape->in_place, shape->has_wrong)) {
    return false;
  }
  // Two ways with errors make up a row of nccl-tests alone.
  const bool is_full = shape->out_of_place > 0 && shape->in_place > 0 && shape->has_wrong;
  if (!is_full && !equals_one_of(row[2], listed_words("datatype"))) return false;
  if (shape->root > 0 && !parse_int(row[shape->root])) return false;
  message.set("size", row[0]);
  message.set("count", row[1]);
  message.set("datatype", row[2]);
  if (has_redop) message.set("redop", row[3]);
  if (shape->root > 0) message.set("root", row[shape->root]);
  const size_t count = shape->has_wrong ? 4 : 3;
  set_values(row, shape->out_of_place, count, kOutOfPlace, message);
  set_values(row, shape->in_place, count, kInPlace, message);
  return true;
}

// The benchmarks of PyTorch programs.

namespace {

/// All cells from `first` on are numbers, `count` of them.
bool are_numbers(const Columns& row, size_t first, size_t count) {
  if (row.count != first + count) return false;
  return std::ranges::all_of(row.cells.begin() + static_cast<std::ptrdiff_t>(first),
                             row.cells.begin() + static_cast<std::ptrdiff_t>(row.count),
                             [](std::string_view cell) { return parse_decimal(cell).has_value(); });
}

}  // namespace

/// The line above the rows of an operation: its name alone. Field op.
bool recognise_ds_comms_op(std::string_view text, Message& message) {
  const std::string_view name = trim(text);
  if (find_operation_alias(name, AliasSource::Torch) == nullptr) return false;
  return message.fill({{"op", name}});
}

/// "COMMS-RES-all_reduce-float32   1048576   262144   71.0   74.1   80.2   69.9   90.3   14.769 …".
/// Fields op, datatype, size, time, algbw, busbw.
bool recognise_param_row(std::string_view text, Message& message) {
  if (!text.starts_with(kParamRow[0]) || text.size() > kLongestRow) return false;
  const Columns row = columns_of(text);
  if (row.count < 4 || !parse_int(row[1]) || !are_numbers(row, 2, row.count - 2)) return false;
  // Elements, a second column of them for pairs, five times, two bandwidths, teraflops.
  constexpr size_t kBandwidths = 4;
  constexpr size_t kTimes = 10;
  const bool has_times = row.count >= kTimes;
  if (!has_times && row.count != kBandwidths) return false;
  const bool is_pair = has_times && parse_int(row[3]).has_value();
  const size_t algbw = has_times ? (is_pair ? 9 : 8) : 2;
  if (algbw + 1 >= row.count) return false;
  std::string_view name = row[0].substr(kParamRow[0].size());
  const std::string_view op = name.substr(0, name.find('-'));
  name.remove_prefix(std::min(op.size() + 1, name.size()));
  return message.fill({{"op", op},
                       {"datatype", name.substr(0, name.find('-'))},
                       {"size", row[1]},
                       {"time", has_times ? row[is_pair ? 4 : 3] : std::string_view{}},
                       {"algbw", row[algbw]},
                       {"busbw", row[algbw + 1]}});
}

bool recognise_run_hosts(std::string_view text, Message& message) {
  constexpr size_t kLongest = 200;
  if (text.size() > kLongest) return false;
  const std::string lower = lower_case(text);
  return holds_one_of(lower, listed_words("test-heading")) &&
         !holds_one_of(lower, listed_words("no-test-heading")) &&
         recognise_by<kPairHeading>(text, message);
}

}  // namespace ncclog

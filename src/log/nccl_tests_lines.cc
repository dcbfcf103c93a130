#include "log/nccl_tests_lines.h"

#include <algorithm>

#include "base/text.h"
#include "log/row_columns.h"

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
         std::all_of(cell.begin(), cell.end(), in_number);
}

bool is_datatype(std::string_view cell) {
  constexpr std::string_view kTypes[] = {"int8",    "char",     "uint8",   "int32",    "int",
                                         "uint32",  "int64",    "half",    "float16",  "float",
                                         "float32", "double",   "uint64",  "bfloat16", "f8e4m3",
                                         "f8e5m2",  "fp8_e4m3", "fp8_e5m2"};
  return std::find(std::begin(kTypes), std::end(kTypes), cell) != std::end(kTypes);
}

/// "2026-01-05" before "12:00:00": the stamp that nccl-tests puts behind a row on request.
bool is_stamp(std::string_view date, std::string_view clock) {
  return date.size() == 10 && date[4] == '-' && date[7] == '-' && clock.size() == 8 &&
         clock[2] == ':';
}

/// Where the values of a row stand. Four belong together: time, algbw, busbw, wrong.
struct RowShape {
  size_t out_of_place = 0;  ///< Index of its time; 0: not printed.
  size_t in_place = 0;      ///< 0: this is no row.
  size_t root = 0;          ///< 0: not printed.
};

/// The shape that so many values, from column `first` on, can only have.
RowShape shape_of(size_t first, size_t values) {
  constexpr size_t kPlain = 8;
  constexpr size_t kPerIteration = 16;  ///< Four more values behind each four.
  constexpr size_t kInPlaceOnly = 4;
  RowShape shape;
  if (values % 2 == 1) shape.root = first++;
  values -= values % 2;
  if (values == kPlain || values == kPerIteration) {
    shape.out_of_place = first;
    shape.in_place = first + values / 2;
  } else if (values == kInPlaceOnly) {
    shape.in_place = first;
  }
  return shape;
}

constexpr std::string_view kOutOfPlace[] = {"time", "algbw", "busbw", "wrong"};
constexpr std::string_view kInPlace[] = {"time_in_place", "algbw_in_place", "busbw_in_place",
                                         "wrong_in_place"};

void set_values(const Columns& row, size_t first, const std::string_view (&names)[4],
                Message& message) {
  for (size_t i = 0; i < 4 && first > 0; ++i) message.set(names[i], row[first + i]);
}

}  // namespace

bool recognise_nccl_tests_rank(std::string_view text, Message& message) {
  if (!text.starts_with("#  ")) return false;
  const Columns row = columns_of(text);
  if (row[1] != "Rank") return false;
  const size_t pid = row[3] == "Group" ? 5 : 3;
  if (row[pid] != "Pid" || row[pid + 2] != "on" || row[pid + 4] != "device") return false;
  const std::string_view bus_id = row[pid + 6];
  if (!bus_id.starts_with('[') || !bus_id.ends_with(']')) return false;
  message.set("rank", row[2]);
  message.set("pid", row[pid + 1]);
  message.set("host", row[pid + 3]);
  message.set("device", row[pid + 5]);
  message.set("bus_id", bus_id.substr(1, bus_id.size() - 2));
  const size_t gpu = static_cast<size_t>(bus_id.data() + bus_id.size() - text.data());
  message.set("gpu", trim(text.substr(gpu)));
  return true;
}

bool recognise_nccl_tests_columns(std::string_view text, Message& message) {
  if (!text.starts_with('#') || text.size() > kLongestRow) return false;
  const Columns row = columns_of(text.substr(1));
  if (row[0] == "out-of-place") return row[1] == "in-place" || row[1] == "(+";
  if (row[0] == "(B)") return row[1] == "(elements)";
  if (row[0] != "size" || row[1] != "count" || row[2] != "type") return false;
  message.set("columns", trim(text.substr(1)));
  return true;
}

bool recognise_nccl_tests_result(std::string_view text, Message& message) {
  if (text.empty() || !is_digit(text[0]) || text.size() > kLongestRow) return false;
  Columns row = columns_of(text);
  if (row.count < 7 || !parse_int(row[0]) || !parse_int(row[1]) || !is_alpha(row[2].front()))
    return false;
  if (is_stamp(row[row.count - 2], row[row.count - 1])) row.count -= 2;
  const bool has_redop = is_alpha(row[3].front()) && row[3] != "N/A";
  const size_t first = has_redop ? 4 : 3;
  size_t end = first;
  while (end < row.count && is_measure(row[end])) ++end;
  const RowShape shape = shape_of(first, end - first);
  if (shape.in_place == 0 || (shape.out_of_place == 0 && !is_datatype(row[2]))) return false;
  if (shape.root > 0 && !parse_int(row[shape.root])) return false;
  message.set("size", row[0]);
  message.set("count", row[1]);
  message.set("datatype", row[2]);
  if (has_redop) message.set("redop", row[3]);
  if (shape.root > 0) message.set("root", row[shape.root]);
  set_values(row, shape.out_of_place, kOutOfPlace, message);
  set_values(row, shape.in_place, kInPlace, message);
  return true;
}

}  // namespace ncclog

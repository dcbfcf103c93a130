#include "diagnose/call_sizes.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <string_view>

#include "base/text.h"
#include "log/nccl_names.h"

namespace ncclog {
namespace {

/// {2, 18, 3} for "2.18.3"; parts that are missing or no numbers are 0.
std::array<int64_t, 3> release(std::string_view version) {
  std::array<int64_t, 3> parts{};
  size_t i = 0;
  for (const std::string_view part : split(version, '.')) {
    if (i == parts.size()) break;
    parts[i++] = parse_int(part).value_or(0);
  }
  return parts;
}

}  // namespace

bool may_count_bytes(const VolumeKey& key, const std::vector<std::string>& versions) {
  if (key.datatype != 0) return false;
  if (key.op != OpName("AllGather") && key.op != OpName("Broadcast")) return false;
  constexpr std::array<int64_t, 3> kFirst = {2, 7, 3};
  constexpr std::array<int64_t, 3> kLast = {2, 21, 5};
  return versions.empty() ||
         std::any_of(versions.begin(), versions.end(), [&](const std::string& version) {
           const auto parts = release(version);
           return kFirst <= parts && parts <= kLast;
         });
}

std::optional<uint64_t> bytes_of(uint64_t elements, int datatype) {
  const auto size = datatype_bytes(datatype);
  if (!size) return std::nullopt;
  const auto bytes = static_cast<uint64_t>(*size);
  if (elements > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) / bytes) {
    return std::nullopt;
  }
  return elements * bytes;
}

std::optional<int> torch_type_bytes(std::string_view name) {
  struct Row {
    std::string_view name;
    int bytes;
  };
  // c10/core/ScalarType.h.
  static constexpr Row kRows[] = {
      {"Byte", 1},        {"Char", 1},         {"Short", 2},           {"Int", 4},
      {"Long", 8},        {"Half", 2},         {"Float", 4},           {"Double", 8},
      {"ComplexHalf", 4}, {"ComplexFloat", 8}, {"ComplexDouble", 16},  {"Bool", 1},
      {"BFloat16", 2},    {"Float8_e5m2", 1},  {"Float8_e4m3fn", 1},   {"UInt16", 2},
      {"UInt32", 4},      {"UInt64", 8},       {"Float8_e5m2fnuz", 1}, {"Float8_e4m3fnuz", 1},
  };
  const auto* found = std::find_if(std::begin(kRows), std::end(kRows),
                                   [name](const Row& row) { return row.name == name; });
  return found == std::end(kRows) ? std::nullopt : std::optional(found->bytes);
}

}  // namespace ncclog

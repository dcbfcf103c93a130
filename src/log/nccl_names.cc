#include "log/nccl_names.h"

#include <array>
#include <span>

#include "log/line/scanner.h"

namespace ncclog {
namespace {

constexpr std::array<std::string_view, 12> kDatatypes{
    "int8",    "uint8",   "int32",   "uint32",   "int64",      "uint64",
    "float16", "float32", "float64", "bfloat16", "float8e4m3", "float8e5m2"};

constexpr std::array<std::string_view, 5> kReductions{"sum", "prod", "max", "min", "avg"};

constexpr std::array<std::string_view, 9> kResults{
    "ncclSuccess",       "ncclUnhandledCudaError", "ncclSystemError",
    "ncclInternalError", "ncclInvalidArgument",    "ncclInvalidUsage",
    "ncclRemoteError",   "ncclInProgress",         "ncclTimeout"};

/// The name of that number; empty if there is none.
std::string_view entry(std::span<const std::string_view> names, int64_t number) {
  const bool is_known = number >= 0 && number < static_cast<int64_t>(names.size());
  return is_known ? names[static_cast<size_t>(number)] : std::string_view();
}

}  // namespace

std::string_view datatype_name(int64_t datatype) { return entry(kDatatypes, datatype); }

std::optional<int> datatype_bytes(int64_t datatype) {
  const std::string_view name = datatype_name(datatype);
  if (name.empty()) return std::nullopt;
  // The first number in it is the width in bits.
  Scanner scan(name);
  int bits = 0;
  scan.take_while(is_alpha);
  scan.number(bits);
  return bits / 8;
}

std::string_view reduction_name(int64_t reduction) {
  if (reduction >= static_cast<int64_t>(kReductions.size())) return "user";
  return entry(kReductions, reduction);
}

std::string_view result_name(int64_t result) { return entry(kResults, result); }

}  // namespace ncclog

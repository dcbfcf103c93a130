#include "log/nccl_names.h"

#include <array>

namespace ncclog {
namespace {

struct Datatype {
  std::string_view name;
  int bytes;
};
constexpr std::array<Datatype, 12> kDatatypes{{{"int8", 1},
                                               {"uint8", 1},
                                               {"int32", 4},
                                               {"uint32", 4},
                                               {"int64", 8},
                                               {"uint64", 8},
                                               {"float16", 2},
                                               {"float32", 4},
                                               {"float64", 8},
                                               {"bfloat16", 2},
                                               {"float8e4m3", 1},
                                               {"float8e5m2", 1}}};

constexpr std::array<std::string_view, 5> kReductions{"sum", "prod", "max", "min", "avg"};

constexpr std::array<std::string_view, 9> kResults{
    "ncclSuccess",       "ncclUnhandledCudaError", "ncclSystemError",
    "ncclInternalError", "ncclInvalidArgument",    "ncclInvalidUsage",
    "ncclRemoteError",   "ncclInProgress",         "ncclTimeout"};

template <typename Table>
const typename Table::value_type* entry(const Table& table, int64_t number) {
  if (number < 0 || number >= static_cast<int64_t>(table.size())) return nullptr;
  return &table[static_cast<size_t>(number)];
}

}  // namespace

std::string_view datatype_name(int64_t datatype) {
  const Datatype* found = entry(kDatatypes, datatype);
  return found ? found->name : std::string_view{};
}

std::optional<int> datatype_bytes(int64_t datatype) {
  const Datatype* found = entry(kDatatypes, datatype);
  return found ? std::optional(found->bytes) : std::nullopt;
}

std::string_view reduction_name(int64_t reduction) {
  if (reduction >= static_cast<int64_t>(kReductions.size())) return "user";
  const std::string_view* found = entry(kReductions, reduction);
  return found ? *found : std::string_view{};
}

std::string_view result_name(int64_t result) {
  const std::string_view* found = entry(kResults, result);
  return found ? *found : std::string_view{};
}

}  // namespace ncclog

#include "base/collectives.h"

#include <array>
#include <charconv>
#include <span>

namespace ncclog {
namespace {

/// The first row stands for Operation::Unknown and is empty.
constexpr bool has_known_words(const OperationTraits& row) {
  const auto is_one = [](std::string_view cell, std::initializer_list<std::string_view> words) {
    return cell.empty() || std::ranges::find(words, cell) != words.end();
  };
  return row.kind.empty() == row.name.empty() &&
         is_one(row.kind, {"collective", "message", "one-sided", "measured"}) &&
         is_one(row.root, {"sends", "receives"}) && is_one(row.sent, {"count", "count*n"}) &&
         is_one(row.received, {"count", "count*n"}) && is_one(row.reduction, {"reduces"}) &&
         is_one(row.order, {"joins"}) && is_one(row.made_of, {"kernel", "messages"}) &&
         is_one(row.busbw, {"1", "(n-1)/n", "2(n-1)/n"}) && is_one(row.counts, {"bytes"});
}
static_assert(std::ranges::all_of(kOperations, has_known_words));

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
  return is_known ? names[number] : std::string_view();
}

}  // namespace

double bus_factor(Operation operation, int nranks) {
  if (nranks < 1) return 0;
  const std::string_view factor = traits_of(operation).busbw;
  const double all_but_one = static_cast<double>(nranks - 1) / nranks;
  // What a ring carries: everything twice, to reduce it and to hand it on.
  if (factor == "2(n-1)/n") return 2 * all_but_one;
  // Of the whole, each rank has its own part already.
  return factor == "(n-1)/n" ? all_but_one : 1;
}

const OperationAlias* find_operation_alias(std::string_view name, AliasSource source) {
  const auto* found = std::ranges::find_if(kOperationAliases, [&](const OperationAlias& row) {
    return row.is_used_by(source) && row.text == name;
  });
  return found == std::end(kOperationAliases) ? nullptr : found;
}

Operation operation_of(std::string_view name, AliasSource source) {
  const OperationAlias* found = find_operation_alias(name, source);
  return found == nullptr ? Operation::Unknown : found->operation;
}

std::string_view name_of(Operation operation, AliasSource source) {
  const auto* found = std::ranges::find_if(kOperationAliases, [&](const OperationAlias& row) {
    return row.is_used_by(source) && row.operation == operation;
  });
  return found == std::end(kOperationAliases) ? std::string_view() : found->text;
}

Operation measured_as(Operation operation) {
  return traits_of(operation).is_message() ? Operation::SendRecv : operation;
}

std::string_view datatype_name(int64_t datatype) { return entry(kDatatypes, datatype); }

std::optional<int> datatype_bytes(int64_t datatype) {
  const std::string_view name = datatype_name(datatype);
  if (name.empty()) return std::nullopt;
  // The first number in it is the width in bits.
  int bits = 0;
  std::from_chars(name.data() + name.find_first_of("0123456789"), name.data() + name.size(), bits);
  return bits / 8;
}

std::string_view reduction_name(int64_t reduction) {
  if (reduction >= static_cast<int64_t>(kReductions.size())) return "user";
  return entry(kReductions, reduction);
}

std::string_view result_name(int64_t result) { return entry(kResults, result); }

}  // namespace ncclog

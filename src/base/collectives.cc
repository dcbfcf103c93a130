#include "base/collectives.h"

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

}  // namespace ncclog

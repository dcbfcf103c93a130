// Which operations does NCCL have, what do they do with data, and what do others call them?
//
//   AllGather: opCount 1c … count 8   each rank gives 8 elements and gets 8 from each
//   OpType=_ALLGATHER_BASE            PyTorch's watchdog
//   nccl:_all_gather_base             PyTorch's Flight Recorder
//   all_gather_perf                   nccl-tests
//
// collectives.table and collective_aliases.table say it, and no other source of C++ lists operations.
// What a log names and they do not know stays the text that it is.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

namespace ncclog {

/// The rows of collectives.table, as NCCL spells them.
enum class Operation : uint8_t {
  Unknown,
#include "base/collective_enumerators.inc"
};

/// What an operation does with data: a row of collectives.table, which explains the cells. All are
/// empty for Operation::Unknown.
struct OperationTraits {
  std::string_view name, kind, root, sent, received, reduction, order, made_of, busbw, counts,
      since;

  constexpr bool is_collective() const { return kind == "collective"; }
  constexpr bool is_message() const { return kind == "message"; }
  /// Its ranks call different things by nature.
  constexpr bool is_point_to_point() const { return is_message() || kind == "one-sided"; }
  constexpr bool has_root() const { return !root.empty(); }
  constexpr bool only_root_sends() const { return root == "sends"; }
  constexpr bool only_root_receives() const { return root == "receives"; }
  constexpr bool sends_blocks() const { return sent == "count*n"; }
  constexpr bool receives_blocks() const { return received == "count*n"; }
  /// NCCL does not define such an operation in place.
  constexpr bool exchanges_blocks() const { return sends_blocks() && receives_blocks(); }
  /// The count is about what a rank gets, and not about what it gives.
  constexpr bool counts_received() const { return sent != "count" && received == "count"; }
  constexpr bool has_buffers() const { return !sent.empty() || !received.empty(); }
  constexpr bool reduces() const { return reduction == "reduces"; }
  /// It ends on no rank before all have entered it.
  constexpr bool joins() const { return order == "joins"; }
  constexpr bool has_kernel() const { return made_of == "kernel"; }
  /// Its count may be printed in bytes.
  constexpr bool may_count_bytes() const { return counts == "bytes"; }
};

inline constexpr OperationTraits kOperations[] = {
    {},
#include "base/collectives.inc"
};

constexpr const OperationTraits& traits_of(Operation operation) {
  return kOperations[static_cast<size_t>(operation)];
}

/// "AllGather"; empty for Operation::Unknown.
constexpr std::string_view name_of(Operation operation) { return traits_of(operation).name; }

/// The operation that NCCL's COLL lines call so.
constexpr Operation operation_of(std::string_view name) {
  const auto* found = std::ranges::find(kOperations, name, &OperationTraits::name);
  return found == std::end(kOperations) ? Operation::Unknown
                                        : static_cast<Operation>(found - kOperations);
}

/// As traits_of(operation_of(name)).
constexpr const OperationTraits& traits_of(std::string_view name) {
  return traits_of(operation_of(name));
}

/// Elements of a buffer of which `part` is used, a cell of the columns "sent" and "received".
constexpr int64_t elements_in(std::string_view part, int64_t count, int nranks) {
  if (part.empty()) return 0;
  return part == "count" ? count : count * nranks;
}

/// By what algorithm bandwidth is multiplied for bus bandwidth, so that it can be held against the
/// rate of a link whatever the number of ranks. 0 where that is below 1.
double bus_factor(Operation operation, int nranks);

/// Who calls an operation by another name: the words of collective_aliases.table.
enum class AliasSource { Trace, Recorder, Watchdog, Torch, Param, Test, File };

/// A row of collective_aliases.table; a word that its column does not know does not compile.
struct OperationAlias {
  std::string_view text;
  unsigned sources = 0;  ///< A bit for each AliasSource.
  Operation operation = Operation::Unknown;
  bool is_uneven = false;  ///< It takes tensors whose sizes may differ from rank to rank.

  consteval OperationAlias(const char* name, std::string_view used_by, std::string_view meant,
                           std::string_view sizes)
      : text(name), operation(operation_of(meant)), is_uneven(sizes == "uneven") {
    constexpr std::string_view kWords[] = {"trace", "recorder", "watchdog", "torch",
                                           "param", "test",     "file"};
    while (!used_by.empty()) {
      const size_t end = std::min(used_by.find(", "), used_by.size());
      size_t source = 0;
      while (kWords[source] != used_by.substr(0, end)) ++source;
      sources |= 1U << source;
      used_by.remove_prefix(std::min(end + 2, used_by.size()));
    }
    if (name_of(operation) != meant) throw "no such operation";
    if (!sizes.empty() && sizes != "uneven") throw "no such word for sizes";
  }

  constexpr bool is_used_by(AliasSource source) const {
    return (sources >> static_cast<unsigned>(source) & 1U) != 0;
  }
};

inline constexpr OperationAlias kOperationAliases[] = {
#include "base/collective_aliases.inc"
};

/// nullptr: `source` calls no operation so.
const OperationAlias* find_operation_alias(std::string_view name, AliasSource source);

/// The operation that `source` calls so.
Operation operation_of(std::string_view name, AliasSource source);

/// The first name that `source` has for it; empty: none.
std::string_view name_of(Operation operation, AliasSource source);

/// The end of a message that receives, or sends.
constexpr Operation message_end(bool receives) {
  return receives ? Operation::Recv : Operation::Send;
}

/// How benchmarks measure a call: messages by both ends at once, as SendRecv.
Operation measured_as(Operation operation);

// NCCL's numbers and their names: datatypes, reductions, results.
//
//   datatype 7 op 0     →  float32, sum
//   net.cc:1034 -> 6    →  ncclRemoteError
//
// Numbers as in nccl.h; they never changed their meaning, later releases only added some.

/// "float32" for 7 (ncclDataType_t); empty for a number that no release up to 2.30 knows.
std::string_view datatype_name(int64_t datatype);

/// Bytes of one element; nullopt for an unknown datatype.
std::optional<int> datatype_bytes(int64_t datatype);

/// "sum" for 0 (ncclRedOp_t); "user" for 5 and above, which the application made; empty below 0.
std::string_view reduction_name(int64_t reduction);

/// "ncclRemoteError" for 6 (ncclResult_t); empty for an unknown number.
std::string_view result_name(int64_t result);

}  // namespace ncclog

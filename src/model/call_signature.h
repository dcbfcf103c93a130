// What must agree between the ranks of one collective.
//
//   AllReduce: opCount 1a … count 1048576 datatype 7 op 0 root 0 comm 0x7f10a0 …
//       → {AllReduce, 1048576, float32, sum, root 0}
//
// A log holds millions of calls, so a signature owns no memory.

#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace ncclog {

/// Name of an operation as NCCL spells it, "AllReduce"; what is longer than kMaxBytes is cut.
class OpName {
 public:
  static constexpr size_t kMaxBytes = 15;

  constexpr OpName() = default;
  constexpr OpName(std::string_view name) {
    std::copy_n(name.data(), std::min(name.size(), kMaxBytes), bytes_.begin());
  }
  constexpr OpName(const char* name) : OpName(std::string_view(name)) {}

  constexpr std::string_view view() const {
    const auto end = std::find(bytes_.begin(), bytes_.end(), '\0');
    return {bytes_.data(), static_cast<size_t>(end - bytes_.begin())};
  }
  std::string text() const { return std::string(view()); }

  auto operator<=>(const OpName&) const = default;

 private:
  std::array<char, kMaxBytes + 1> bytes_ = {};  ///< Unused ones are 0.
};

/// A call as its line gives it.
struct CallSignature {
  OpName op;
  int64_t count = 0;  ///< Elements as printed; bytes for AllGather and Broadcast in 2.7 to 2.21.
  int datatype = -1;  ///< ncclDataType_t, see log/nccl_names.h.
  int redop = -1;     ///< ncclRedOp_t; user-made ones differ from rank to rank.
  int root = -1;      ///< The peer for Send and Recv.

  auto operator<=>(const CallSignature&) const = default;
};

/// True for Send, Recv and the one-sided operations: their ranks call different things by nature.
bool is_point_to_point(const OpName& op);

/// The call as its peers must make it too. NCCL mangles the number of a user-made reduction with
/// the communicator's pointer (ncclUserRedOpMangle), so such numbers become kUserRedop.
CallSignature comparable(const CallSignature& call);

inline constexpr int kUserRedop = 5;  ///< ncclNumOps: the first number that is no built-in one.

/// 64 well-mixed bits of a comparable call.
uint64_t hash_of(const CallSignature& call);

}  // namespace ncclog

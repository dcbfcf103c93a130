// Message files written: what is known of a kind, and a first draft for lines that nothing fits.
//
//   NET/IB: Frobnicated mlx5_0:1 qpn 4711   →   site_frobnicated  nccl -
//                                                 = NET/IB: Frobnicated {:word} qpn {:int}
//                                                 > NET/IB: Frobnicated mlx5_0:1 qpn 4711

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "log/message_kind.h"

namespace ncclog {

/// The kind as a message file states it (log/messages/README.md), but for what only the build
/// needs: `typed`, and whether a number has 64 bits.
std::string message_text(const Kind& kind);

/// The message with its values turned into holes: numbers, words with digits, quoted text. Empty if
/// fewer than eight letters of its own are left, which would fit too much.
std::string proposed_wording(std::string_view message);

/// A line for which a file proposes a kind.
struct UnknownMessage {
  std::string_view message;  ///< After its header.
  bool is_nccl = false;      ///< It has an NCCL header.
  bool is_warning = false;   ///< At level WARN.
  std::string note;          ///< Where and how often it was seen.
};

/// A message file with a kind for each, which `ncclog messages check` accepts once its names and
/// meanings are filled in; messages of one wording are proposed once.
std::string proposed_messages(const std::vector<UnknownMessage>& messages);

}  // namespace ncclog

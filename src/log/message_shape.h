// What two messages have in common that differ in their values only.
//
//   NET/IB: Frobnicated mlx5_0:1 qpn 4711 at 0x7f10a0   →   NET/IB: Frobnicated #:# qpn # at #
//   Could not weigh '/etc/nccl/topo.xml'                →   Could not weigh '…'
//
// Made for lines that no wording fits: a shape is what a user reports instead of a thousand lines.

#pragma once

#include <string>
#include <string_view>

namespace ncclog {

/// Bytes of a message that its shape is made from; most of NCCL's own words stand at its beginning.
inline constexpr size_t kMaxShapeBytes = 240;

/// The message with numbers, words that hold digits, paths and quoted text replaced. Messages of
/// one format string have one shape unless a name without digits stands in them.
std::string message_shape(std::string_view message);

}  // namespace ncclog

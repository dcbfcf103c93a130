// A structured companion of the logs, read whole: which importer takes it, and what is said if none
// can.

#pragma once

#include <optional>
#include <string>

#include "input/input_walk.h"
#include "model/shard.h"

namespace ncclog {

/// Larger documents are not read: none that a job writes is nearly as large.
inline constexpr size_t kMaxDocumentBytes = size_t{64} << 20;

/// All bytes of a document; nullopt if there are more than kMaxDocumentBytes.
std::optional<std::string> read_document_bytes(UnitReader& input);

/// What `input` says, of which is_document(input.content()) holds; `name` is its own. What cannot
/// be understood is refused and gives an empty shard.
Shard read_document(UnitReader& input, const WalkedInput& name);

}  // namespace ncclog

// The message kinds that this program knows: the built-in ones, and those that files add.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "log/wording_table.h"

namespace ncclog {

struct KindText;

/// The built-in kinds, as the build made them of src/log/messages/.
extern const WordingTable kBuiltInMessages;

/// The table that lines are read by; valid, like all that it views, until the program ends.
const WordingTable& all_wordings();

/// Its kinds. Index and position are the same.
inline std::span<const Kind> all_kinds() { return all_wordings().kinds; }

/// The kind with that name; nullptr if there is none.
const Kind* find_kind(std::string_view name);

/// Adds the kinds of files to the built-in ones. Called before the first line is read, and by one
/// thread. Throws Error, and adds nothing, if one of them is wrong.
void add_messages(std::span<const KindText> kinds);

/// A hash of all that was added, which tells reports of other knowledge apart; 0: nothing was.
uint64_t added_messages_hash();

}  // namespace ncclog

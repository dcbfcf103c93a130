// The tables as the command line knows them: for its help, and by name.

#pragma once

#include <span>
#include <string>
#include <string_view>

#include "report/graph/graph.h"
#include "report/tables/tables.h"

namespace ncclog {

/// "Tables:" and one line for each, as help texts show it.
std::string table_list();

/// The table of that name. Throws Error, naming the command `where` and what it could have meant,
/// if there is none; `also` are further names that the command knows.
const TableKind& chosen_table(std::string_view name, std::string_view where,
                              std::span<const std::string_view> also = {});

/// The drawing of that name. Throws Error that names those there are.
const DrawingKind& chosen_drawing(std::string_view name, std::string_view where);

}  // namespace ncclog

// A table on the console, in the format that the user wants.

#pragma once

#include "app/console.h"
#include "app/options.h"
#include "report/tables/table.h"

namespace ncclog {

/// Appends the table to `console.out`. Text is cut to the width of a terminal.
void print_table(const Table& table, TableFormat format, ColorChoice color, Console& console);

/// Writes the rows as they are made, as JSON or CSV; text needs all of them, so it needs a Table.
void print_stream(const TableStream& table, TableFormat format, Console& console);

}  // namespace ncclog

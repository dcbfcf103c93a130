// A table on the console, in the format that the user wants.

#pragma once

#include "app/console.h"
#include "app/options.h"
#include "report/table.h"

namespace ncclog {

/// Appends the table to `console.out`. Text is cut to the width of a terminal.
void print_table(const Table& table, TableFormat format, ColorChoice color, Console& console);

}  // namespace ncclog

#include "app/print_table.h"

namespace ncclog {

void print_table(const Table& table, TableFormat format, ColorChoice color, Console& console) {
  switch (format) {
    case TableFormat::Text:
      console.out += write_table_text(table, console.style(color), /*fit=*/console.is_terminal);
      break;
    case TableFormat::Json:
      console.out += write_table_json(table);
      break;
    case TableFormat::Csv:
      console.out += write_table_csv(table);
      break;
  }
}

}  // namespace ncclog

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

void print_stream(const TableStream& table, TableFormat format, Console& console) {
  const auto take = [&console](std::string_view text) {
    console.out += text;
    return console.pass_on();
  };
  if (format == TableFormat::Json) return write_stream_json(table, take);
  write_stream_csv(table, take);
}

}  // namespace ncclog

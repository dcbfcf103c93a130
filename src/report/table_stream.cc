#include "report/table_stream.h"

#include "base/text.h"
#include "report/table_json.h"

namespace ncclog {
namespace {

using Json = nlohmann::ordered_json;

/// The value as it stands `indent` spaces deep in a document.
std::string indented(const Json& json, int indent) {
  std::string text;
  for (const char c : json.dump(2)) {
    text += c;
    if (c == '\n') text.append(static_cast<size_t>(indent), ' ');
  }
  return text;
}

}  // namespace

void write_stream_csv(const TableStream& table, const TextTaker& take) {
  if (!take(write_table_csv({.name = table.name, .columns = table.columns}))) return;
  table.each_row([&](std::span<const Cell> cells) { return take(csv_row(cells)); });
}

void write_stream_json(const TableStream& table, const TextTaker& take) {
  const std::string name = Json(to_valid_utf8(table.name)).dump();
  bool wanted =
      take("{\n  \"schema\": \"ncclog.table/1\",\n  \"table\": " + name + ",\n  \"rows\": [");
  std::string_view before = "\n    ";
  table.each_row([&](std::span<const Cell> cells) {
    wanted = wanted && take(std::string(before) + indented(json_row(table.columns, cells), 4));
    before = ",\n    ";
    return wanted;
  });
  if (!wanted) return;
  Json notes = Json::array();
  for (const std::string& note : table.notes) notes.push_back(to_valid_utf8(note));
  const bool has_rows = before.front() == ',';
  take((has_rows ? "\n  ]" : "]") + std::string(",\n  \"notes\": ") + indented(notes, 2) + "\n}\n");
}

}  // namespace ncclog

#include "report/table_json.h"

#include "base/text.h"

namespace ncclog {
namespace {

using Json = nlohmann::ordered_json;

Json json_cell(const Cell& cell) {
  if (const auto* number = std::get_if<int64_t>(&cell)) return *number;
  if (const auto* text = std::get_if<std::string>(&cell)) return to_valid_utf8(*text);
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  return nullptr;
}

}  // namespace

Json json_row(std::span<const std::string> columns, std::span<const Cell> cells) {
  Json row = Json::object();
  for (size_t c = 0; c < cells.size(); ++c) row[columns[c]] = json_cell(cells[c]);
  return row;
}

}  // namespace ncclog

#include "app/write_recorded.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/text.h"
#include "report/sql/sql_tables.h"

namespace ncclog {
namespace {

using Json = nlohmann::ordered_json;

/// Adds what is known; -1, empty and nullopt are not.
struct Fields {
  Json json = Json::object();

  void add(const char* name, int64_t value) {
    if (value >= 0) json[name] = value;
  }
  void add(const char* name, double value) {
    if (value >= 0) json[name] = value;
  }
  void add(const char* name, std::optional<bool> value) {
    if (value) json[name] = *value;
  }
  void add(const char* name, std::string_view value) {
    if (!value.empty()) json[name] = to_valid_utf8(value);
  }
  void add(const char* name, const TensorSizes& value) {
    if (!value.empty()) json[name] = value;
  }
  void add(const char* name, const std::vector<std::string>& value) {
    for (const std::string& text : value) json[name].push_back(to_valid_utf8(text));
  }
};

Json fields_of(const FlightRecorderDump& dump, size_t index) {
  const FlightRecorderEntry& entry = dump.entries[index];
  Fields fields;
  fields.add("entry", static_cast<int64_t>(index));
  fields.add("rank", int64_t{dump.rank});
  fields.add("record_id", entry.record_id);
  fields.add("pg_id", entry.pg_id);
  fields.add("group", std::string_view(entry.group));
  fields.add("group_name", std::string_view(entry.description));
  fields.add("collective_seq_id", entry.collective_seq_id);
  fields.add("p2p_seq_id", entry.p2p_seq_id);
  fields.add("op_id", entry.op_id);
  fields.add("is_p2p", entry.is_p2p);
  fields.add("profiling_name", std::string_view(entry.profiling_name));
  fields.add("function", nccl_function(entry.profiling_name));
  fields.add("state", to_string(entry.state));
  fields.add("retired", entry.retired);
  fields.add("input_sizes", entry.input_sizes);
  fields.add("output_sizes", entry.output_sizes);
  fields.add("input_dtypes", entry.input_dtypes);
  fields.add("output_dtypes", entry.output_dtypes);
  fields.add("time_created_ns", entry.time_created_ns);
  fields.add("time_started_ns", entry.time_started_ns);
  fields.add("time_completed_ns", entry.time_completed_ns);
  fields.add("duration_ms", entry.duration_ms);
  fields.add("timeout_ms", entry.timeout_ms);
  fields.add("frame_function", std::string_view(entry.frame.function));
  fields.add("frame_file", std::string_view(entry.frame.file));
  fields.add("frame_line", entry.frame.line);
  return std::move(fields.json);
}

/// Place of a column among those of events, which has one of that name.
size_t column_of(std::string_view name) {
  const auto columns = sql_events_table().columns;
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const SqlColumn& column) { return column.name == name; });
  return static_cast<size_t>(found - columns.begin());
}

}  // namespace

void append_recorded_json(std::string& out, std::string_view file, const FlightRecorderDump& dump,
                          size_t index) {
  const Json json = {{"file", to_valid_utf8(file)},
                     {"line", nullptr},
                     {"level", ""},
                     {"kind", kRecordedKind},
                     {"fields", fields_of(dump, index)}};
  out += json.dump() + "\n";
}

std::string recorded_fields(const FlightRecorderDump& dump, size_t index) {
  return fields_of(dump, index).dump();
}

std::vector<Cell> recorded_cells(std::string_view file, const FlightRecorderDump& dump,
                                 size_t index) {
  std::vector<Cell> cells(sql_events_table().columns.size());
  cells[column_of("file")] = text_cell(file);
  cells[column_of("kind")] = text_cell(kRecordedKind);
  cells[column_of("fields")] = text_cell(recorded_fields(dump, index));
  return cells;
}

}  // namespace ncclog

#include "app/write_recorded.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/text.h"
#include "report/table.h"

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

void append_recorded_csv(std::string& out, std::string_view file, const FlightRecorderDump& dump,
                         size_t index) {
  const Cell cells[] = {text_cell(file),
                        Cell(),
                        Cell(),
                        Cell(),
                        Cell(),
                        Cell(),
                        Cell(),
                        text_cell(kRecordedKind),
                        text_cell(fields_of(dump, index).dump()),
                        Cell()};
  out += csv_row(cells);
}

}  // namespace ncclog

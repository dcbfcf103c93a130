#include "app/commands/events.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>

#include "app/read/read_job.h"
#include "base/text.h"
#include "input/input_walk.h"
#include "input/line_reader.h"
#include "log/event.h"
#include "log/messages.h"
#include "report/tables/tables.h"

namespace ncclog {
namespace {

/// Hands on the entries of a dump; other documents have no events. False once nobody wants more.
bool walk_document(UnitReader& input, const WalkedInput& name, const EventTaker& taker) {
  Shard shard = read_document(input, name);
  for (const FlightRecorderDump& dump : shard.flight_recorders) {
    for (size_t i = 0; i < dump.entries.size(); ++i) {
      if (!taker.take_entry(name.path, dump, i)) return false;
    }
  }
  return true;
}

/// Hands on the events of one input. False once nobody wants more.
bool walk_input(UnitReader& input, const WalkedInput& name, const EventTaker& taker) {
  if (is_document(input.content())) return walk_document(input, name, taker);
  bool wanted = true;
  EventReader events([&](const Line& record, const Event& event, int) {
    if (!wanted || !is_exported(event)) return;
    wanted = taker.take_event({name.path, record.number, record.text, event});
  });
  for (Line line; wanted && input.next(line);) events.add(line);
  events.finish();  // The last record may have waited for a further line.
  return wanted;
}

/// Says what is odd about what was read.
ExitStatus comment(const std::vector<WalkedInput>& walked, Console& console) {
  ExitStatus status = ExitStatus::Fine;
  for (const WalkedInput& input : walked) {
    if (!input.result.note.empty()) console.err += error_text(input.path, input.result.note, "");
    if (is_partial(input.result.status)) status = ExitStatus::Partial;
  }
  return status;
}

}  // namespace

LineTime time_of(const WalkedEvent& walked) {
  return time_before(walked.text, walked.event.header.message);
}

ExitStatus walk_events(std::span<const std::string> inputs, const EventTaker& taker,
                       Console& console) {
  // Uncut inputs number their lines as their files do.
  const auto units = cut_units(inputs, {.unit_bytes = std::numeric_limits<uint64_t>::max()});
  ExitStatus status = ExitStatus::Fine;
  bool wanted = true;
  for (size_t u = 0; wanted && u < units.size(); ++u) {
    InputWalk walk(units[u], inputs[units[u].input]);
    while (UnitReader* input = wanted ? walk.next() : nullptr) {
      wanted = walk_input(*input, walk.current(), taker);
    }
    if (comment(walk.take(), console) == ExitStatus::Partial) status = ExitStatus::Partial;
  }
  return status;
}

namespace {

// Members of a JSON object.

void append_key(std::string& out, std::string_view key) {
  if (out.back() != '{') out += ',';
  append_json_string(out, key);
  out += ':';
}

void append_number(std::string& out, std::string_view key, int64_t value) {
  append_key(out, key);
  fmt::format_to(std::back_inserter(out), "{}", value);
}

void append_text(std::string& out, std::string_view key, std::string_view text) {
  append_key(out, key);
  append_json_string(out, text);
}

// What is known; -1, empty and nullopt are not.

void append_known(std::string& out, std::string_view key, int64_t value) {
  if (value >= 0) append_number(out, key, value);
}

void append_known(std::string& out, std::string_view key, std::string_view text) {
  if (!text.empty()) append_text(out, key, text);
}

void append_known(std::string& out, std::string_view key, std::optional<bool> value) {
  if (!value) return;
  append_key(out, key);
  out += *value ? "true" : "false";
}

/// "12.5", "3.0".
void append_known(std::string& out, std::string_view key, double value) {
  if (!(value >= 0)) return;
  append_key(out, key);
  const std::string text = std::isfinite(value) ? fmt::format("{}", value) : "null";
  out += text.find_first_of(".el") == text.npos ? text + ".0" : text;
}

void append_known(std::string& out, std::string_view key, const TensorSizes& sizes) {
  if (sizes.empty()) return;
  append_key(out, key);
  out += '[';
  for (size_t i = 0; i < sizes.size(); ++i) {
    fmt::format_to(std::back_inserter(out), "{}[{}]", i == 0 ? "" : ",", fmt::join(sizes[i], ","));
  }
  out += ']';
}

void append_known(std::string& out, std::string_view key, const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  append_key(out, key);
  char before = '[';
  for (const std::string& text : texts) {
    out += before;
    append_json_string(out, text);
    before = ',';
  }
  out += ']';
}

/// A value as its field's type says; a number too large for one is text.
void append_field(std::string& out, const Field& field, std::string_view text) {
  if (field.type == FieldType::Integer) {
    if (const auto value = parse_int(text)) return append_number(out, field.name, *value);
  }
  if (field.type == FieldType::Hex) {
    const auto value = text == "(nil)" ? 0 : parse_hex(text);
    if (value) return append_text(out, field.name, fmt::format("{:#x}", *value));
  }
  append_text(out, field.name, text);
}

/// The fields that the wording filled, as a JSON object.
void append_fields(std::string& out, const Message& message) {
  out += '{';
  const size_t count = message.kind == nullptr ? 0 : message.kind->fields.size();
  for (size_t i = 0; i < count; ++i) {
    const std::string_view text = message.fields[i];
    if (text.data() != nullptr) append_field(out, message.kind->fields[i], text);
  }
  out += '}';
}

/// What is known about a WARN, as JSON members; nothing for other lines.
void append_warning(std::string& out, const Event& event) {
  const Warning* warning = warning_of(event);
  if (warning == nullptr) return;
  append_text(out, "severity", to_string(warning->severity));
  append_text(out, "origin", to_string(warning->origin));
  append_text(out, "meaning", warning->meaning);
}

}  // namespace

bool is_exported(const Event& event) {
  return event.fate == LineFate::Recognised || event.fate == LineFate::Unrecognised;
}

std::string_view exported_level(const Event& event) {
  const bool banner =
      event.message.kind != nullptr && event.message.kind->index == kKindIndex<NcclVersion>;
  if (banner && event.header.level == Level::None) return to_string(Level::Version);
  return to_string(event.header.level);
}

std::string_view kind_name(const Event& event) {
  return event.message.kind == nullptr ? kUnrecognisedKind : event.message.kind->name;
}

std::string_view unrecognised_text(const Event& event) {
  return event.message.kind == nullptr ? trim(event.header.message) : std::string_view{};
}

std::string event_fields(const Event& event) {
  std::string fields;
  append_fields(fields, event.message);
  return fields;
}

void append_event_json(std::string& out, const WalkedEvent& walked) {
  const Event& event = walked.event;
  const LineTime time = time_of(walked);
  out += '{';
  append_text(out, "file", walked.file);
  append_number(out, "line", static_cast<int64_t>(walked.line));
  if (time.known()) append_text(out, "time", time.text);
  append_known(out, "host", event.header.host);
  append_known(out, "pid", event.header.pid);
  append_known(out, "tid", event.header.tid);
  append_known(out, "cuda_dev", int64_t{event.header.cuda_dev});
  append_text(out, "level", exported_level(event));
  append_text(out, "kind", kind_name(event));
  append_key(out, "fields");
  append_fields(out, event.message);
  append_warning(out, event);
  if (event.message.kind == nullptr) append_text(out, "text", unrecognised_text(event));
  out += "}\n";
}

std::string event_csv_heading() {
  std::vector<Cell> names;
  for (const Column& column : events_table().columns) names.push_back(text_cell(column.name));
  return csv_row(names);
}

std::vector<Cell> event_cells(const WalkedEvent& walked) {
  const Event& event = walked.event;
  const Header& header = event.header;
  const Warning* known = warning_of(event);
  const Warning warning = known == nullptr ? Warning{} : *known;
  return {text_cell(walked.file),
          number_cell(static_cast<int64_t>(walked.line)),
          text_cell(time_of(walked).text),
          text_cell(header.host),
          number_cell(header.pid),
          number_cell(header.tid),
          number_cell(header.cuda_dev),
          text_cell(exported_level(event)),
          text_cell(kind_name(event)),
          text_cell(event_fields(event)),
          text_cell(unrecognised_text(event)),
          text_cell(to_string(warning.severity)),
          text_cell(known == nullptr ? "" : to_string(warning.origin)),
          text_cell(warning.meaning)};
}

namespace {

/// Place of a column among those of events, which has one of that name.
size_t column_of(std::string_view name) {
  const auto columns = events_table().columns;
  return static_cast<size_t>(std::ranges::find(columns, name, &Column::name) - columns.begin());
}

}  // namespace

void append_recorded_json(std::string& out, std::string_view file, const FlightRecorderDump& dump,
                          size_t index) {
  out += "{\"file\":";
  append_json_string(out, file);
  out += fmt::format(",\"line\":null,\"level\":\"\",\"kind\":\"{}\",\"fields\":{}}}\n",
                     kRecordedKind, recorded_fields(dump, index));
}

std::string recorded_fields(const FlightRecorderDump& dump, size_t index) {
  const FlightRecorderEntry& entry = dump.entries[index];
  std::string out = "{";
  append_known(out, "entry", static_cast<int64_t>(index));
  append_known(out, "rank", int64_t{dump.rank});
  append_known(out, "record_id", entry.record_id);
  append_known(out, "pg_id", entry.pg_id);
  append_known(out, "group", entry.group);
  append_known(out, "group_name", entry.description);
  append_known(out, "collective_seq_id", entry.collective_seq_id);
  append_known(out, "p2p_seq_id", entry.p2p_seq_id);
  append_known(out, "op_id", entry.op_id);
  append_known(out, "is_p2p", entry.is_p2p);
  append_known(out, "profiling_name", std::string_view(entry.profiling_name));
  append_known(out, "function", nccl_function(entry.profiling_name));
  append_known(out, "state", to_string(entry.state));
  append_known(out, "retired", entry.retired);
  append_known(out, "input_sizes", entry.input_sizes);
  append_known(out, "output_sizes", entry.output_sizes);
  append_known(out, "input_dtypes", entry.input_dtypes);
  append_known(out, "output_dtypes", entry.output_dtypes);
  append_known(out, "time_created_ns", entry.time_created_ns);
  append_known(out, "time_started_ns", entry.time_started_ns);
  append_known(out, "time_completed_ns", entry.time_completed_ns);
  append_known(out, "duration_ms", entry.duration_ms);
  append_known(out, "timeout_ms", entry.timeout_ms);
  append_known(out, "frame_function", entry.frame.function);
  append_known(out, "frame_file", entry.frame.file);
  append_known(out, "frame_line", entry.frame.line);
  return out + "}";
}

std::vector<Cell> recorded_cells(std::string_view file, const FlightRecorderDump& dump,
                                 size_t index) {
  std::vector<Cell> cells(events_table().columns.size());
  cells[column_of("file")] = text_cell(file);
  cells[column_of("kind")] = text_cell(kRecordedKind);
  cells[column_of("fields")] = text_cell(recorded_fields(dump, index));
  return cells;
}

}  // namespace ncclog

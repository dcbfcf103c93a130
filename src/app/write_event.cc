#include "app/write_event.h"

#include <fmt/format.h>

#include <iterator>

#include "base/json_text.h"
#include "base/text.h"
#include "log/messages.h"
#include "report/sql/sql_tables.h"

namespace ncclog {
namespace {

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

/// Who printed the line, as far as it says so: as JSON members.
void append_speaker(std::string& out, const Header& header) {
  if (!header.host.empty()) append_text(out, "host", header.host);
  if (header.pid >= 0) append_number(out, "pid", header.pid);
  if (header.tid >= 0) append_number(out, "tid", header.tid);
  if (header.cuda_dev >= 0) append_number(out, "cuda_dev", header.cuda_dev);
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
  append_speaker(out, event.header);
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
  for (const SqlColumn& column : sql_events_table().columns)
    names.push_back(text_cell(column.name));
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

}  // namespace ncclog

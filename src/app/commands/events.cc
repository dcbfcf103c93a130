#include "app/commands/events.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/read/read_document.h"
#include "base/collectives.h"
#include "base/safe_json.h"
#include "base/text.h"
#include "input/input_walk.h"
#include "input/line_reader.h"
#include "log/messages.h"
#include "report/tables/tables.h"

namespace ncclog {
namespace {

/// Hands on the entries of a dump; other documents have no events. False once nobody wants more.
bool walk_document(UnitReader& input, const WalkedInput& name, const EventTaker& taker) {
  std::string rest;  // Lines behind a document are of no event here.
  Shard shard = read_document(input, name, rest);
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

ExitStatus walk_event_rows(std::span<const std::string> inputs, const RowTaker& take,
                           Console& console) {
  const EventTaker taker = {[&](const WalkedEvent& walked) { return take(event_cells(walked)); },
                            [&](std::string_view file, const FlightRecorderDump& dump,
                                size_t index) { return take(recorded_cells(file, dump, index)); }};
  return walk_events(inputs, taker, console);
}

namespace {

using OrderedJson = nlohmann::ordered_json;

// Members of a JSON object.

void append_key(std::string& out, std::string_view key) {
  if (out.back() != '{') out += ',';
  append_json_string(out, key);
  out += ':';
}

void append_text(std::string& out, std::string_view key, std::string_view text) {
  append_key(out, key);
  append_json_string(out, text);
}

/// A value as its field's type says; a number too large for one is text.
void append_field(std::string& out, const Field& field, std::string_view text) {
  if (field.type == FieldType::Integer) {
    if (const auto value = parse_int(text)) {
      append_key(out, field.name);
      fmt::format_to(std::back_inserter(out), "{}", *value);
      return;
    }
  }
  if (field.type == FieldType::Hex) {
    const auto value = text == "(nil)" ? 0 : parse_hex(text);
    if (value) return append_text(out, field.name, fmt::format("{:#x}", *value));
  }
  append_text(out, field.name, text);
}

/// True for what a dump does not say.
bool is_unknown(const OrderedJson& value) {
  if (value.is_number()) return !(value.get<double>() >= 0);
  return value.empty() || (value.is_string() && value.get_ref<const std::string&>().empty());
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
  return event.message.kind == nullptr ? "unrecognised" : event.message.kind->name;
}

std::string_view unrecognised_text(const Event& event) {
  return event.message.kind == nullptr ? trim(event.header.message) : std::string_view{};
}

std::string event_fields(const Event& event) {
  const Message& message = event.message;
  std::string out = "{";
  const size_t count = message.kind == nullptr ? 0 : message.kind->fields.size();
  for (size_t i = 0; i < count; ++i) {
    const std::string_view text = message.fields[i];
    if (text.data() != nullptr) append_field(out, message.kind->fields[i], text);
  }
  return out + "}";
}

std::string event_json(std::span<const Cell> cells) {
  std::string out = "{";
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string_view name = events_table().columns[i].name;
    if (const auto* number = std::get_if<int64_t>(&cells[i])) {
      append_key(out, name);
      fmt::format_to(std::back_inserter(out), "{}", *number);
    } else if (const auto* text = std::get_if<std::string>(&cells[i])) {
      append_key(out, name);
      if (name == "fields") {
        out += *text;
      } else {
        append_json_string(out, *text);
      }
    } else if (name == "line" || name == "level") {
      append_key(out, name);
      out += name == "line" ? "null" : "\"\"";
    }
  }
  return out + "}\n";
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
          event.message.kind == nullptr ? Cell(std::string(unrecognised_text(event))) : Cell(),
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

std::string recorded_fields(const FlightRecorderDump& dump, size_t index) {
  const FlightRecorderEntry& entry = dump.entries[index];
  const auto known = [](std::optional<bool> value) {
    return value ? OrderedJson(*value) : OrderedJson();
  };
  const OrderedJson fields = {{"entry", index},
                              {"rank", dump.rank},
                              {"record_id", entry.record_id},
                              {"pg_id", entry.pg_id},
                              {"group", entry.group},
                              {"group_name", entry.description},
                              {"collective_seq_id", entry.collective_seq_id},
                              {"p2p_seq_id", entry.p2p_seq_id},
                              {"op_id", entry.op_id},
                              {"is_p2p", known(entry.is_p2p)},
                              {"profiling_name", entry.profiling_name},
                              {"function", name_of(recorded_operation(entry.profiling_name))},
                              {"state", to_string(entry.state)},
                              {"retired", known(entry.retired)},
                              {"input_sizes", entry.input_sizes},
                              {"output_sizes", entry.output_sizes},
                              {"input_dtypes", entry.input_dtypes},
                              {"output_dtypes", entry.output_dtypes},
                              {"time_created_ns", entry.time_created_ns},
                              {"time_started_ns", entry.time_started_ns},
                              {"time_completed_ns", entry.time_completed_ns},
                              {"duration_ms", entry.duration_ms},
                              {"timeout_ms", entry.timeout_ms},
                              {"frame_function", entry.frame.function},
                              {"frame_file", entry.frame.file},
                              {"frame_line", entry.frame.line}};
  OrderedJson said;
  for (const auto& [name, value] : fields.items()) {
    if (!is_unknown(value)) said[name] = value;
  }
  return safe_json(said.dump(-1, ' ', false, OrderedJson::error_handler_t::replace));
}

std::vector<Cell> recorded_cells(std::string_view file, const FlightRecorderDump& dump,
                                 size_t index) {
  std::vector<Cell> cells(events_table().columns.size());
  cells[column_of("file")] = text_cell(file);
  cells[column_of("kind")] = text_cell("flight_recorder_entry");
  cells[column_of("fields")] = text_cell(recorded_fields(dump, index));
  return cells;
}

}  // namespace ncclog

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "import/document.h"
#include "import/import.h"

namespace ncclog {
namespace {

using Json = nlohmann::json;

/// A run of this many sizes, or ranks, is not read further: far more than any has.
constexpr size_t kMaxRows = 4096;
constexpr size_t kMaxPlaces = 65536;
constexpr size_t kMaxVariables = 256;

/// As the text form prints it; empty: null, or no number.
std::string number_text(const Json& value, int decimals) {
  const auto number = real_number(value);
  return number ? fmt::format("{:.{}f}", *number, decimals) : std::string();
}

/// One way of a size. With -C the time is the processor's.
NcclTestsValues read_values(const Json& way) {
  if (!way.is_object()) return {};
  const Json& time = member(way, "time");
  const Json& wrong = member(way, "nwrong");
  return {number_text(time.is_null() ? member(way, "cpu_time") : time, 2),
          number_text(member(way, "alg_bw"), 2), number_text(member(way, "bus_bw"), 2),
          wrong.is_null() ? "N/A" : number_text(wrong, 0)};
}

/// The row as the text form has it, for people to recognise.
std::string text_of_row(const NcclTestsRow& row) {
  std::string text =
      fmt::format("{} {} {} {} {}", row.size, row.count, row.datatype, row.redop, row.root);
  for (const NcclTestsValues* values : {&row.out_of_place, &row.in_place}) {
    if (values->time.empty()) continue;
    text += fmt::format(" {} {} {} {}", values->time, values->algbw, values->busbw, values->wrong);
  }
  return text;
}

/// A row of what both forms of JSON name alike.
NcclTestsRow begin_row(const Json& result) {
  NcclTestsRow row = {.where = {0, 1}};
  row.size = whole_number(member(result, "size")).value_or(-1);
  row.datatype = text_of(member(result, "type"));
  row.redop = text_of(member(result, "redop"));
  return row;
}

NcclTestsRow read_row(const Json& result) {
  NcclTestsRow row = begin_row(result);
  row.count = whole_number(member(result, "count")).value_or(-1);
  const auto root = parse_int(trim(text_of(member(result, "root"))));
  row.root = root && std::in_range<int>(*root) ? static_cast<int>(*root) : -1;
  row.out_of_place = read_values(member(result, "out_of_place"));
  row.in_place = read_values(member(result, "in_place"));
  row.text = text_of_row(row);
  return row;
}

void read_config(const Json& config, NcclTestsRun& run) {
  run.min_bytes = whole_number(member(config, "minimum_bytes")).value_or(-1);
  run.max_bytes = whole_number(member(config, "maximum_bytes")).value_or(-1);
  run.iters = small_number(member(config, "iterations"));
  run.validation = small_number(member(config, "validation"));
  for (const Json& device : as_list(member(config, "devices"))) {
    if (run.places.size() == kMaxPlaces) break;
    NcclTestsPlace& place = run.places.emplace_back();
    place.rank = small_number(member(device, "rank"));
    place.group = small_number(member(device, "group"));
    place.pid = whole_number(member(device, "pid")).value_or(-1);
    place.host = text_of(member(device, "hostname"));
    place.device = small_number(member(device, "device"));
    place.bus_id = text_of(member(device, "device_hex"));
    place.gpu = trim(text_of(member(device, "device_info")));
    run.nranks = std::max(run.nranks, place.rank + 1);
  }
}

/// The variables that NCCL and its plugins read; the others are nobody's business.
void read_environment(const Json& variables, NcclTestsRun& run) {
  for (const Json& variable : as_list(variables)) {
    const std::string_view text = text_of(variable);
    const size_t equals = text.find('=');
    constexpr std::string_view kPrefixes[] = {"NCCL_", "RCCL_", "FI_", "OFI_NCCL_"};
    if (equals == text.npos || !starts_with_one_of(text, kPrefixes)) continue;
    if (run.environment.size() == kMaxVariables) return;
    run.environment.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  std::ranges::sort(run.environment);
}

/// One way of one size, as rccl-tests lists them: both ways are records of their own, in a row.
void add_way(NcclTestsRow row, NcclTestsValues values, bool is_in_place, NcclTestsRun& run) {
  const bool is_second = is_in_place && !run.rows.empty() && run.rows.back().size == row.size &&
                         run.rows.back().in_place.time.empty();
  if (!is_second) run.rows.push_back(std::move(row));
  NcclTestsRow& own = run.rows.back();
  (is_in_place ? own.in_place : own.out_of_place) = std::move(values);
  own.text = text_of_row(own);
}

void add_record(const Json& record, NcclTestsRun& run) {
  const Json& wrong = member(record, "wrong");
  NcclTestsValues values = {number_text(member(record, "time"), 2),
                            number_text(member(record, "algBw"), 2),
                            number_text(member(record, "busBw"), 2),
                            whole_number(wrong) ? number_text(wrong, 0) : std::string("N/A")};
  add_way(begin_row(record), std::move(values), truth(member(record, "inPlace")).value_or(false),
          run);
}

/// rccl-tests' list of records; the operation is named as NCCL names it.
NcclTestsRun read_records(const Json& records) {
  NcclTestsRun run;
  run.first = {0, 1};
  for (const Json& record : records) {
    if (run.rows.size() == kMaxRows || !record.is_object()) break;
    if (run.rows.empty()) {
      run.test = text_of(member(record, "name"));
      run.nranks = small_number(member(record, "ranks"));
    }
    add_record(record, run);
  }
  return run;
}

/// The fields of a line, without blanks and quotes around them.
std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields;
  for (std::string_view field : split(line, ',')) {
    field = trim(field);
    if (field.size() >= 2 && field.front() == '"' && field.back() == '"') {
      field = field.substr(1, field.size() - 2);
    }
    fields.emplace_back(field);
  }
  return fields;
}

/// A number as the text form prints it; empty: it is none.
std::string decimals_of(std::string_view field, int decimals) {
  const auto number = parse_decimal(field);
  return number ? fmt::format("{:.{}f}", *number, decimals) : std::string();
}

/// rccl-tests' CSV. Headings lack the column "nodes" that lines of some releases have, so that what
/// comes last is counted from the end of a line. Other lines than that were cut or glued, and the
/// end of the last one may be missing.
NcclTestsRun read_table(std::string_view bytes) {
  constexpr size_t kFirst = 2;  // numCycle, the operation.
  constexpr size_t kLast = 8;   // size, type, redop, inPlace, time, algBw, busBw, #wrong.
  NcclTestsRun run;
  run.first = {0, 1};
  uint64_t number = 0;
  const auto columns =
      static_cast<size_t>(std::ranges::count(bytes.substr(0, bytes.find('\n')), ',')) + 1;
  for (std::string_view line : split(bytes.substr(0, bytes.rfind('\n')), '\n')) {
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::vector<std::string> fields = fields_of(line);
    if (run.rows.size() == kMaxRows) break;
    const bool is_row = fields.size() == columns || fields.size() == columns + 1;
    if (!is_row || columns <= kFirst + kLast || fields.size() > kFirst + 4 + kLast) continue;
    const auto last = fields.end() - kLast;
    const auto size = parse_int(last[0]);
    if (!size || *size < 0) continue;
    if (run.rows.empty()) {
      run.test = fields[1];
      // "nodes, ranks, ranks a node, GPUs a rank", the same without nodes, or "gpus".
      const bool has_nodes = fields.size() == kFirst + 4 + kLast;
      const auto nranks = parse_int(fields[kFirst + (has_nodes ? 1 : 0)]);
      run.nranks = nranks && std::in_range<int>(*nranks) ? static_cast<int>(*nranks) : -1;
    }
    NcclTestsRow row = {.where = {0, number}};
    row.size = *size;
    row.datatype = last[1];
    row.redop = last[2];
    NcclTestsValues values = {decimals_of(last[4], 2), decimals_of(last[5], 2),
                              decimals_of(last[6], 2),
                              parse_int(last[7]) ? last[7] : std::string("N/A")};
    add_way(std::move(row), std::move(values), last[3] == "1", run);
  }
  return run;
}

}  // namespace

Imported<NcclTestsRun> import_nccl_tests(std::string_view bytes) {
  Imported<NcclTestsRun> import;
  if (bytes.starts_with("numCycle")) {
    import.value = read_table(bytes);
    if (import.value.rows.empty()) import.problem = "it holds no results";
    return import;
  }
  const ParsedDocument document = read_json(bytes);
  import.problem = document.problem;
  if (!import.problem.empty()) return import;
  const Json& data = document.value;
  if (!member(data.is_array() && !data.empty() ? data.front() : data, "busBw").is_null()) {
    import.value = read_records(data);
    return import;
  }
  if (as_list(member(data, "results")).empty()) {
    import.problem = "it holds no results";
    return import;
  }
  NcclTestsRun& run = import.value;
  const Json& arguments = as_list(member(data, "args"));
  if (!arguments.empty()) run.test = text_of(arguments.front());
  run.test.erase(0, run.test.rfind('/') + 1);
  run.first = {0, 1};
  read_config(member(data, "config"), run);
  read_environment(member(data, "env"), run);
  for (const Json& result : member(data, "results")) {
    if (run.rows.size() == kMaxRows) break;
    if (result.is_object()) run.rows.push_back(read_row(result));
  }
  run.out_of_bounds = whole_number(member(member(data, "out_of_bounds"), "count")).value_or(-1);
  run.out_of_bounds_line = {0, run.out_of_bounds < 0 ? 0U : 1U};
  run.busbw = number_text(member(member(data, "average_bus_bandwidth"), "bandwidth"), 4);
  run.busbw_line = {0, run.busbw.empty() ? 0U : 1U};
  run.below_expected = text_of(member(member(data, "average_bus_bandwidth"), "okay")) == "false";
  return import;
}

}  // namespace ncclog

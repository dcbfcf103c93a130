#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "import/document.h"
#include "import/import.h"

namespace ncclog {
namespace {

using Json = nlohmann::json;

/// The recorder keeps a few thousand; an entry takes much more memory here than "{}" in a file.
constexpr size_t kMaxEntries = size_t{1} << 20;

/// No job has more; the number bounds what a group's list of ranks may claim.
constexpr int64_t kMaxRank = 1 << 24;

bool is_rank(int64_t number) { return number >= 0 && number < kMaxRank; }

int64_t number_or(const Json& value, int64_t otherwise) {
  return whole_number(value).value_or(otherwise);
}

std::string text_in(const Json& dict, const char* key) {
  return std::string(text_of(member(dict, key)));
}

std::vector<std::string> read_texts(const Json& list) {
  std::vector<std::string> texts;
  for (const Json& item : as_list(list)) texts.emplace_back(text_of(item));
  return texts;
}

TensorSizes read_sizes(const Json& list) {
  TensorSizes sizes;
  for (const Json& tensor : as_list(list)) {
    std::vector<int64_t>& dimensions = sizes.emplace_back();
    for (const Json& size : as_list(tensor)) dimensions.push_back(number_or(size, -1));
  }
  return sizes;
}

RecordedState read_state(const Json& value) {
  for (const RecordedState known :
       {RecordedState::Scheduled, RecordedState::Started, RecordedState::Completed}) {
    if (text_of(value) == to_string(known)) return known;
  }
  return RecordedState::Unknown;
}

/// The innermost frame outside of PyTorch, else the innermost: they stand innermost first.
CodeFrame read_frame(const Json& frames) {
  CodeFrame first;
  for (const Json& item : as_list(frames)) {
    CodeFrame frame{text_in(item, "name"), text_in(item, "filename"),
                    number_or(member(item, "line"), -1)};
    const bool is_inside_torch =
        frame.file.find("/torch/") != std::string::npos || frame.file.starts_with("torch/");
    if (!is_inside_torch) return frame;
    if (first == CodeFrame()) first = std::move(frame);
  }
  return first;
}

/// Every key of an entry that is used, in all schemas; "seq_id" is how 2.0 named its only counter.
FlightRecorderEntry read_entry(const Json& dict) {
  const auto number = [&](const char* key) { return number_or(member(dict, key), -1); };
  // Unset times are null in a pickle and 0 in JSON.
  const auto time = [&](const char* key) { return number(key) > 0 ? number(key) : -1; };
  std::vector<std::string> group = read_texts(member(dict, "process_group"));
  group.resize(2);
  return {.record_id = number("record_id"),
          .pg_id = number("pg_id"),
          .group = std::move(group[0]),
          .description = std::move(group[1]),
          .collective_seq_id = number_or(member(dict, "collective_seq_id"), number("seq_id")),
          .p2p_seq_id = number("p2p_seq_id"),
          .op_id = number("op_id"),
          .is_p2p = truth(member(dict, "is_p2p")),
          .profiling_name = text_in(dict, "profiling_name"),
          .state = read_state(member(dict, "state")),
          .input_sizes = read_sizes(member(dict, "input_sizes")),
          .output_sizes = read_sizes(member(dict, "output_sizes")),
          .input_dtypes = read_texts(member(dict, "input_dtypes")),
          .output_dtypes = read_texts(member(dict, "output_dtypes")),
          .time_created_ns = time("time_created_ns"),
          .time_started_ns = time("time_discovered_started_ns"),
          .time_completed_ns = time("time_discovered_completed_ns"),
          .duration_ms = real_number(member(dict, "duration_ms")).value_or(-1),
          .timeout_ms = number("timeout_ms"),
          .retired = truth(member(dict, "retired")),
          .frame = read_frame(member(dict, "frames"))};
}

/// "[0, 1, 2]", or a list of numbers.
std::vector<int> read_rank_numbers(const Json& value) {
  std::vector<int> ranks;
  const auto add = [&](std::optional<int64_t> rank) {
    if (rank && is_rank(*rank)) ranks.push_back(static_cast<int>(*rank));
  };
  for (const Json& item : as_list(value)) add(whole_number(item));
  std::string_view text = trim(text_of(value));
  if (text.starts_with('[')) text.remove_prefix(1);
  if (text.ends_with(']')) text.remove_suffix(1);
  if (!text.empty()) {
    for (const std::string_view part : split(text, ',')) add(parse_int(trim(part)));
  }
  return ranks;
}

void read_config(const Json& config, FlightRecorderDump& dump) {
  for (const auto& [guid, value] : as_dict(config).items()) {
    const std::string name = text_in(value, "name");
    dump.groups.push_back({.name = name.empty() ? guid : name,
                           .description = text_in(value, "desc"),
                           .ranks = read_rank_numbers(member(value, "ranks"))});
  }
}

std::vector<FlightRecorderGroup> read_status(const Json& status) {
  std::vector<FlightRecorderGroup> groups;
  for (const auto& [id, value] : as_dict(status).items()) {
    groups.push_back({.pg_id = parse_int(id).value_or(-1),
                      .last_enqueued = whole_number(member(value, "last_enqueued_collective")),
                      .last_started = whole_number(member(value, "last_started_collective")),
                      .last_completed = whole_number(member(value, "last_completed_collective"))});
  }
  return groups;
}

/// Which name a group's number has, by what the entries say; groups by name get their number.
std::map<int64_t, std::string> number_groups(FlightRecorderDump& dump) {
  std::map<int64_t, std::string> names;
  for (const FlightRecorderEntry& entry : dump.entries) {
    if (entry.pg_id >= 0 && !entry.group.empty()) names.try_emplace(entry.pg_id, entry.group);
  }
  std::map<std::string_view, FlightRecorderGroup*> by_name;
  for (FlightRecorderGroup& group : dump.groups) by_name.try_emplace(group.name, &group);
  for (const auto& [id, name] : names) {
    if (by_name.contains(name)) by_name.at(name)->pg_id = id;
  }
  return names;
}

/// Joins the counters, which stand under a number, to the groups, which stand under a name. Where
/// no entry ties them they stay apart, unless there is only one of each.
void join_status(std::vector<FlightRecorderGroup> counted, FlightRecorderDump& dump) {
  const std::map<int64_t, std::string> names = number_groups(dump);
  if (counted.size() == 1 && dump.groups.size() == 1 && dump.groups[0].pg_id < 0) {
    dump.groups[0].pg_id = counted[0].pg_id;
  }
  std::map<int64_t, FlightRecorderGroup*> by_id;
  for (FlightRecorderGroup& group : dump.groups) {
    if (group.pg_id >= 0) by_id.try_emplace(group.pg_id, &group);
  }
  std::vector<FlightRecorderGroup> alone;
  for (FlightRecorderGroup& status : counted) {
    const auto known = by_id.find(status.pg_id);
    if (known == by_id.end()) {
      if (names.contains(status.pg_id)) status.name = names.at(status.pg_id);
      alone.push_back(std::move(status));
      continue;
    }
    known->second->last_enqueued = status.last_enqueued;
    known->second->last_started = status.last_started;
    known->second->last_completed = status.last_completed;
  }
  std::move(alone.begin(), alone.end(), std::back_inserter(dump.groups));
  std::ranges::sort(dump.groups, {},
                    [](const auto& group) { return std::tie(group.pg_id, group.name); });
}

/// The ranks that are members of every group whose ranks the dump lists: a process has groups of
/// its own rank only.
std::vector<int> common_ranks(const FlightRecorderDump& dump) {
  std::vector<int> common;
  bool first = true;
  for (const FlightRecorderGroup& group : dump.groups) {
    if (group.ranks.empty()) continue;
    std::vector<int> ranks = group.ranks;
    std::ranges::sort(ranks);
    if (std::exchange(first, false)) common = ranks;
    std::vector<int> both;
    std::ranges::set_intersection(common, ranks, std::back_inserter(both));
    common = std::move(both);
  }
  return common;
}

int rank_of(const FlightRecorderDump& dump, std::string_view path) {
  const bool lists_ranks =
      std::ranges::any_of(dump.groups, [](const auto& group) { return !group.ranks.empty(); });
  const int named = rank_in_name(path);
  if (!lists_ranks) return named;
  const std::vector<int> common = common_ranks(dump);
  if (std::binary_search(common.begin(), common.end(), named)) return named;
  return common.size() == 1 ? common.front() : -1;
}

FlightRecorderDump read_dump(const Json& root) {
  FlightRecorderDump dump;
  dump.version = text_in(root, "version");
  for (const char* key : {"nccl_version", "comm_lib_version"}) {
    const std::string_view version = text_of(member(root, key));
    if (!version.empty()) dump.nccl_version = version;
  }
  read_config(member(root, "pg_config"), dump);
  for (const Json& entry : as_list(member(root, "entries")))
    dump.entries.push_back(read_entry(entry));
  join_status(read_status(member(root, "pg_status")), dump);
  return dump;
}

bool has_known_key(const Json& root) {
  constexpr const char* kKeys[] = {"entries", "pg_config", "pg_status"};
  return std::ranges::any_of(kKeys, [&](const char* key) { return root.contains(key); });
}

/// `path` is the file's; empty: its name says nothing.
Imported<FlightRecorderDump> read_root(const Json& root, std::string_view path) {
  if (!has_known_key(root)) return {{}, "it has none of a dump's keys"};
  if (member(root, "entries").size() > kMaxEntries) return {{}, "it holds too many entries"};
  FlightRecorderDump dump = read_dump(root);
  dump.rank = rank_of(dump, path);
  return {std::move(dump), {}};
}

}  // namespace

int rank_in_name(std::string_view path) {
  std::string_view name = path.substr(path.find_last_of('/') + 1);
  for (size_t dot = name.find_last_of('.'); dot != name.npos; dot = name.find_last_of('.')) {
    const std::string_view extension = name.substr(dot + 1);
    if (extension.empty() || std::all_of(extension.begin(), extension.end(), is_digit)) break;
    name = name.substr(0, dot);
  }
  size_t start = name.size();
  while (start > 0 && is_digit(name[start - 1])) --start;
  const auto rank = parse_int(name.substr(start));
  return rank && is_rank(*rank) ? static_cast<int>(*rank) : -1;
}

Imported<FlightRecorderDump> import_flight_recorder(std::string_view bytes, std::string_view path) {
  const size_t start = bytes.find_first_not_of(" \t\r\n");
  const bool is_json = start != bytes.npos && bytes[start] == '{';
  const ParsedDocument document = is_json ? read_json(bytes) : read_pickle(bytes);
  if (!document.problem.empty()) return {{}, document.problem};
  return read_root(document.value, path);
}

FlightRecorderDumps import_flight_recorders(std::string_view bytes, std::string_view path) {
  FlightRecorderDumps result;
  const auto add = [&](const ParsedDocument& document) {
    Imported<FlightRecorderDump> one = document.problem.empty()
                                           ? read_root(document.value, {})
                                           : Imported<FlightRecorderDump>{{}, document.problem};
    const bool is_good = one.problem.empty();
    if (is_good) {
      result.dumps.push_back(std::move(one.value));
    } else if (result.dumps.empty()) {
      result.problem = std::move(one.problem);
    }
    return is_good;
  };
  bool is_read = true;
  while (is_read) {
    const size_t start = bytes.find_first_not_of(" \t\r\n", result.used);
    if (start == bytes.npos) break;
    const std::string_view rest = bytes.substr(start);
    size_t size = 0;
    if (rest[0] == '{' || rest[0] == '[') {
      size = json_size(rest);
      const ParsedDocument document = read_json(rest.substr(0, size));
      if (document.value.is_array()) {
        for (const Json& item : document.value) is_read &= add({item, {}});
      } else {
        is_read = add(document);
      }
    } else if (rest[0] == '\x80' || result.dumps.empty()) {
      is_read = add(read_pickle(rest, &size));
    } else {
      break;
    }
    if (is_read) result.used = start + size;
  }
  // Of several, the file's name is no one's.
  if (result.dumps.size() == 1) result.dumps[0].rank = rank_of(result.dumps[0], path);
  return result;
}

}  // namespace ncclog

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

/// No job has more; the number bounds what a group's list of ranks may claim.
constexpr int64_t kMaxRank = 1 << 24;

bool is_rank(int64_t number) { return number >= 0 && number < kMaxRank; }

int64_t number_or(const Value& value, int64_t otherwise) {
  return whole_number(value).value_or(otherwise);
}

// Values of an entry by the type of the member that takes them.

void read(DocumentWalk&, const Value& value, int64_t& number) { number = number_or(value, -1); }

void read(DocumentWalk&, const Value& value, double& number) {
  number = real_number(value).value_or(-1);
}

void read(DocumentWalk&, const Value& value, std::optional<bool>& flag) { flag = truth(value); }

void read(DocumentWalk& walk, const Value& value, std::string& text) { text = walk.text(value); }

void read(DocumentWalk& walk, const Value& value, RecordedState& state) {
  const std::string text = walk.text(value);
  state = RecordedState::Unknown;
  for (const RecordedState known :
       {RecordedState::Scheduled, RecordedState::Started, RecordedState::Completed}) {
    if (text == to_string(known)) state = known;
  }
}

void read(DocumentWalk& walk, const Value& list, std::vector<std::string>& texts) {
  texts.clear();
  walk.each_item(list, [&](const Value& item) {
    if (walk.take(sizeof(std::string))) texts.push_back(walk.text(item));
  });
}

void read(DocumentWalk& walk, const Value& list, TensorSizes& sizes) {
  sizes.clear();
  walk.each_item(list, [&](const Value& tensor) {
    if (!walk.take(sizeof(TensorSizes::value_type))) return;
    std::vector<int64_t>& dimensions = sizes.emplace_back();
    walk.each_item(tensor, [&](const Value& size) {
      if (walk.take(sizeof(int64_t))) dimensions.push_back(number_or(size, -1));
    });
  });
}

CodeFrame read_frame(DocumentWalk& walk, const Value& frame) {
  CodeFrame code;
  walk.each_member(frame, [&](std::string_view key, const Value& value) {
    if (key == "name") code.function = walk.text(value);
    if (key == "filename") code.file = walk.text(value);
    if (key == "line") code.line = number_or(value, -1);
  });
  return code;
}

bool is_inside_torch(const CodeFrame& frame) {
  return frame.file.find("/torch/") != std::string::npos || frame.file.starts_with("torch/");
}

/// The innermost frame outside of PyTorch, else the innermost: they stand innermost first.
void read(DocumentWalk& walk, const Value& frames, CodeFrame& first) {
  first = {};
  bool found = false;
  walk.each_item(frames, [&](const Value& item) {
    if (found) return;
    CodeFrame frame = read_frame(walk, item);
    found = !is_inside_torch(frame);
    if (found || first == CodeFrame()) first = std::move(frame);
  });
}

using Entry = FlightRecorderEntry;

void read_group_name(DocumentWalk& walk, const Value& pair, Entry& entry) {
  std::vector<std::string> names;
  read(walk, pair, names);
  if (!names.empty()) entry.group = std::move(names[0]);
  if (names.size() > 1) entry.description = std::move(names[1]);
}

template <auto kMember>
void read_member(DocumentWalk& walk, const Value& value, Entry& entry) {
  read(walk, value, entry.*kMember);
}

/// Unset times are null in a pickle and 0 in JSON.
template <auto kMember>
void read_time(DocumentWalk&, const Value& value, Entry& entry) {
  const int64_t time = number_or(value, -1);
  entry.*kMember = time > 0 ? time : -1;
}

struct EntryKey {
  std::string_view name;
  void (*read)(DocumentWalk& walk, const Value& value, Entry& entry);
};

/// Every key of an entry that is used, in all schemas; "seq_id" is how 2.0 named its only counter.
constexpr EntryKey kEntryKeys[] = {
    {"record_id", read_member<&Entry::record_id>},
    {"pg_id", read_member<&Entry::pg_id>},
    {"process_group", read_group_name},
    {"seq_id", read_member<&Entry::collective_seq_id>},
    {"collective_seq_id", read_member<&Entry::collective_seq_id>},
    {"p2p_seq_id", read_member<&Entry::p2p_seq_id>},
    {"op_id", read_member<&Entry::op_id>},
    {"is_p2p", read_member<&Entry::is_p2p>},
    {"profiling_name", read_member<&Entry::profiling_name>},
    {"state", read_member<&Entry::state>},
    {"input_sizes", read_member<&Entry::input_sizes>},
    {"output_sizes", read_member<&Entry::output_sizes>},
    {"input_dtypes", read_member<&Entry::input_dtypes>},
    {"output_dtypes", read_member<&Entry::output_dtypes>},
    {"time_created_ns", read_time<&Entry::time_created_ns>},
    {"time_discovered_started_ns", read_time<&Entry::time_started_ns>},
    {"time_discovered_completed_ns", read_time<&Entry::time_completed_ns>},
    {"duration_ms", read_member<&Entry::duration_ms>},
    {"timeout_ms", read_member<&Entry::timeout_ms>},
    {"retired", read_member<&Entry::retired>},
    {"frames", read_member<&Entry::frame>},
};

FlightRecorderEntry read_entry(DocumentWalk& walk, const Value& dict) {
  FlightRecorderEntry entry;
  walk.each_member(dict, [&](std::string_view name, const Value& value) {
    const auto* key = std::ranges::find(kEntryKeys, name, &EntryKey::name);
    if (key != std::end(kEntryKeys)) key->read(walk, value, entry);
  });
  return entry;
}

/// "[0, 1, 2]", or a list of numbers.
std::vector<int> read_rank_numbers(DocumentWalk& walk, const Value& value) {
  std::vector<int> ranks;
  const auto add = [&](std::optional<int64_t> rank) {
    if (rank && is_rank(*rank)) ranks.push_back(static_cast<int>(*rank));
  };
  walk.each_item(value, [&](const Value& item) { add(whole_number(item)); });
  const std::string written = walk.text(value);
  std::string_view text = trim(written);
  if (text.starts_with('[')) text.remove_prefix(1);
  if (text.ends_with(']')) text.remove_suffix(1);
  if (!text.empty()) {
    for (const std::string_view part : split(text, ',')) add(parse_int(trim(part)));
  }
  return ranks;
}

void read_config(DocumentWalk& walk, const Value& config, FlightRecorderDump& dump) {
  walk.each_member(config, [&](std::string_view guid, const Value& value) {
    if (!walk.take(guid.size() + sizeof(FlightRecorderGroup))) return;
    FlightRecorderGroup group{.name = std::string(guid)};
    walk.each_member(value, [&](std::string_view key, const Value& part) {
      if (key == "name" && !walk.text(part).empty()) group.name = walk.text(part);
      if (key == "desc") group.description = walk.text(part);
      if (key == "ranks") group.ranks = read_rank_numbers(walk, part);
    });
    dump.groups.push_back(std::move(group));
  });
}

std::vector<FlightRecorderGroup> read_status(DocumentWalk& walk, const Value& status) {
  std::vector<FlightRecorderGroup> groups;
  walk.each_member(status, [&](std::string_view id, const Value& value) {
    if (!walk.take(sizeof(FlightRecorderGroup))) return;
    FlightRecorderGroup group{.pg_id = parse_int(id).value_or(-1)};
    walk.each_member(value, [&](std::string_view key, const Value& number) {
      if (key == "last_enqueued_collective") group.last_enqueued = whole_number(number);
      if (key == "last_started_collective") group.last_started = whole_number(number);
      if (key == "last_completed_collective") group.last_completed = whole_number(number);
    });
    groups.push_back(std::move(group));
  });
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

FlightRecorderDump read_dump(DocumentWalk& walk) {
  FlightRecorderDump dump;
  std::vector<FlightRecorderGroup> counted;
  walk.each_member(walk.root(), [&](std::string_view key, const Value& value) {
    if (key == "version") dump.version = walk.text(value);
    if (key == "comm_lib_version" || key == "nccl_version") dump.nccl_version = walk.text(value);
    if (key == "pg_config") read_config(walk, value, dump);
    if (key == "pg_status") counted = read_status(walk, value);
    if (key == "entries") {
      walk.each_item(value, [&](const Value& entry) {
        if (walk.take(sizeof(FlightRecorderEntry))) dump.entries.push_back(read_entry(walk, entry));
      });
    }
  });
  join_status(std::move(counted), dump);
  return dump;
}

bool is_json(std::string_view bytes) {
  const size_t start = bytes.find_first_not_of(" \t\r\n");
  return start != bytes.npos && bytes[start] == '{';
}

bool has_known_key(DocumentWalk& walk) {
  constexpr std::string_view kKeys[] = {"entries", "pg_config", "pg_status"};
  return std::ranges::any_of(kKeys,
                             [&](auto key) { return walk.member(walk.root(), key) != nullptr; });
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

FlightRecorderImport import_flight_recorder(std::string_view bytes, std::string_view path) {
  const ParsedDocument document = is_json(bytes) ? read_json(bytes) : read_pickle(bytes);
  if (!document.problem.empty()) return {{}, document.problem};
  DocumentWalk walk(document, fair_steps(bytes.size()));
  if (!has_known_key(walk)) return {{}, "it has none of a dump's keys"};
  FlightRecorderDump dump = read_dump(walk);
  if (walk.is_spent()) return {{}, "it refers to the same parts too often"};
  dump.rank = rank_of(dump, path);
  return {std::move(dump), {}};
}

}  // namespace ncclog

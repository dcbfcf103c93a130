#include "model/torn_values.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "log/messages.h"
#include "log/read_message.h"

namespace ncclog {
namespace {

/// What a record says of something that processes are compared by.
struct Stated {
  std::string what;  ///< "NCCL_IB_HCA"; a kind's number where there is one such thing.
  std::string value;
};

constexpr uint16_t kKinds[] = {kKindIndex<EnvSet>, kKindIndex<NetworkSelected>,
                               kKindIndex<NcclVersion>};

Stated stated(const Record& record) {
  const Event event = parse_record(record);
  if (record.kind == kKindIndex<EnvSet>) {
    const auto set = read_message<EnvSet>(event.message);
    return {std::string(set.name), std::string(set.value)};
  }
  return {std::to_string(record.kind), std::string(event.header.message)};
}

/// How many logs give each value of each thing.
using Votes = std::map<std::string, std::map<std::string, size_t>>;

Votes count_votes(const std::vector<SpeakerLog>& logs) {
  Votes votes;
  for (const SpeakerLog& log : logs) {
    std::set<std::pair<std::string, std::string>> own;
    for (const uint16_t kind : kKinds) {
      const RecordList* list = log.records.find(kind);
      if (list == nullptr) continue;
      for (const Record& record : list->kept) {
        Stated one = stated(record);
        own.emplace(std::move(one.what), std::move(one.value));
      }
    }
    for (const auto& [what, value] : own) ++votes[what][value];
  }
  return votes;
}

/// True for what nobody sets: "3).", "0.0, type NVL/PHB,", "[0.".
bool is_broken(std::string_view value) {
  constexpr std::string_view kEnds = ".,)]>";
  return !value.empty() && (kEnds.find(value.back()) != kEnds.npos || value.front() == '[');
}

bool is_contradicted(const Record& record, const Votes& votes) {
  const Stated one = stated(record);
  const auto& values = votes.at(one.what);
  if (values.at(one.value) > 1) return false;
  return values.size() > 1 || (record.kind == kKindIndex<EnvSet> && is_broken(one.value));
}

/// The list without what others contradict; nullopt: all of it stays.
std::optional<RecordList> without_contradicted(const RecordList& list, const Votes& votes) {
  RecordList rest;
  rest.full = list.full;
  for (size_t i = 0; i < list.kept.size(); ++i) {
    if (is_contradicted(list.kept[i], votes)) continue;
    rest.kept.push_back(list.kept[i]);
    rest.hashes.push_back(list.hashes[i]);
  }
  const size_t dropped = list.kept.size() - rest.kept.size();
  if (dropped == 0) return std::nullopt;
  rest.total = list.total - std::min<uint64_t>(list.total, dropped);
  return rest;
}

void drop_contradicted(SpeakerLog& log, const Votes& votes) {
  std::map<uint16_t, RecordList> changed;
  for (const uint16_t kind : kKinds) {
    // A whole log may have taken the rest of a torn one's record in: "Using network Sockedone".
    if (!log.torn && kind != kKindIndex<NetworkSelected>) continue;
    const RecordList* list = log.records.find(kind);
    if (list == nullptr) continue;
    if (auto rest = without_contradicted(*list, votes)) changed[kind] = std::move(*rest);
  }
  if (changed.empty()) return;
  RecordLists records;
  for (const auto& [kind, list] : log.records) {
    const auto other = changed.find(kind);
    const RecordList& now = other == changed.end() ? list : other->second;
    if (!now.kept.empty()) records[kind] = now;
  }
  log.records = std::move(records);
}

}  // namespace

void drop_contradicted_values(std::vector<SpeakerLog>& logs) {
  const bool any_torn =
      std::any_of(logs.begin(), logs.end(), [](const SpeakerLog& log) { return log.torn; });
  if (!any_torn || logs.size() < 2) return;
  const Votes votes = count_votes(logs);
  for (SpeakerLog& log : logs) drop_contradicted(log, votes);
}

}  // namespace ncclog

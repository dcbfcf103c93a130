#include "model/job.h"

#include <unordered_map>

#include "base/text.h"
#include "log/messages.h"

namespace ncclog {

std::string_view last_text(const Job& job, const Process& process) {
  if (process.last_log < 0) return {};
  return job.logs[process.last_log].last_text;
}

FileLine file_line(const Job& job, SourceRef where) {
  const JobUnit* unit = unit_of(job, where);
  if (unit == nullptr) return {};
  return {job.inputs[unit->input].path, unit->first_line + where.line - 1};
}

const JobUnit* unit_of(const Job& job, SourceRef where) {
  const auto unit = std::ranges::lower_bound(job.units, where.unit, {}, &JobUnit::number);
  return unit == job.units.end() || unit->number != where.unit ? nullptr : &*unit;
}

namespace {

/// The kept lines of each key of the lists; those of a key are collected when they are asked for,
/// because most of what ranks print is not.
struct RecordsByKey {
  /// Lists of one log, with what is asked of all of them at hand.
  struct OfLog {
    int process = -1;
    uint32_t layout = 0;                                        ///< Number of their layout.
    const std::vector<RecordLayout::Entry>* entries = nullptr;  ///< Mostly those of the layout.
    const SettledRecords* records = nullptr;
  };
  std::vector<OfLog> logs;  ///< By process.
  size_t layouts = 0;       ///< How many there are.
  std::vector<size_t> sizes;
  mutable std::vector<std::unique_ptr<const RecordsOf>> by_key;  ///< nullptr: nobody has asked.
};

template <RecordLists SpeakerLog::*lists>
RecordsByKey count_records(const Job& job) {
  RecordsByKey all;
  std::unordered_map<const RecordLayout*, uint32_t> numbers;
  std::unordered_map<const std::vector<RecordLayout::Entry>*, size_t> alike;
  for (int p = 0; p < static_cast<int>(job.processes.size()); ++p) {
    for (const size_t log : nth_process(job, p).logs) {
      const RecordLists& own = job.logs[log].*lists;
      if (own.all() == nullptr) continue;
      const auto number = static_cast<uint32_t>(numbers.size());
      const auto layout = numbers.try_emplace(&own.all()->layout(), number).first;
      all.logs.push_back({p, layout->second, &own.entries(), own.all()});
      ++alike[&own.entries()];
    }
  }
  all.layouts = numbers.size();
  for (const auto& [entries, logs] : alike) {
    for (const RecordLayout::Entry& entry : *entries) {
      if (entry.key >= all.sizes.size()) all.sizes.resize(entry.key + size_t{1});
      all.sizes[entry.key] += logs * entry.kept;
    }
  }
  all.by_key.resize(all.sizes.size());
  return all;
}

RecordsOf collect_records(const RecordsByKey& all, uint16_t key) {
  constexpr uint32_t kNone = UINT32_MAX;
  RecordsOf of;
  const size_t size = all.sizes[key];
  of.records.reserve(size);
  // Texts that came lately: to look for all of them would take longer than to read some twice.
  std::vector<std::pair<const RecordText*, uint32_t>> known(std::min<size_t>(size, 4096));
  const auto number_of = [&](const RecordText* wanted) {
    auto& [text, number] = known[wanted->hash % known.size()];
    if (text != wanted) {
      text = wanted;
      number = static_cast<uint32_t>(of.texts.size());
      of.texts.push_back(static_cast<uint32_t>(of.records.size()));
    }
    return number;
  };
  const auto note = [](std::vector<int>& processes, int process) {
    if (processes.empty() || processes.back() != process) processes.push_back(process);
  };
  // By layout, the numbers of the texts that its lists share, by place from the list's begin.
  std::vector<std::vector<uint32_t>> shared(all.layouts);
  for (const auto& [process, layout, entries, records] : all.logs) {
    const RecordLayout::Entry* const entry = RecordLayout::find(*entries, key);
    if (entry == nullptr) continue;
    if (entry->full) note(of.full, process);
    if (entry->total > entry->kept) note(of.repeated, process);
    shared[layout].resize(entry->kept, kNone);
    for (uint32_t i = 0; i < entry->kept; ++i) {
      const uint32_t place = entry->end - entry->kept + i;
      uint32_t text = shared[layout][i];
      if (text == kNone) {
        text = number_of(records->text(place));
        if (!records->layout().varies[place]) shared[layout][i] = text;
      }
      of.records.push_back({records, place, text});
    }
  }
  return of;
}

template <RecordLists SpeakerLog::*lists>
const RecordsOf& records_of(const Job& job, size_t key) {
  static const RecordsOf none;
  const auto& all = job.answers.of<&count_records<lists>>(job);
  if (key >= all.sizes.size() || all.sizes[key] == 0) return none;
  auto& records = all.by_key[key];
  if (records == nullptr) {
    records = std::make_unique<const RecordsOf>(collect_records(all, static_cast<uint16_t>(key)));
  }
  return *records;
}

}  // namespace

const RecordsOf& records_of_kind(const Job& job, uint16_t kind) {
  return records_of<&SpeakerLog::records>(job, kind);
}

const RecordsOf& records_of_pattern(const Job& job, size_t pattern) {
  return records_of<&SpeakerLog::line_matches>(job, pattern);
}

const InitSection* init_section(const Job& job, const CommRank& rank) {
  if (rank.log < 0 || rank.section < 0) return nullptr;
  return &job.logs[rank.log].inits.all()[rank.section];
}

bool is_torn(const Job& job) {
  return std::ranges::any_of(job.logs, [](const SpeakerLog& log) { return log.torn; });
}

bool is_of_one_run(const Job& job) {
  return job.runs == 1 && std::ranges::none_of(job.processes, &Process::restarted);
}

static bool find_sub_communicators(const Job& job) {
  // Largest first.
  return std::ranges::any_of(job.communicators, [&](const Communicator& comm) {
    return comm.is_child || (comm.nranks > 0 && comm.nranks < job.communicators.front().nranks);
  });
}

bool has_sub_communicators(const Job& job) { return job.answers.of<&find_sub_communicators>(job); }

namespace {

/// By the number that `of` has of each: the place of the only one with it, or -1; of the first one
/// where `takes_first`.
template <bool takes_first = false, typename T, typename Number>
std::unordered_map<int64_t, int> places_by(const std::vector<T>& all, Number T::*of) {
  std::unordered_map<int64_t, int> places;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].*of < 0) continue;
    const auto [known, is_new] = places.try_emplace(all[i].*of, static_cast<int>(i));
    if (!is_new && !takes_first) known->second = -1;
  }
  return places;
}

std::unordered_map<int64_t, int> files_by_rank(const Job& job) {
  return places_by<true>(job.inputs, &JobInput::rank);
}

/// Without those that a table of failures lists elsewhere: lines of two jobs, whose ranks have the
/// same numbers.
std::unordered_map<int64_t, int> processes_by_rank(const Job& job) {
  std::unordered_map<int64_t, int> places = places_by(job.processes, &Process::rank);
  for (const ListedRank& row : job.listed_ranks) {
    const auto place = places.find(row.rank);
    const bool is_one = place != places.end() && place->second >= 0;
    if (!is_one || row.host.empty() || row.pid < 0) continue;
    const Process& known = job.processes[static_cast<size_t>(place->second)];
    const bool is_other =
        !known.host.empty() && known.host != row.host && known.pid >= 0 && known.pid != row.pid;
    if (is_other) places.erase(place);
  }
  return places;
}

std::unordered_map<int64_t, int> processes_by_pid(const Job& job) {
  return places_by(job.processes, &Process::pid);
}

/// What `places` has of the number; -1: nothing.
int place_of(const std::unordered_map<int64_t, int>& places, int64_t number) {
  const auto place = places.find(number);
  return place == places.end() ? -1 : place->second;
}

/// By pid, the host on which tables list it; nullopt: several.
std::unordered_map<int64_t, std::optional<std::string_view>> find_listed_hosts(const Job& job) {
  std::unordered_map<int64_t, std::optional<std::string_view>> hosts;
  for (const ListedRank& row : job.listed_ranks) {
    std::optional<std::string_view>& host = hosts.try_emplace(row.pid, "").first->second;
    if (!host || row.host == *host) continue;
    host = host->empty() ? std::optional<std::string_view>(row.host) : std::nullopt;
  }
  return hosts;
}

}  // namespace

const JobInput* file_of_rank(const Job& job, int rank) {
  const int file = place_of(job.answers.of<&files_by_rank>(job), rank);
  return file < 0 ? nullptr : &job.inputs[file];
}

int process_of_rank(const Job& job, int rank) {
  return place_of(job.answers.of<&processes_by_rank>(job), rank);
}

std::string_view listed_host(const Job& job, int64_t pid) {
  const auto& hosts = job.answers.of<&find_listed_hosts>(job);
  const auto host = hosts.find(pid);
  return pid < 0 || host == hosts.end() ? "" : host->second.value_or("");
}

int process_of_pid(const Job& job, int64_t pid) {
  return place_of(job.answers.of<&processes_by_pid>(job), pid);
}

const CommSegment& segment_of(const Job& job, const CommRank& rank) {
  return job.logs[rank.log].comms.all[rank.segment];
}

const CollectiveCalls* calls_of(const Job& job, const CommRank& rank) {
  if (rank.log < 0 || rank.segment < 0) return nullptr;
  return &calls_of(segment_of(job, rank));
}

int life_of(const std::vector<CommSegment>& all, size_t place) {
  return static_cast<int>(
      std::count_if(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(place),
                    [&](const CommSegment& other) { return other.comm == all[place].comm; }));
}

std::string_view printer_of(std::string_view line) {
  // What stands in the lines of a library: its messages' first words, or its source files.
  static constexpr std::string_view kOfi[] = {"NET/OFI", "nccl_ofi_", "nccl_net_ofi"};
  static constexpr std::string_view kSharp[] = {"sharp_plugin", "ucx_plugin", "ucx_rma_plugin",
                                                "NET/UCX"};
  static constexpr std::string_view kInspector[] = {"NCCL Inspector", "inspector_plugin"};
  static constexpr std::string_view kRccl[] = {"/hipify/", "RCCL", "MSCCL"};
  if (holds_one_of(line, kOfi)) return "aws-ofi-nccl";
  if (holds_one_of(line, kSharp)) return "nccl-rdma-sharp-plugins";
  if (holds_one_of(line, kInspector)) return "NCCL inspector";
  return holds_one_of(line, kRccl) ? "RCCL" : "";
}

bool is_rccl(const Job& job) {
  const auto is_printed = [&](const Kind& kind) {
    return kind.library == Library::Rccl && !records_of_kind(job, kind.index).records.empty();
  };
  const RecordsOf& versions = records_of_kind(job, kKindIndex<NcclVersion>);
  return std::ranges::any_of(all_kinds(), is_printed) ||
         std::ranges::any_of(versions.texts, [&](uint32_t text) {
           const Record record = versions.records[text].record();
           return record.rest->text().find("RCCL version") != std::string_view::npos;
         });
}

}  // namespace ncclog

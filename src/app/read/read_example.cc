#include "app/read/read_example.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "host/read_host.h"
#include "import/import.h"
#include "model/derive/build_job.h"
#include "model/ledger/call_ledger.h"
#include "model/shard/shard.h"

namespace ncclog {
namespace {

/// What an example holds often, it writes once: so many more like the last one follow, each with
/// the next number, and so much later.
///
///   "entries":[{…,"collective_seq_id":1,…}],"repeated":150,"every_ms":40}
int64_t repetition(std::string_view line, std::string_view key) {
  constexpr int64_t kMost = 10000;
  const size_t at = line.rfind(key);
  if (at == line.npos) return 0;
  const std::string_view value = line.substr(at + key.size());
  const auto number = parse_int(value.substr(0, value.find_first_not_of("0123456789")));
  return std::min(number.value_or(0), kMost);
}

constexpr std::string_view kRepeated = "\"repeated\":";
constexpr std::string_view kEveryMs = "\"every_ms\":";

/// Adds the dump that `line` is; false if it is none.
bool add_dump(std::string_view line, size_t number, Shard& shard) {
  Imported<FlightRecorderDump> import =
      import_flight_recorder(line, fmt::format("nccl_trace_rank_{}", number));
  if (!import.problem.empty()) return false;
  import.value.where.unit = 0;
  const int64_t times = repetition(line, kRepeated);
  for (int64_t i = 0; i < times && !import.value.entries.empty(); ++i) {
    FlightRecorderEntry next = import.value.entries.back();
    ++next.collective_seq_id;
    next.time_created_ns += repetition(line, kEveryMs) * 1'000'000;
    import.value.entries.push_back(std::move(next));
  }
  shard.add(std::move(import.value));
  return true;
}

/// Adds what the Inspector measured of one rank, if `line` is that; false if it is not.
bool add_inspected(std::string_view line, Shard& shard) {
  auto import = import_inspector(line);
  if (!import.problem.empty()) return false;
  InspectedRank& rank = import.value.front();
  const int64_t times = repetition(line, kRepeated);
  for (int64_t i = 0; i < times; ++i) {
    InspectedCall next = rank.calls.back();
    ++next.number;
    next.started += static_cast<double>(repetition(line, kEveryMs) * 1000);
    rank.calls.push_back(next);
  }
  shard.add(std::move(rank));
  return true;
}

/// Adds the answer of RAS that `line` is; false if it is none.
bool add_ras(std::string_view line, Shard& shard) {
  auto import = import_ras_json(line);
  for (RasReport& report : import.value) shard.add(std::move(report));
  return import.problem.empty();
}

/// Whether `line` says what the user saw: "--outcome hung".
bool is_outcome(std::string_view line, std::optional<StatedOutcome>& stated) {
  constexpr std::string_view kFlag = "--outcome ";
  if (!line.starts_with(kFlag)) return false;
  const auto names = words_of_enum<StatedOutcome>();
  const auto name = std::ranges::find(names, trim(line.substr(kFlag.size())));
  if (name == names.end()) return false;
  stated = static_cast<StatedOutcome>(name - names.begin());
  return true;
}

/// Adds the reports of records that stand behind each other. Rules are tried without some of an
/// example's lines, too: what is no record then says nothing.
void add_host_records(std::string_view records, Job& job) {
  while (!records.empty()) {
    const size_t next = records.find(kHostRecordHead, kHostRecordHead.size());
    try {
      HostTree tree = HostTree::recorded(records.substr(0, next), "the example");
      job.host_reports.push_back(read_host(tree, "the example"));
    } catch (const Error&) {
      // What is no record tells nothing of a host.
    }
    records = records.substr(std::min(next, records.size()));
  }
}

}  // namespace

Job read_example(std::string_view example, const LineMatcher& matcher) {
  const size_t records = std::min(example.find(kHostRecordHead), example.size());
  const std::string_view log = example.substr(0, records);
  Shard companions;
  bool has_companions = false;
  std::string lines;
  size_t count = 0;  ///< Of dumps.
  std::optional<StatedOutcome> stated;
  for (const std::string_view line : split(log, '\n')) {
    const bool may_be_document = trim(line).starts_with('{');
    if (may_be_document && add_dump(trim(line), count, companions)) {
      ++count;
    } else if (may_be_document &&
               (add_inspected(trim(line), companions) || add_ras(trim(line), companions))) {
      has_companions = true;
    } else if (!is_outcome(trim(line), stated)) {
      lines += line;
      lines += '\n';
    }
  }
  if (log.find("LnkSta:") != log.npos) {
    for (PciListing& listing : import_lspci(log, 0).value) {
      companions.add(std::move(listing));
      has_companions = true;
    }
  }
  constexpr std::string_view kOfCounters[] = {"counters",      "Errors: ", "<inactive>", "GPU 0000",
                                              "Power Limit  ", "gpuId ",   "rx_prio0_"};
  if (holds_one_of(log, kOfCounters)) {
    for (PortCounter& counter : import_counters(log, 0, "log.txt").value) {
      companions.add(std::move(counter));
      has_companions = true;
    }
  }
  Job job;
  if (count == 0 && !has_companions) {
    job = job_from_text(stated ? lines : log, matcher);
  } else {
    Shard shard = read_text(lines, matcher);
    shard.merge(std::move(companions));
    JobInput input{.path = "log.txt", .format = "plain"};
    input.bytes = input.text_bytes = lines.size();
    input.lines = shard.losses.lines;
    const LossTable losses = shard.losses;
    job = build_job(std::move(shard), {std::move(input)}, {JobUnit{}}, losses);
  }
  number_differences(job, [&](const std::vector<SourceRef>& places) {
    const std::vector<std::string_view> rows =
        split(count > 0 || stated || has_companions ? lines : log, '\n');
    std::map<SourceRef, std::string> texts;
    for (const SourceRef where : places) {
      if (where.line > 0 && where.line <= rows.size()) texts.emplace(where, rows[where.line - 1]);
    }
    return texts;
  });
  job.stated = stated;
  add_host_records(example.substr(records), job);
  return job;
}

}  // namespace ncclog

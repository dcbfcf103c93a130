#include "model/derive/build_job.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <unordered_map>
#include <utility>

#include "log/event.h"
#include "model/derive/steps.h"
#include "model/derive/writers.h"
#include "model/ledger/call_ledger.h"
#include "model/shard/read_log.h"

namespace ncclog {
namespace {

using Logs = std::vector<SpeakerLog>;

constexpr uint64_t kFewLines = 2;               ///< As many give a name that is none.
constexpr uint64_t kManyLines = 8 * kFewLines;  ///< More than these give only a real one.

/// For each log of `same` (of one pid) the logs, in order, whose host its own may be a torn form
/// of: it lost its beginning, or stands behind what is left of another record ("Sockb"). Ends of
/// names are looked up: containers give one pid to processes of thousands of hosts.
std::map<size_t, std::set<size_t>> torn_forms(const Logs& logs, const std::vector<size_t>& same,
                                              bool any_torn) {
  std::unordered_map<std::string_view, size_t> by_host;
  for (const size_t i : same) by_host.emplace(logs[i].speaker.host, i);
  std::map<size_t, std::set<size_t>> wholes;
  for (const size_t i : same) {
    const std::string_view host = logs[i].speaker.host;
    // What was cut off inside its own name goes on with its beginning: "node-anode:41:41".
    for (size_t length = host.size() - 1; length > host.size() / 2; --length) {
      const auto other = by_host.find(host.substr(0, length));
      const bool is_doubled = other != by_host.end() && host.starts_with(host.substr(length)) &&
                              logs[other->second].lines > kManyLines;
      if (is_doubled && logs[i].lines <= kFewLines) wholes[i].insert(other->second);
    }
    std::string_view end = host;
    for (end.remove_prefix(1); !end.empty(); end.remove_prefix(1)) {
      const auto other = by_host.find(end);
      if (other == by_host.end()) continue;
      wholes[other->second].insert(i);
      // What was cut off before it lost its own process: "node-node-a:41:41".
      const uint64_t lines = logs[other->second].lines;
      const bool is_doubled = end.starts_with(host.substr(0, host.size() - end.size()));
      const bool is_rare = (any_torn && logs[i].lines <= kFewLines && lines > kManyLines) ||
                           (is_doubled && lines > 8 * logs[i].lines && lines > kManyLines);
      if (logs[i].torn || is_rare) wholes[i].insert(other->second);
    }
  }
  return wholes;
}

/// Joins two logs of one process; their lines may be mixed.
void append_torn(SpeakerLog& whole, SpeakerLog&& torn) {
  const SourceRef last = whole.last;
  std::string last_text = whole.last_text;
  const bool ends_whole = torn.last < last;
  const SourceRef first = std::min(whole.first, torn.first);
  SharedTrie trie;
  whole.merge(trie, std::move(torn));
  whole.first = first;
  if (ends_whole) {
    whole.last = last;
    whole.last_text = std::move(last_text);
  }
  whole.torn = true;
}

/// True if bytes were cut out of `known`, or off its end: "g1", "gpu-no" for "gpu-node-1".
bool is_cut_down(std::string_view host, std::string_view known) {
  if (host.size() >= known.size()) return false;
  size_t same = 0;
  while (same < host.size() && host[same] == known[same]) ++same;
  return same > 0 && known.ends_with(host.substr(same));
}

/// True if hardly any line names the process and another one of its pid, of those in `many`, says
/// much more: containers share pids, torn lines share them too. Where others are torn, its host has
/// to be what is left of the other one's.
bool is_splinter(const SpeakerLog& log, const Logs& logs, const std::vector<size_t>& many,
                 bool any_torn) {
  if (log.lines > kFewLines) return false;
  if (log.torn) return !many.empty();
  return any_torn && std::ranges::any_of(many, [&](size_t other) {
           return is_cut_down(log.speaker.host, logs[other].speaker.host);
         });
}

/// Hosts that more than a few lines name; none where there are so many that looking for torn ones
/// would take long.
std::set<std::string_view> usual_hosts(const Logs& logs) {
  constexpr size_t kMost = 64;
  std::set<std::string_view> hosts;
  for (const SpeakerLog& log : logs) {
    if (log.lines > kFewLines && log.speaker.pid >= 0) hosts.insert(log.speaker.host);
  }
  return hosts.size() > kMost ? std::set<std::string_view>{} : hosts;
}

/// True if the end of `known` stands in `host` before its beginning: "pu-node-01gp".
bool is_turned_round(std::string_view host, std::string_view known) {
  for (size_t cut = 1; cut <= known.size() / 2; ++cut) {
    const std::string_view rest = known.substr(cut);
    const size_t at = host.find(rest);
    if (at == host.npos || host.starts_with(known[0])) continue;
    const std::string_view behind = host.substr(at + rest.size());
    if (!behind.empty() && known.starts_with(behind)) return true;
  }
  return false;
}

/// True if hardly any line names the process, on a host whose name is a usual one with something
/// inside or in front, or turned round: "gpugpu-no-node-01", "959gpu-node-01", "node-01gpu-".
bool is_on_torn_host(const SpeakerLog& log, const std::set<std::string_view>& hosts) {
  const std::string_view own = log.speaker.host;
  if (log.lines > kFewLines || hosts.contains(own)) return false;
  return std::ranges::any_of(hosts, [&](std::string_view host) {
    return is_interrupted(own, host) || own.ends_with(host) || own.starts_with(host) ||
           is_turned_round(own, host);
  });
}

/// True if a voice without host and pid is named by hardly any line, none of which says anything:
/// "6: c10d::…" is the rest of "frame #6: c10d::…", not a launcher's sixth task.
bool is_stray_voice(const SpeakerLog& log) {
  const Speaker& speaker = log.speaker;
  const bool is_process = !speaker.host.empty() && speaker.pid >= 0;
  const bool is_named = speaker.rank >= 0 || !speaker.host.empty() || speaker.pid >= 0;
  return !is_process && is_named && log.lines <= kFewLines && log.records.empty() &&
         log.line_matches.empty() && log.unrecognised.empty() && log.comms.all.empty() &&
         log.connections.all.empty();
}

}  // namespace

/// True if `later` says once more what the lines of `earlier` say. An id is given to one
/// communicator, and that is neither begun nor completed, nor ended, twice.
static bool repeats(const CommSegment& earlier, const CommSegment& later) {
  const bool has_calls = later.calls || later.traces;
  const bool only_ends = later.ended.is_known() && !later.started.is_known() &&
                         !later.completed.is_known() && later.nnodes < 0 && !has_calls;
  const bool same_id = later.comm_id == earlier.comm_id || (only_ends && later.comm_id == 0);
  const bool same_rank = later.rank == earlier.rank || later.rank < 0 || earlier.rank < 0;
  return earlier.comm_id != 0 && same_id && same_rank && !(has_calls && earlier.ended.is_known());
}

/// Joins each segment with the one before it that it repeats. Gives the new place of each.
static std::vector<int> join_repeated(std::vector<CommSegment>& segments) {
  using Segment = CommSegment;
  std::unordered_map<uint64_t, size_t> latest;  // By pointer, into `kept`.
  std::vector<int> places;
  std::vector<Segment> kept;
  for (Segment& segment : segments) {
    const auto [known, is_new] = latest.try_emplace(segment.comm, kept.size());
    if (!is_new && repeats(kept[known->second], segment)) {
      Segment& earlier = kept[known->second];
      fill_unknown(earlier, segment, &Segment::rank, &Segment::started, &Segment::completed,
                   &Segment::announced, &Segment::nnodes, &Segment::local_ranks, &Segment::ended,
                   &Segment::end);
      if (segment.calls) earlier.calls.change().merge(*segment.calls);
      if (segment.traces) earlier.traces.change().merge(*segment.traces);
    } else {
      known->second = kept.size();
      kept.push_back(std::move(segment));
    }
    places.push_back(static_cast<int>(known->second));
  }
  segments = std::move(kept);
  return places;
}

void join_repeated_segments(std::vector<SpeakerLog>& logs) {
  for (SpeakerLog& log : logs) {
    if (log.comms.all.size() < 2) continue;
    std::vector<SourceRef> begins;
    for (const CommSegment& segment : log.comms.all) begins.push_back(segment.started);
    const std::vector<int> places = join_repeated(log.comms.all);
    if (log.comms.all.size() == places.size()) continue;
    if (log.calls) log.calls.change().tape.renumber(places);
    if (log.traces) log.traces.change().tape.renumber(places);
    // A line between the two is one of those that came twice.
    for (size_t i = 0; i < places.size(); ++i) {
      const SourceRef first = log.comms.all[places[i]].started;
      std::erase_if(log.starts,
                    [&](SourceRef start) { return first < start && start < begins[i]; });
    }
  }
}

void drop_unplaced_segments(std::vector<SpeakerLog>& logs) {
  // Old releases print neither the id nor the beginning: who is complete is as good as placed.
  const bool are_told = std::ranges::any_of(logs, [](const SpeakerLog& log) {
    return std::ranges::any_of(log.comms.all, [](const CommSegment& segment) {
      return segment.comm_id != 0 || segment.started.line != 0;
    });
  });
  for (SpeakerLog& log : logs) {
    if (!log.torn) continue;
    std::vector<int> places;
    std::vector<CommSegment> placed;
    for (CommSegment& segment : log.comms.all) {
      // If not, a line that tells which communicator it is may be among the lost ones.
      const SourceRef begin = are_told ? segment.started : segment.completed;
      const bool stays = segment.comm_id != 0 || (begin.line != 0 && segment.parent == 0);
      places.push_back(stays ? static_cast<int>(placed.size()) : -1);
      (stays ? placed : log.unplaced).push_back(std::move(segment));
    }
    log.comms.all = std::move(placed);
    if (log.calls) log.calls.change().tape.renumber(places);
    if (log.traces) log.traces.change().tape.renumber(places);
  }
}

void join_torn_speakers(std::vector<SpeakerLog>& logs) {
  const bool any_torn = std::ranges::any_of(logs, [](const SpeakerLog& log) { return log.torn; });
  std::map<int64_t, std::vector<size_t>> by_pid;
  for (size_t i = 0; i < logs.size(); ++i) {
    const Speaker& speaker = logs[i].speaker;
    if (speaker.pid >= 0 && !speaker.host.empty()) by_pid[speaker.pid].push_back(i);
  }
  for (const auto& [pid, same] : by_pid) {
    if (same.size() < 2) continue;
    for (const auto& [torn, wholes] : torn_forms(logs, same, any_torn)) {
      const auto whole = std::ranges::find_if(
          wholes, [&, lines = logs[torn].lines](size_t i) { return lines < logs[i].lines; });
      if (whole == wholes.end()) continue;
      append_torn(logs[*whole], std::move(logs[torn]));
      // No lines: gone, once all names have been looked at.
      logs[torn].lines = 0;
    }
  }
  const std::set<std::string_view> hosts = usual_hosts(logs);
  for (const auto& [pid, same] : by_pid) {
    std::vector<size_t> many;
    std::ranges::copy_if(same, std::back_inserter(many),
                         [&](size_t i) { return logs[i].lines > kManyLines; });
    for (const size_t i : same) {
      const bool is_torn_host = any_torn && is_on_torn_host(logs[i], hosts);
      if (is_splinter(logs[i], logs, many, any_torn) || is_torn_host) logs[i].lines = 0;
    }
  }
  std::erase_if(logs, [](const SpeakerLog& log) { return log.lines == 0; });
  const bool others_say_much =
      std::ranges::any_of(logs, [](const SpeakerLog& log) { return log.lines > kManyLines; });
  if (others_say_much) std::erase_if(logs, is_stray_voice);
}

namespace {

/// What a record says of something that processes are compared by.
struct Stated {
  std::string what;  ///< "NCCL_IB_HCA"; a kind's number where there is one such thing.
  std::string value;

  auto operator<=>(const Stated&) const = default;
};

constexpr uint16_t kKinds[] = {kKindIndex<EnvSet>, kKindIndex<NetworkSelected>,
                               kKindIndex<NcclVersion>};

Stated stated(const Record& record) {
  if (record.kind() == kKindIndex<EnvSet>) {
    const auto set = read_message<EnvSet>(parse_message(record));
    return {std::string(set.name), std::string(set.value)};
  }
  return {std::to_string(record.kind()), std::string(parse_record(record).header.message)};
}

/// How many logs give each value of each thing.
using Votes = std::map<std::string, std::map<std::string, size_t>>;

Votes count_votes(const std::vector<SpeakerLog>& logs) {
  Votes votes;
  for (const SpeakerLog& log : logs) {
    std::set<Stated> own;
    for (const uint16_t kind : kKinds) {
      for (const Record& record : log.records.kept(kind)) own.insert(stated(record));
    }
    for (const auto& [what, value] : own) ++votes[what][value];
  }
  return votes;
}

bool is_contradicted(const Record& record, const Votes& votes) {
  const auto [what, value] = stated(record);
  const auto& values = votes.at(what);
  if (values.at(value) > 1) return false;
  if (values.size() > 1) return true;
  // What nobody sets: "3).", "0.0, type NVL/PHB,", "[0.".
  constexpr std::string_view kEnds = ".,)]>";
  return record.kind() == kKindIndex<EnvSet> && !value.empty() &&
         (kEnds.find(value.back()) != kEnds.npos || value.front() == '[');
}

}  // namespace

void drop_contradicted_values(std::vector<SpeakerLog>& logs) {
  const bool any_torn = std::ranges::any_of(logs, [](const SpeakerLog& log) { return log.torn; });
  if (!any_torn || logs.size() < 2) return;
  const Votes votes = count_votes(logs);
  SharedTrie trie;
  for (SpeakerLog& log : logs) {
    log.records.keep_only(trie, [&](uint16_t kind, const Record& record) {
      const bool is_compared = std::ranges::find(kKinds, kind) != std::end(kKinds);
      // A whole log may have taken the rest of a torn one's record in: "Using network Sockedone".
      const bool is_in_doubt = is_compared && (log.torn || kind == kKindIndex<NetworkSelected>);
      return !is_in_doubt || !is_contradicted(record, votes);
    });
  }
}

int64_t input_of(const Job& job, SourceRef where) {
  const JobUnit* unit = where.line == 0 ? nullptr : unit_of(job, where);
  return unit == nullptr ? -1 : unit->input;
}

/// As far as the calls that are kept show them; nothing is read again.
static void find_kept_differences(Job& job) { find_differences(job, {}); }

void build_parts(Job& job) {
  constexpr void (*kStages[])(Job&) = {
      build_processes,  build_communicators,   build_runs,       build_flight_recorders,
      mark_short_logs,  find_kept_differences, build_network,    build_graphs,
      build_topologies, build_kernel_events,   build_nccl_tests, build_summary};
  for (const auto stage : kStages) {
    stage(job);
    job.answers = {};  // Each stage asks about the job as the ones before it left it.
  }
}

/// Puts what is asked of all ranks where that of their neighbours is. They came up in any order, and
/// whoever goes through all of them would wait for each.
static void put_side_by_side(std::vector<SpeakerLog>& logs) {
  // What moved away is kept to the end, so that nothing takes its place.
  const auto for_all = [&](auto move_away) {
    std::vector<decltype(move_away(logs.front()))> left;
    left.reserve(logs.size());
    for (SpeakerLog& log : logs) left.push_back(move_away(log));
  };
  for_all([](SpeakerLog& log) {
    return std::exchange(log.records, RecordLists(std::as_const(log.records)));
  });
  for_all([](SpeakerLog& log) {
    std::vector<CommSegment>& all = log.comms.all;
    std::vector<CommSegment> moved(std::move_iterator(all.begin()), std::move_iterator(all.end()));
    return std::exchange(all, std::move(moved));
  });
  for_all([](SpeakerLog& log) { return log.inits.move_away(); });
}

Job build_job(Shard&& shard, std::vector<JobInput> inputs, std::vector<JobUnit> units,
              const LossTable& losses) {
  Job job;
  job.inputs = std::move(inputs);
  job.units = std::move(units);
  job.losses = losses;
  job.unknown = std::move(shard.unknown);
  job.flight_recorders = std::move(shard.flight_recorders);
  job.inspected = std::move(shard.inspected);
  // The answers in files of their own and those among the lines.
  job.ras_reports = std::move(shard.ras_reports);
  std::ranges::move(read_ras_text(shard.ras_lines), std::back_inserter(job.ras_reports));
  std::ranges::stable_sort(job.ras_reports, {}, &RasReport::where);
  const auto is_timed = [](const RasReport& report) { return !report.timestamp.empty(); };
  if (std::ranges::all_of(job.ras_reports, is_timed)) {
    std::ranges::stable_sort(job.ras_reports, {}, &RasReport::timestamp);
  }
  job.topologies = std::move(shard.topologies);
  job.pci_devices = std::move(shard.pci_devices);
  job.port_counters = std::move(shard.port_counters);
  job.nccl_tests = std::move(shard.nccl_tests);
  job.logs.reserve(shard.speakers.size());
  while (!shard.speakers.empty()) {
    const auto node = shard.speakers.extract(shard.speakers.begin());
    SpeakerLog& log = node.mapped();
    log.speaker = node.key();
    log.fit();
    log.settle();
    const int64_t input = input_of(job, log.first);
    if (log.speaker.input >= 0 && input >= 0) log.speaker.input = input;
    for (const auto& [kind, list] : log.records) job.losses.add(Loss::RecordsDropped, list.full);
    job.logs.push_back(std::move(log));
  }
  put_side_by_side(job.logs);
  for (auto& [number, clock] : shard.clocks) {
    const JobUnit* unit = unit_of(job, {clock.unit, 1});
    if (unit == nullptr) continue;
    clock.number = number;
    clock.input = unit->input;
    job.clocks.push_back(std::move(clock));
  }
  // Before anything is built of them: a torn name would become a process.
  join_torn_speakers(job.logs);
  join_repeated_segments(job.logs);
  build_writers(job, shard.writers);
  drop_unplaced_segments(job.logs);
  drop_contradicted_values(job.logs);
  for (SpeakerLog& log : job.logs) {
    // Nothing is added to a tape any more; until here stretches were still joined.
    if (log.calls) log.calls.change().tape.finish();
    if (log.traces) log.traces.change().tape.finish();
  }
  build_parts(job);
  return job;
}

Shard read_text(std::string_view text, const LineMatcher& matcher) {
  LogReader reader(0, 0, matcher);
  Line line{{}, 1, 0, false};
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of("\r\n"), text.size());
    const bool crlf = text.substr(end).starts_with("\r\n");
    const bool ends_line = crlf || end == text.size() || text[end] == '\n';
    line.text = text.substr(0, end);
    reader.add(line);
    const size_t taken = std::min(end + (crlf ? 2 : 1), text.size());
    line.offset += taken;
    line.number += ends_line ? 1 : 0;
    text.remove_prefix(taken);
  }
  return reader.finish();
}

Job job_from_text(std::string_view text, const LineMatcher& matcher, std::string path) {
  Shard shard = read_text(text, matcher);
  JobInput input;
  input.path = std::move(path);
  input.format = "plain";
  input.bytes = input.text_bytes = text.size();
  input.lines = shard.losses.lines;
  const LossTable losses = shard.losses;
  return build_job(std::move(shard), {std::move(input)}, {JobUnit{}}, losses);
}

}  // namespace ncclog

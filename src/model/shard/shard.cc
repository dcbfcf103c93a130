#include "model/shard/shard.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "log/known_messages.h"
#include "log/line/words.h"
#include "log/messages.h"
#include "log/named_failure.h"
#include "log/stack_lines.h"
#include "log/wording/other_programs.h"
#include "model/record_trie.h"
#include "model/shard/call_cache.h"
#include "model/shard/line_cache.h"

namespace ncclog {
namespace {

/// nccl-tests names in its own words who failed: ".. node-a pid 4242: Test failure common.cu:891",
/// and without the pid "node-a: Test NCCL failure common.cu:1005 '…'". Empty and -1 in all others.
std::pair<std::string_view, int64_t> process_in(const Message& message) {
  if (message.kind == nullptr || message.kind->library != Library::NcclTests) return {{}, -1};
  switch (message.kind->index) {
    case kKindIndex<NcclTestsTrace>: {
      const auto trace = read_message<NcclTestsTrace>(message);
      return {trace.host, trace.pid};
    }
    case kKindIndex<NcclTestsFailure>:
      return {read_message<NcclTestsFailure>(message).host, -1};
    case kKindIndex<NcclTestsTimeout>:
      return {read_message<NcclTestsTimeout>(message).host, -1};
    default:
      return {{}, -1};
  }
}

Speaker name_of(const Event& event, uint64_t input) {
  const Header& header = event.header;
  Speaker speaker;
  const auto [host, pid] = process_in(event.message);
  if (pid >= 0) {
    // A launcher's number in front says less.
    speaker.host = host;
    speaker.pid = pid;
  } else if (!header.host.empty() && header.pid >= 0) {
    speaker.host = header.host;
    speaker.pid = header.pid;
  } else if (header.prefix.rank >= 0) {
    speaker.rank = header.prefix.rank;
  } else {
    // Host and pid together name a process as NCCL does; a pod's name beside Ray's pid does not.
    speaker.pid = header.prefix.pid;
    if (speaker.pid < 0) speaker.host = host.empty() ? header.prefix.host : host;
    speaker.local_rank = header.prefix.local_rank;
    speaker.input = static_cast<int64_t>(input);
  }
  return speaker;
}

/// A line, and where its input stands.
struct Place {
  SourceRef where;
  uint64_t input = 0;
  uint64_t markers = 0;               ///< Steps that were printed into it so far, in this stretch.
  const CachedLine* known = nullptr;  ///< What is known of it; nullptr: nothing.
};

/// What stands before the host: times, launchers' prefixes.
std::string_view stamp_of(std::string_view text, const Header& header) {
  const std::string_view begin = header.host.empty() ? header.message : header.host;
  return text.substr(0, static_cast<size_t>(begin.data() - text.data()));
}

void add_call(SpeakerLog& log, const Place& place, std::string_view stamp,
              const PrintedCall& call) {
  const int segment = log.comms.add_call(place.where, stamp, call);
  (call.is_trace ? log.traces : log.calls)
      .change()
      .add(place.input, place.markers, segment, call.call);
}

/// Kinds that are summed up as they come, because a log holds millions of them.
/// True if nothing else of the line is kept.
bool add_to_ledgers(SpeakerLog& log, const Place& place, std::string_view text,
                    const Event& event) {
  const SourceRef where = place.where;
  const Message& message = event.message;
  switch (message.kind->index) {
    case kKindIndex<CollectiveCall>:
    case kKindIndex<CallTrace>:
      if (const auto call = read_call(event)) {
        add_call(log, place, stamp_of(text, event.header), *call);
        return true;
      }
      break;
    case kKindIndex<ChannelConnected>: {
      using Channel = ChannelConnected;
      add_channel(log.connections, where,
                  read_members<Channel, &Channel::channel, &Channel::src_rank, &Channel::dst_rank,
                               &Channel::path>(message));
      return true;
    }
    case kKindIndex<BootstrapInterface>:
      if (log.starts.size() < SpeakerLog::kMaxStarts) log.starts.push_back(where);
      break;
    case kKindIndex<CommInit>:
      log.comms.add(where, read_message<CommInit>(message));
      break;
    case kKindIndex<CommAnnounced>:
      log.comms.add(where, read_message<CommAnnounced>(message));
      break;
    case kKindIndex<CommEnd>:
      log.comms.add(where, read_message<CommEnd>(message));
      break;
    case kKindIndex<CallInit>:
      log.comms.add(where, read_message<CallInit>(message));
      break;
    case kKindIndex<AllocTraced>: {
      const auto traced = read_message<AllocTraced>(message);
      const auto bytes = static_cast<uint64_t>(traced.bytes);
      if (traced.bytes >= 0) log.allocations.change().add(traced.what, {1, bytes});
      break;
    }
    case kKindIndex<TuningChoice>:
      add_tuning(log.tuning.change(), read_message<TuningChoice>(message));
      break;
    case kKindIndex<CommLayout>:
      log.comms.add(read_message<CommLayout>(message));
      break;
    default:
      break;
  }
  return false;
}

/// Keeps the line if it is one of an ncclras answer.
void add_ras_line(std::deque<OwnedRecord>& kept, SourceRef where, const Event& event) {
  constexpr size_t kMaxTextBytes = 512;  // NCCL's own lines are far shorter.
  if (event.message.kind == nullptr || event.message.kind->library != Library::RasClient) return;
  if (kept.size() == Shard::kMaxRasLines) kept.pop_front();
  kept.push_back(make_record(where, trim(event.header.message).substr(0, kMaxTextBytes)));
}

/// Notes who said it, but for its text.
void count_line(SpeakerLog& log, SourceRef where) {
  if (log.lines++ == 0) log.first = where;
  log.last = where;
}

void note_tasks(SpeakerLog& log, const Prefix& prefix) {
  SpeakerLog::note_task(log.task_rank, prefix.rank);
  SpeakerLog::note_task(log.task_local_rank, prefix.local_rank);
}

/// Of lines of these kinds the last one is kept, too.
bool names_failure(uint16_t kind) {
  return kind == kKindIndex<PythonException> || kind == kKindIndex<NcclException> ||
         kind == kKindIndex<CudaFailure> || kind == kKindIndex<CppWhat>;
}

void keep_line(SpeakerLog& log, const Place& place, std::string_view text, const Event& event,
               const std::vector<int>& matched, Shard& shard, TextCache& texts, SharedTrie& trie) {
  const RecordLimit& limit = shard.limit;
  const SourceRef where = place.where;
  const bool recognised = event.fate == LineFate::Recognised;
  if (recognised) log.subsystems.set(static_cast<size_t>(event.message.kind->subsystem));
  const bool summed_up = recognised && add_to_ledgers(log, place, text, event);
  if (recognised && !summed_up) log.inits.add(where, text, event, shard.tables);
  const uint16_t kind = recognised ? event.message.kind->index : Record::kNoKind;
  // Its table is whole.
  if (kind == kKindIndex<InitTimings>) log.inits.share_tables(shard.tables);
  const bool is_kept =
      recognised && !summed_up && (place.known != nullptr || !log.records.add_to_full(trie, kind));
  // Most lines of a long log end here; hashing them would cost as much as reading them.
  const bool is_of_tests = recognised && (event.message.kind->library == Library::NcclTests ||
                                          event.message.kind->library == Library::Benchmark);
  const bool is_of_dump = kind == kKindIndex<ProxyDumpMark> || kind == kKindIndex<ProxyOp>;
  const bool is_ordered = is_of_tests || is_of_dump;
  if (matched.empty() && !is_kept && !is_ordered && event.fate != LineFate::Unrecognised) return;
  const CachedLine* known = place.known;
  const uint64_t hash = known != nullptr ? known->hash : message_hash(event);
  const auto record = [&] {
    if (known == nullptr) return texts.record(where, text, event, hash);
    if (known->rest != nullptr) return OwnedRecord{where, known->head, known->rest};
    return OwnedRecord{where, known->head,
                       make_text(event.header.message, hash, event.message.wording)};
  };
  Record line{.where = where};
  if (known != nullptr) line = {where, known->head, known->rest};
  for (const int pattern : matched) {
    log.line_matches.add(trie, static_cast<uint16_t>(pattern), line, hash, record, limit.most);
  }
  if (event.fate == LineFate::Unrecognised) {
    log.unrecognised.add(trie, Record::kNoKind, line, hash, record, limit.most);
  }
  // Lines of benchmarks repeat themselves from run to run, and their order tells the runs apart.
  if (is_of_tests) log.benchmarks.change().add(kind, record);
  if (is_of_dump) log.proxy_dumps.change().add(kind, record);
  if (!is_kept) return;
  if (names_failure(kind)) log.last_failure = record();
  log.records.add(trie, kind, line, hash, record, limit.of(kind));
}

}  // namespace

/// A row that may have lost the end of its last number, or a name that may be the beginning of an
/// exception's, as where a file was copied in the middle.
bool is_cut_off(const Line& line, const Event& event) {
  if (!line.cut || event.fate != LineFate::Recognised) return false;
  if (event.message.kind->index == kKindIndex<PythonException>) {
    const auto said = read_message<PythonException>(event.message);
    return said.message.empty() && std::ranges::none_of(listed_words("exception"), [&](auto end) {
             return said.type.ends_with(end);
           });
  }
  const Library library = event.message.kind->library;
  if (library != Library::NcclTests && library != Library::Benchmark) return false;
  const std::string_view text = trim(line.text);
  return !text.empty() && (is_digit(text.back()) || text.back() == '.') && !text.ends_with(" 0");
}

/// The log of the process that the line names, if that wrote lately.
SpeakerLog* ShardWriter::recent_log(const Header& header) {
  const Recent& known = recent(header.pid);
  return known.pid == header.pid && known.host == header.host ? known.log : nullptr;
}

SpeakerLog& ShardWriter::speaker_of(const Event& event) {
  const Header& header = event.header;
  if (header.host.empty() || header.pid < 0) return shard_.speakers[name_of(event, input_)];
  if (SpeakerLog* const known = recent_log(header)) return *known;
  // Mostly they come in their order.
  auto& all = shard_.speakers;
  SpeakerLog& log = all.try_emplace(all.end(), name_of(event, input_))->second;
  if (shard_.speakers.size() > recent_.size()) recent_ = std::vector<Recent>(4 * recent_.size());
  recent(header.pid) = {std::string(header.host), header.pid, &log};
  return log;
}

void ShardWriter::count(LineFate fate, uint64_t lines) {
  // In the order of the enum.
  constexpr uint64_t LossTable::*kCounts[] = {&LossTable::recognised, &LossTable::unrecognised,
                                              &LossTable::foreign, &LossTable::unreadable};
  shard_.losses.lines += lines;
  shard_.losses.*kCounts[static_cast<size_t>(fate)] += lines;
}

void ShardWriter::add(const Line& line, const Event& event, int lines,
                      const std::vector<int>& matched) {
  count(event.fate, static_cast<uint64_t>(lines));
  const bool says_something = !event.header.message.empty() || !matched.empty();
  if (event.fate == LineFate::Unreadable || !says_something) return;
  const SourceRef where{unit_, line.number};
  const bool is_error = event.fate == LineFate::Foreign &&
                        (looks_like_error(line.text) || named_failure_in(line.text) != nullptr);
  if (is_error) shard_.losses.add(Loss::ErrorUnknown);
  if (event.fate == LineFate::Unrecognised || is_error)
    count_unknown(shard_.unknown, where, line.text, event);
  add_ras_line(shard_.ras_lines, where, event);
  SpeakerLog& log = speaker_of(event);
  if (event.header.repeated > 1) {
    shard_.losses.add(Loss::LineLeftOut, static_cast<uint64_t>(event.header.repeated) - 1);
  }
  if (!event.header.host.empty() && event.header.pid >= 0) {
    shard_.writers[unit_].add(event.header.host, event.header.pid);
  }
  count_line(log, where);
  note_tasks(log, event.header.prefix);
  if (is_stack_line(line.text, event.header)) {
    log.add_stack_line(texts_.line(where, line.text), shard_.limit);
  }
  if (viewed_ == &log) settle_last_view();
  log.last_text.assign(line.text.substr(0, Record::kMaxTextBytes));
  // An NCCL line that begins with its host carries no time, and says no step.
  const bool is_bare = event.header.level != Level::None && !event.header.host.empty() &&
                       event.header.host.data() == line.text.data();
  if (!is_bare) pulse().add(where, line.text);
  if (event.header.level == Level::None) note_output(where, line.text);
  if (event.message.kind != nullptr) note_end(where, line.text, event);
  note_markers(where, line.text, event);
  if (is_cut_off(line, event)) return;
  keep_line(log, {where, input_, markers_seen_}, line.text, event, matched, shard_, texts_, trie_);
  keep_limits();
}

void ShardWriter::add(std::span<const CachedCallLine> lines, uint64_t number) {
  uint64_t counted = lines.size();
  for (const CachedCallLine& line : lines) {
    if (!add_again(line, number) && !add_other(line, number)) {
      add_first(line, number);
      --counted;
    }
    ++number;
  }
  shard_.losses.lines += counted;
  shard_.losses.recognised += counted;
}

/// Adds a known line, but for the line counts; false if it is not known where its like belongs.
[[gnu::always_inline]] inline bool ShardWriter::add_again(const CachedCallLine& line,
                                                          uint64_t number) {
  CallTally& tally = line.call->tally;
  if (tally.log == nullptr || has_dropped_ || tally.lives != tally.log->comms.lives()) return false;
  SpeakerLog& log = *tally.log;
  ++log.lines;
  log.last = {unit_, number};
  if (tally.last_view.empty()) viewing_.push_back(&tally);
  tally.last_view = line.text;
  if (line.stamp > 0) {
    pulse().add(log.last, line.text.substr(0, line.stamp));
    pulse_->add_work(log.last);
  }
  if (tally.is_message) {
    tally.calls->add_message(line.call->call.call);
  } else {
    tally.calls->collectives.add(log.last, line.call->call.call, tally.hash);
  }
  tally.track->add_again(input_, markers_seen_, tally.tape_id);
  ++tally.uncounted;
  tally.last_line = number;
  if (line.stamp > 0) tally.last_stamp.assign(line.text.substr(0, line.stamp));
  return true;
}

/// Adds a line that differs from a known one in its numbers; false as above, and for all others.
bool ShardWriter::add_other(const CachedCallLine& line, uint64_t number) {
  const CachedCall* shape = line.call->shape;
  if (shape == nullptr || shape->tally.log == nullptr) return false;
  const CallTally& tally = shape->tally;
  if (has_dropped_ || tally.lives != tally.log->comms.lives()) return false;
  SpeakerLog& log = *tally.log;
  ++log.lines;
  log.last = {unit_, number};
  log.last_text.assign(line.text.substr(0, Record::kMaxTextBytes));
  if (line.stamp > 0) {
    pulse().add(log.last, line.text.substr(0, line.stamp));
    pulse_->add_work(log.last);
  }
  const std::string_view stamp = line.text.substr(0, line.stamp + shape->head->prefix);
  const CallSignature& call = line.call->call.call;
  tally.calls->add(log.last, stamp, call);
  tally.track->add(input_, markers_seen_, tally.segment, call);
  return true;
}

/// What nobody whom a line names wrote.
SpeakerLog& ShardWriter::others() {
  if (others_ == nullptr || has_dropped_) {
    Speaker speaker;
    speaker.input = static_cast<int64_t>(input_);
    others_ = &shard_.speakers[speaker];
  }
  return *others_;
}

void ShardWriter::add(const CachedLine& line, uint64_t number, const std::vector<int>& matched) {
  const Event& event = *line.event;
  const bool is_of_nccl = line.head != nullptr;
  if (is_of_nccl) {
    if (*line.log == nullptr) *line.log = recent_log(event.header);
    if (*line.log == nullptr || has_dropped_) {
      add({line.text, number, 0, false}, event, 1, matched);
      if (!has_dropped_) *line.log = &speaker_of(event);
      return;
    }
  }
  count(event.fate, 1);
  const SourceRef where{unit_, number};
  const Prefix& prefix = event.header.prefix;
  SpeakerLog& log = is_of_nccl ? **line.log : prefix.length > 0 ? speaker_of(event) : others();
  count_line(log, where);
  view_last(log, where, line.text);
  if (!is_of_nccl) {
    note_tasks(log, prefix);
    if (line.is_dated) {
      pulse().add(where, line.text);
    } else {
      pulse().add_undated(where, line.names_step);
    }
    note_output(where, line.text);
    if (event.message.kind != nullptr) note_end(where, line.text, event);
    if (line.marker != nullptr) add_marker(where, read_marker(*line.marker));
  }
  keep_line(log, {where, input_, markers_seen_, is_of_nccl ? &line : nullptr}, line.text, event,
            matched, shard_, texts_, trie_);
  if (!is_of_nccl) keep_limits();
}

void ShardWriter::add_skipped(std::string_view text, uint64_t number, uint64_t lines) {
  shard_.losses.lines += lines;
  shard_.losses.foreign += lines;
  if (text.find_first_not_of('\n') == text.npos) return;
  SpeakerLog& log = others();
  SourceRef where{unit_, number};
  std::string_view last;
  for (std::string_view rest = text; !rest.empty(); ++where.line) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() + 1);
    pulse().add(where, line);
    if (line.empty()) continue;
    note_output(where, line);
    count_line(log, where);
    last = line;
  }
  view_last(log, log.last, last);
  keep_limits();
}

/// Adds a known line the long way, and finds out where the next ones like it belong.
void ShardWriter::add_first(const CachedCallLine& line, uint64_t number) {
  CachedCall& known = line.call->shape != nullptr ? *line.call->shape : *line.call;
  add_uncounted(known);
  const Event event = parse_event(line.text, all_wordings());
  add({line.text, number, 0, false}, event, 1, {});
  if (has_dropped_) return;
  const PrintedCall& call = known.call;
  CallTally& tally = known.tally;
  tally.log = &speaker_of(event);
  tally.lives = tally.log->comms.lives();
  tally.segment = tally.log->comms.living_segment(call.comm);
  tally.calls = &tally.log->comms.all[tally.segment].calls.change();
  tally.track = &tally.log->calls.change();
  tally.tape_id = tally.track->tape.id_of(tally.segment, call.call);
  tally.hash = hash_of(comparable(call.call));
  tally.is_message = is_point_to_point(call.call.op);
}

/// True if the speaker to whom the call's tally points has not been dropped.
bool ShardWriter::is_there(const CachedCall& call) const {
  if (!has_dropped_) return true;
  Speaker speaker;
  speaker.host = call.head->host;
  speaker.pid = call.head->pid;
  return shard_.speakers.contains(speaker);
}

/// Adds to the sums what a known line has not added yet.
void ShardWriter::add_uncounted(CachedCall& call) {
  CallTally& tally = call.tally;
  if (tally.uncounted == 0 || !is_there(call)) return;
  const std::string_view prefix = std::string_view(call.head->text).substr(0, call.head->prefix);
  const std::string_view stamp = tally.last_stamp.empty() ? prefix : tally.last_stamp;
  tally.calls->add_uncounted(tally.uncounted, {unit_, tally.last_line}, stamp, call.call.call);
  tally.uncounted = 0;
}

/// Notes the text of the line that was just counted, which is copied when that must be.
void ShardWriter::view_last(SpeakerLog& log, SourceRef where, std::string_view text) {
  if (viewed_ != &log) settle_last_view();
  viewed_ = &log;
  viewed_at_ = where;
  viewed_text_ = text;
}

/// Copies the last line of a process, unless that has said something else since.
void ShardWriter::settle_last_view() {
  SpeakerLog* const log = std::exchange(viewed_, nullptr);
  if (log == nullptr) return;
  log->records.settle_many();
  if (log->last == viewed_at_) log->last_text.assign(viewed_text_.substr(0, Record::kMaxTextBytes));
}

void ShardWriter::settle() {
  settle_last_view();
  for (CallTally* tally : viewing_) {
    // Unless the speaker has said something else since.
    if (tally->log->last == SourceRef{unit_, tally->last_line}) {
      tally->log->last_text.assign(tally->last_view.substr(0, Record::kMaxTextBytes));
    }
    tally->last_view = {};
  }
  viewing_.clear();
}

Shard ShardWriter::finish(CallCache& calls) {
  settle();
  for (CachedCall& call : calls.all()) add_uncounted(call);
  for (auto& [speaker, log] : shard_.speakers) log.settle();
  return std::move(shard_);
}

/// The steps that a line announces. An NCCL line may have one in front, printed without its end.
void ShardWriter::note_markers(SourceRef where, std::string_view line, const Event& event) {
  const bool others = event.header.level == Level::None;
  const std::string_view text =
      others || finder_.wants_all_lines() ? line : event.header.unexplained;
  Marker marker;
  if (!text.empty() && finder_.find(text, marker)) add_marker(where, marker);
}

void ShardWriter::add_marker(SourceRef where, const Marker& marker) {
  clock().add(marker, where);
  markers_seen_ = clock().total;
  if (pulse_ != nullptr) pulse_->add_work(where);
}

/// A line with a kind: it may tell the end of a run, or of a process.
void ShardWriter::note_end(SourceRef where, std::string_view line, const Event& event) {
  switch (event.message.kind->index) {
    case kKindIndex<WorkerFailed>:
    case kKindIndex<FailureRank>:
      break;  // Of a report that goes on.
    case kKindIndex<LaunchFinished>:
    case kKindIndex<WorkFinished>:
      clock().starts.finish(where);
      break;
    case kKindIndex<ChildFailed>:
    case kKindIndex<FailureExitcode>:
    case kKindIndex<FailureSignal>:
    case kKindIndex<JobCancelled>:
    case kKindIndex<LaunchStopped>:
      clock().starts.end(OutputBreak::End);
      break;
    case kKindIndex<PythonException>:
    case kKindIndex<NcclException>:
    case kKindIndex<CudaOomException>:
      if (!event.is_of_traceback) return;  // Caught, and printed.
      [[fallthrough]];
    case kKindIndex<FatalPythonError>:
    case kKindIndex<WatchdogTimeout>:
    case kKindIndex<ProcessEnded>:
    case kKindIndex<OomKill>:
      clock().starts.end(OutputBreak::Failure);
      break;
    default:
      return;
  }
  if (name_of(event, input_).pid < 0)
    clock().starts.keep_ending(texts_.record(where, line, event, message_hash(event)));
}

InputClock& ShardWriter::clock() {
  if (clock_ == nullptr) {
    clock_ = &shard_.clocks.try_emplace(input_, InputClock{.unit = unit_}).first->second;
  }
  return *clock_;
}

Pulse& ShardWriter::pulse() { return *(pulse_ = &clock().pulse); }

void ShardWriter::add_in_doubt(const Event& event, int lines) {
  count(event.fate, static_cast<uint64_t>(lines));
  shard_.losses.add(Loss::LineInDoubt);
}

void ShardWriter::note_torn(const std::function<bool(const Speaker&)>& lost_records) {
  for (auto& [speaker, log] : shard_.speakers) log.torn |= lost_records(speaker);
}

void ShardWriter::note_cut() {
  for (auto& [speaker, log] : shard_.speakers) log.cut = true;
}

/// To be called whenever a speaker may have come.
void ShardWriter::keep_limits() {
  shard_.limit_records(trie_);
  if (shard_.speakers.size() <= Shard::kMaxSpeakers) return;
  settle();
  has_dropped_ = true;
  while (shard_.speakers.size() > Shard::kMaxSpeakers) {
    const auto& [speaker, log] = *shard_.speakers.rbegin();
    if (Recent& known = recent(speaker.pid); known.log == &log) known = {};
    shard_.drop_last_speaker();
  }
}

// Shards.

void Shard::add(RasReport&& report) {
  if (ras_reports.size() == kMaxRasReports) ras_reports.erase(ras_reports.begin());
  ras_reports.push_back(std::move(report));
}

void Shard::add(NcclTestsRun&& run, uint64_t unit) {
  for (SourceRef* place : {&run.first, &run.out_of_bounds_line, &run.busbw_line}) {
    place->unit = unit;
  }
  for (NcclTestsRow& row : run.rows) row.where.unit = unit;
  nccl_tests.push_back(std::move(run));
}

void Shard::merge(Shard&& later) {
  losses += later.losses;
  unknown.merge(later.unknown);
  for (const auto& [unit, writer] : later.writers) {
    writers[unit].add(writer.host, writer.pid, writer.several);
  }
  const auto markers_of = [&](uint64_t input) {
    const auto known = clocks.find(input);
    return known == clocks.end() ? 0 : known->second.total;
  };
  while (!later.speakers.empty()) {
    auto node = later.speakers.extract(later.speakers.begin());
    SpeakerLog& log = node.mapped();
    if (log.calls) log.calls.change().marks.shift(markers_of);
    if (log.traces) log.traces.change().marks.shift(markers_of);
    const bool is_last = speakers.empty() || std::prev(speakers.end())->first < node.key();
    auto known = is_last ? speakers.end() : speakers.lower_bound(node.key());
    if (known == speakers.end() || node.key() < known->first) {
      known = speakers.insert(known, std::move(node));
      known->second.settle();
      if (later.limit != limit) known->second.cut_to(trie, limit);
    } else {
      known->second.merge(trie, std::move(log), limit);
    }
    known->second.inits.share_tables(tables);
  }
  for (auto& [input, clock] : later.clocks) {
    const auto [known, is_new] = clocks.try_emplace(input, clock);
    if (!is_new) known->second.merge(clock);
  }
  std::ranges::move(later.flight_recorders, std::back_inserter(flight_recorders));
  std::ranges::move(later.inspected, std::back_inserter(inspected));
  std::ranges::move(later.topologies, std::back_inserter(topologies));
  std::ranges::move(later.pci_devices, std::back_inserter(pci_devices));
  std::ranges::move(later.port_counters, std::back_inserter(port_counters));
  std::ranges::move(later.nccl_tests, std::back_inserter(nccl_tests));
  std::ranges::move(later.ras_lines, std::back_inserter(ras_lines));
  while (ras_lines.size() > kMaxRasLines) ras_lines.pop_front();
  for (RasReport& report : later.ras_reports) add(std::move(report));
  limit_records(trie);
  while (speakers.size() > kMaxSpeakers) drop_last_speaker();
}

void Shard::limit_records(SharedTrie& opened) {
  RecordLimit allowed = record_limit(speakers.size());
  allowed.most = std::min(allowed.most, limit.most);
  allowed.most_numbered = std::min(allowed.most_numbered, limit.most_numbered);
  if (allowed == limit) return;
  limit = allowed;
  for (auto& [speaker, log] : speakers) log.cut_to(opened, limit);
}

void Shard::drop_last_speaker() {
  const auto last = std::prev(speakers.end());
  losses.add(Loss::ProcessesDropped, last->second.lines);
  speakers.erase(last);
}

}  // namespace ncclog

#include "app/read/read_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <system_error>
#include <thread>
#include <utility>

#include "app/read/progress.h"
#include "app/read/thread_pool.h"
#include "base/text.h"
#include "diagnose/calls/messages.h"
#include "import/import.h"
#include "log/event.h"
#include "model/build/build_job.h"
#include "model/call_coverage.h"
#include "model/calls.h"

namespace ncclog {
namespace {

using Units = std::vector<Unit>;

/// What each unit turned out to hold, by unit index.
using Walked = std::vector<std::vector<WalkedInput>>;

/// Memory of a worker for the lines of a stretch. All of it is used only where streams are shared.
LineBuffer make_memory(const ReadSettings& settings) {
  constexpr uint64_t kStretchBytes = uint64_t{4} << 20;
  constexpr uint64_t kLeastBytes = 256;
  return LineBuffer(std::clamp(settings.unit_bytes, kLeastBytes, kStretchBytes));
}

/// What all workers share.
struct Reading {
  std::span<const std::string> inputs;
  const Units& units;
  const ReadSettings& settings;
  Walked& walked;
  Workload workload{static_cast<uint32_t>(units.size())};
};

/// What one readable thing says; streams of several stretches are opened to the other workers.
Shard read_input(Reading& reading, UnitReader& input, const WalkedInput& name,
                 std::span<char> memory) {
  if (is_document(input.content())) return read_document(input, name);
  if (!input.is_stream()) return read_lines(input, name, reading.settings);
  SharedStream stream(input, name, reading.settings);
  stream.work(memory, [&] { reading.workload.open(stream); });
  reading.workload.close(stream);
  return stream.take();
}

void read_unit(Reading& reading, uint32_t index, std::span<char> memory) {
  try {
    const Unit& unit = reading.units[index];
    const std::string& path = reading.inputs[unit.input];
    reading_progress().enter(path);
    InputWalk walk(unit, path, {.memory = memory});
    Shard shard;
    while (UnitReader* input = walk.next()) {
      shard.merge(read_input(reading, *input, walk.current(), memory));
    }
    reading.walked[index] = walk.take();
    reading.workload.done(index, std::move(shard));
  } catch (...) {
    reading.workload.give_up(std::current_exception());
  }
}

/// Reads units, and stretches of streams that others have open, until nothing is left.
void work(Reading& reading) {
  LineBuffer memory = make_memory(reading.settings);
  for (;;) {
    const Workload::Task task = reading.workload.next();
    if (task.unit) {
      read_unit(reading, *task.unit, memory.bytes());
    } else if (task.stream != nullptr) {
      task.stream->work(memory.bytes());
      reading.workload.leave(*task.stream);
    } else {
      return;
    }
  }
}

/// Whether an input may be a stream that more than one worker is of use for.
bool may_be_shared(const std::string& path, const ReadSettings& settings) {
  // A smaller one is read before a second worker could take its part.
  constexpr uint64_t kWorthSharing = uint64_t{64} << 10;
  std::error_code error;
  return !std::filesystem::is_regular_file(path, error) ||
         std::filesystem::file_size(path, error) > std::min(kWorthSharing, settings.unit_bytes);
}

unsigned worker_count(const ReadSettings& settings, std::span<const std::string> inputs,
                      const Units& units) {
  const unsigned processors = std::max(1U, std::thread::hardware_concurrency());
  const unsigned threads =
      settings.threads > 0 ? static_cast<unsigned>(settings.threads) : processors;
  if (units.size() >= threads) return threads;
  // More workers than units are of use only where a stream can be shared.
  const bool shared = std::any_of(units.begin(), units.end(), [&](const Unit& unit) {
    return unit.whole && may_be_shared(inputs[unit.input], settings);
  });
  return shared ? threads : std::max(1U, static_cast<unsigned>(units.size()));
}

/// Reads every unit; `walked` is filled.
Shard read_units(std::span<const std::string> inputs, const Units& units,
                 const ReadSettings& settings, Walked& walked) {
  const unsigned count = worker_count(settings, inputs, units);
  reading_progress().begin(inputs, count);
  Reading reading{inputs, units, settings, walked};
  {
    std::vector<std::jthread> workers;
    for (unsigned w = 1; w < count; ++w) workers.emplace_back([&] { work(reading); });
    work(reading);
  }
  reading_progress().end();
  return reading.workload.take();
}

JobInput describe(const WalkedInput& walked) {
  const UnitResult& result = walked.result;
  JobInput input;
  input.path = walked.path;
  input.format =
      is_document(result.content) ? std::string(to_string(result.content)) : walked.format;
  input.is_archive = walked.is_archive;
  input.bytes = result.bytes_on_disk > 0 ? result.bytes_on_disk : result.bytes;
  if (is_log(result.content)) input.text_bytes = result.bytes;
  input.lines = result.lines;
  input.status = result.status;
  input.note = result.note;
  return input;
}

void add_stretch(JobInput& input, const UnitResult& result) {
  input.text_bytes += result.bytes;
  input.lines += result.lines;
  input.status = std::max(input.status, result.status);
  if (input.note.empty()) input.note = result.note;
}

/// What was read, in order: the inputs, their units and what reading lost.
struct Places {
  std::vector<JobInput> inputs;
  std::vector<JobUnit> units;
  LossTable losses;
};

/// Stretches of one file follow each other.
Places place_inputs(const Walked& walked) {
  Places places;
  const WalkedInput* before = nullptr;
  for (const std::vector<WalkedInput>& unit : walked) {
    for (const WalkedInput& input : unit) {
      places.losses += input.result.losses;
      JobUnit place{.number = input.number};
      if (before != nullptr && before->input_number == input.input_number) {
        add_stretch(places.inputs.back(), input.result);
        place.first_line = places.units.back().first_line + before->result.newlines;
      } else {
        places.inputs.push_back(describe(input));
      }
      place.input = static_cast<uint32_t>(places.inputs.size() - 1);
      places.units.push_back(place);
      before = &input;
    }
  }
  return places;
}

}  // namespace

ReadJob read_job_with_units(std::span<const std::string> inputs, const ReadSettings& settings) {
  ReadJob read;
  read.units =
      cut_units(inputs, {.unit_bytes = settings.unit_bytes, .may_start_unit = may_start_unit});
  Walked walked(read.units.size());
  const SharedFilter filter(settings.matcher, settings.finder);
  ReadSettings filtered = settings;
  filtered.filter = &filter;
  Shard shard = read_units(inputs, read.units, filtered, walked);
  Places places = place_inputs(walked);
  LossTable losses = shard.losses;
  losses += places.losses;
  read.job = build_job(std::move(shard), std::move(places.inputs), std::move(places.units), losses);
  find_differences(read.job, call_reader(read.job, inputs, read.units));
  return read;
}

Job read_job(std::span<const std::string> inputs, const ReadSettings& settings) {
  return read_job_with_units(inputs, settings).job;
}

// The second look

namespace {

/// Takes a record; false: that was enough.
using UseRecord = std::function<bool(const Line& record, const Event& event)>;

/// Whether the lines from this one on are understood as they were when all of them were read, as
/// far as records from line `first` on are concerned: a line that may start a unit belongs to no
/// record before it.
bool is_good_start(const Line& line, uint64_t first) {
  constexpr uint64_t kLongestRecord = 64;
  if (line.number >= first) return true;
  return line.number + kLongestRecord >= first && may_start_unit(line.text);
}

/// The records of one readable thing, those from line `first` on at least, up to where `use` has
/// enough. What stands before is only unpacked, not understood.
void read_records(UnitReader& input, uint64_t first, const UseRecord& use) {
  bool wants_more = true;
  EventReader events([&](const Line& record, const Event& event, int) {
    wants_more = wants_more && use(record, event);
  });
  bool is_started = false;
  for (Line line; wants_more && input.next(line);) {
    is_started = is_started || is_good_start(line, first);
    if (is_started) events.add(line);
  }
  events.finish();
}

/// Gives the records of the unit or member that `from` is in to `use`, those from there on at
/// least; nothing if it is not there.
void read_again(std::span<const std::string> inputs, std::span<const Unit> units, SourceRef from,
                const UseRecord& use) {
  const uint64_t index = from.unit / kNumbersPerUnit;
  if (index >= units.size()) return;
  const Unit& unit = units[index];
  if (inputs[unit.input] == "-") return;  // What came from there is gone.
  InputWalk walk(unit, inputs[unit.input]);
  while (UnitReader* input = walk.next()) {
    if (walk.current().number != from.unit) continue;
    read_records(*input, from.line, use);
    return;
  }
}

/// Which calls belong to a segment of a log.
struct Caller {
  std::string host;
  int64_t pid = -1;
  uint64_t comm = 0;
  bool by_traces = false;

  bool made(const Event& event, const ReadCall& call) const {
    return event.header.pid == pid && event.header.host == host && call.comm == comm &&
           call.is_trace == by_traces;
  }
};

Caller caller_of(const Job& job, const CommRank& rank) {
  const SpeakerLog& log = job.logs[static_cast<size_t>(rank.log)];
  const CommSegment& segment = segment_of(job, rank);
  return {log.speaker.host, log.speaker.pid, segment.comm, &calls_of(segment) == &segment.traces};
}

/// Takes a record with its place; false: that was enough.
using UsePlaced = std::function<bool(SourceRef where, const Event& event)>;

/// Gives the records from `from` on to `use`, those of the later units of the same input, too. A
/// member of an archive is one unit.
void read_on(std::span<const std::string> inputs, std::span<const Unit> units, SourceRef from,
             const UsePlaced& use) {
  bool wants_more = true;
  const auto read_unit = [&](SourceRef start) {
    read_again(inputs, units, start, [&](const Line& record, const Event& event) {
      const SourceRef where{start.unit, record.number};
      if (from <= where) wants_more = use(where, event);
      return wants_more;
    });
  };
  read_unit(from);
  const uint64_t index = from.unit / kNumbersPerUnit;
  if (from.unit % kNumbersPerUnit != 0 || index >= units.size()) return;
  for (uint64_t next = index + 1; wants_more && next < units.size(); ++next) {
    if (units[next].input != units[index].input) break;
    read_unit({next * kNumbersPerUnit, 1});
  }
}

std::vector<PlacedCall> read_calls(std::span<const std::string> inputs, std::span<const Unit> units,
                                   const Caller& caller, SourceRef from, uint64_t most) {
  std::vector<PlacedCall> calls;
  if (most == 0) return calls;
  read_on(inputs, units, from, [&](SourceRef where, const Event& event) {
    const auto call = read_call(event);
    const bool is_meant = call && caller.made(event, *call);
    if (is_meant && !is_point_to_point(call->call.op)) calls.push_back({where, call->call});
    return calls.size() < most;
  });
  return calls;
}

/// The line of one end of messages that differ in size: of the one of that number between the two,
/// or, where that is not known, of the first that is like `wanted`.
std::optional<SourceRef> find_message(const Job& job, std::span<const std::string> inputs,
                                      std::span<const Unit> units, const MessageConflict& conflict,
                                      int member, const std::optional<CallSignature>& wanted) {
  const Communicator& comm = job.communicators[static_cast<size_t>(conflict.communicator)];
  const CommRank& rank = comm.ranks[static_cast<size_t>(member)];
  const CollectiveCalls* calls = calls_of(job, rank);
  if (!wanted || calls == nullptr) return std::nullopt;
  const Caller caller = caller_of(job, rank);
  std::optional<SourceRef> found;
  uint64_t passed = 0;
  read_on(inputs, units, calls->first, [&](SourceRef where, const Event& event) {
    const auto call = read_call(event);
    if (!call || !caller.made(event, *call)) return true;
    if (call->call.op != wanted->op || call->call.root != wanted->root) return true;
    const bool is_it = conflict.index ? passed == *conflict.index : call->call == *wanted;
    ++passed;
    if (is_it) found = where;
    return !is_it;
  });
  return found;
}

using Texts = std::map<SourceRef, std::string>;

/// Adds the texts of the wanted lines of one unit: those of `texts` from `first` on.
void read_texts(std::span<const std::string> inputs, std::span<const Unit> units, Texts& texts,
                Texts::iterator first) {
  const uint64_t number = first->first.unit;
  const auto end = texts.lower_bound({number + 1, 0});
  const uint64_t last = std::prev(end)->first.line;
  read_again(inputs, units, first->first, [&](const Line& record, const Event&) {
    const auto wanted = texts.find({number, record.number});
    if (wanted != texts.end() && wanted->second.empty()) {
      wanted->second = record.text.substr(0, Record::kMaxTextBytes);
    }
    // Records may come a little late, where lines were joined.
    constexpr uint64_t kSlack = 64;
    return record.number < last + kSlack;
  });
}

}  // namespace

CallReader call_reader(const Job& job, std::span<const std::string> inputs,
                       std::span<const Unit> units) {
  return [&job, inputs, units](const CommRank& rank, SourceRef from, uint64_t most) {
    return read_calls(inputs, units, caller_of(job, rank), from, most);
  };
}

void fill_lines(std::span<const std::string> inputs, std::span<const Unit> units,
                std::span<Evidence* const> lines) {
  Texts texts;
  for (const Evidence* line : lines) {
    if (line->text.empty() && line->where.line != 0) texts[line->where];
  }
  for (auto at = texts.begin(); at != texts.end();) {
    read_texts(inputs, units, texts, at);
    at = texts.lower_bound({at->first.unit + 1, 0});
  }
  for (Evidence* line : lines) {
    const auto text = texts.find(line->where);
    if (line->text.empty() && text != texts.end()) line->text = text->second;
  }
}

void show_messages(const Job& job, std::span<const std::string> inputs, std::span<const Unit> units,
                   std::vector<Finding>& findings) {
  constexpr size_t kMostShown = 4;
  const auto finding = std::find_if(findings.begin(), findings.end(),
                                    [](const Finding& one) { return one.id == kMessageSizesRule; });
  if (finding == findings.end()) return;
  std::vector<Evidence> lines;
  for (const MessageConflict& conflict : message_conflicts(job)) {
    if (lines.size() >= 2 * kMostShown) break;
    for (const auto& [member, wanted] : {std::pair(conflict.sender, conflict.sent),
                                         std::pair(conflict.receiver, conflict.received)}) {
      const auto where = find_message(job, inputs, units, conflict, member, wanted);
      if (where) lines.push_back({*where, {}});
    }
  }
  if (!lines.empty()) finding->evidence = std::move(lines);
}

void fill_evidence(std::span<const std::string> inputs, std::span<const Unit> units,
                   std::vector<Finding>& findings) {
  std::vector<Evidence*> lines;
  for (Finding& finding : findings) {
    for (Evidence& evidence : finding.evidence) lines.push_back(&evidence);
  }
  fill_lines(inputs, units, lines);
}

namespace {

std::string import_dump(std::string_view bytes, const WalkedInput& name, Shard& shard) {
  FlightRecorderImport import = import_flight_recorder(bytes, name.path);
  if (!import.problem.empty()) return std::move(import.problem);
  import.dump.where.unit = name.number;
  shard.add(std::move(import.dump));
  return {};
}

std::string import_answer(std::string_view bytes, const WalkedInput& name, Shard& shard) {
  RasImport import = import_ras_json(bytes);
  if (!import.problem.empty()) return std::move(import.problem);
  import.report.where.unit = name.number;
  shard.add(std::move(import.report));
  return {};
}

std::string import_devices(std::string_view bytes, const WalkedInput& name, Shard& shard) {
  TopologyImport import = import_topology(bytes);
  if (!import.problem.empty()) return std::move(import.problem);
  HostTopology file;
  file.source = name.path;
  file.system = std::move(import.system);
  shard.add(std::move(file));
  return {};
}

/// How documents of one content are read.
struct Importer {
  std::string_view what;
  /// Puts what the bytes say into `shard`; answers why it could not, a clause, or nothing.
  std::string (*import)(std::string_view bytes, const WalkedInput& name, Shard& shard);
};

constexpr Importer kDump = {"A Flight Recorder dump", import_dump};
constexpr Importer kAnswer = {"An answer of NCCL's RAS service", import_answer};
constexpr Importer kDevices = {"A topology file", import_devices};

const Importer& importer_of(Content content) {
  if (content == Content::Ras) return kAnswer;
  return content == Content::Topology ? kDevices : kDump;
}

}  // namespace

std::optional<std::string> read_document_bytes(UnitReader& input) {
  constexpr size_t kBlock = size_t{64} << 10;
  std::string bytes;
  for (size_t count = 1; count > 0;) {
    const size_t size = bytes.size();
    bytes.resize(size + kBlock);
    count = input.read(bytes.data() + size, kBlock);
    bytes.resize(size + count);
    if (bytes.size() > kMaxDocumentBytes) return std::nullopt;
  }
  return bytes;
}

Shard read_document(UnitReader& input, const WalkedInput& name) {
  Shard shard;
  const std::optional<std::string> bytes = read_document_bytes(input);
  const Importer& importer = importer_of(input.content());
  const std::string problem =
      bytes ? importer.import(*bytes, name, shard)
            : fmt::format("it is larger than {} MiB", kMaxDocumentBytes >> 20);
  if (!problem.empty()) {
    input.refuse(fmt::format("{} that cannot be read: {}.", importer.what, problem));
  }
  return shard;
}

namespace {

/// Adds the dump that `line` is; false if it is none.
bool add_dump(std::string_view line, size_t number, Shard& shard) {
  if (!line.starts_with('{')) return false;
  FlightRecorderImport import =
      import_flight_recorder(line, fmt::format("nccl_trace_rank_{}", number));
  if (!import.problem.empty()) return false;
  import.dump.where.unit = 0;
  shard.add(std::move(import.dump));
  return true;
}

/// Whether `line` says what the user saw: "--outcome hung".
bool is_outcome(std::string_view line, std::optional<StatedOutcome>& stated) {
  constexpr std::string_view kFlag = "--outcome ";
  if (!line.starts_with(kFlag)) return false;
  const auto& names = kStatedOutcomeNames;
  const auto name = std::find(names.begin(), names.end(), trim(line.substr(kFlag.size())));
  if (name == names.end()) return false;
  stated = static_cast<StatedOutcome>(name - names.begin());
  return true;
}

}  // namespace

Job read_example(std::string_view log, const LineMatcher& matcher) {
  Shard dumps;
  std::string lines;
  size_t count = 0;
  std::optional<StatedOutcome> stated;
  for (const std::string_view line : split(log, '\n')) {
    if (add_dump(trim(line), count, dumps)) {
      ++count;
    } else if (!is_outcome(trim(line), stated)) {
      lines += line;
      lines += '\n';
    }
  }
  if (count == 0) {
    Job job = job_from_text(stated ? lines : log, matcher);
    job.stated = stated;
    return job;
  }
  Shard shard = read_text(lines, matcher);
  shard.merge(std::move(dumps));
  JobInput input;
  input.path = "log.txt";
  input.format = "plain";
  input.bytes = input.text_bytes = lines.size();
  input.lines = shard.losses.lines;
  const LossTable losses = shard.losses;
  Job job = build_job(std::move(shard), {std::move(input)}, {JobUnit{}}, losses);
  job.stated = stated;
  return job;
}

}  // namespace ncclog

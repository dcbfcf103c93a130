#include "app/read/read_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "app/read/progress.h"
#include "base/error.h"
#include "base/text.h"
#include "diagnose/calls/messages.h"
#include "diagnose/perf/call_times.h"
#include "host/read_host.h"
#include "import/import.h"
#include "input/byte_source.h"
#include "log/event.h"
#include "model/build/build_job.h"
#include "model/calls.h"

namespace ncclog {
namespace {

// Which worker reads what next, and how are the parts put together in input order?
//
//   units:    a.log  b.log.gz  c.log           workers 1 and 2
//   worker 1  a.log            c.log  b's stretches 5, 7, …
//   worker 2         b.log.gz: stretches 0, 1, 2, 3, 4, 6, …
//
// A worker opens a unit of its own as long as there are any; when there are none, it takes
// stretches of a stream that another one has open. So many inputs are read side by side, and a
// single large one occupies everybody.

/// What a worker keeps from one task to the next.
struct Worker {
  std::span<char> memory;  ///< For blocks of bytes; see Stretch.
  ReadBefore before;
};

/// What `lines`, a UnitReader or a Stretch of the input `name`, say. Every line of every log passes
/// here.
Shard read_lines(auto& lines, const WalkedInput& name, const ReadSettings& settings,
                 ReadBefore& before) {
  LogReader reader(name.number, name.input_number, settings.matcher, settings.finder,
                   settings.filter, &before);
  for (Line line;;) {
    const TakenLines taken = reader.take_known(lines.ahead(), lines.next_number());
    if (taken.lines > 0) lines.skip(taken.bytes, taken.lines, taken.is_ascii);
    // What was taken is where it lay; the next line may lie in its place.
    if (lines.will_refill()) reader.settle();
    if (!lines.next(line)) return reader.finish();
    reader.add(line);
  }
}

/// Joins the shards 0, 1, 2, … whatever the order in which several threads put them. Invariant:
/// merged_ holds exactly those before next_; all keys of waiting_ are behind it.
class OrderedMerge {
 public:
  /// Waits until `index` is near enough to what is merged, so that shards do not pile up behind a
  /// slow one. False if the whole is given up.
  bool wait_for(uint32_t index) {
    std::unique_lock lock(mutex_);
    progress_.wait(lock, [&] { return failure_ != nullptr || index < next_ + kAhead; });
    return failure_ == nullptr;
  }

  /// Whether wait_for(index) would return at once.
  bool has_room(uint32_t index) {
    const std::lock_guard lock(mutex_);
    return failure_ != nullptr || index < next_ + kAhead;
  }

  void put(uint32_t index, Shard&& shard) {
    const std::lock_guard lock(mutex_);
    waiting_.emplace(index, std::move(shard));
    while (!waiting_.empty() && waiting_.begin()->first == next_) {
      merged_.merge(std::move(waiting_.begin()->second));
      waiting_.erase(waiting_.begin());
      ++next_;
    }
    progress_.notify_all();
  }

  /// `take` will throw this, unless there was a failure before.
  void give_up(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (failure_ == nullptr) failure_ = std::move(failure);
    progress_.notify_all();
  }

  bool is_given_up() {
    const std::lock_guard lock(mutex_);
    return failure_ != nullptr;
  }

  /// The whole, once all have been put. Rethrows a failure.
  Shard take() {
    if (failure_ != nullptr) std::rethrow_exception(failure_);
    return std::move(merged_);
  }

 private:
  /// So many shards may wait for a slow one before them: enough that nobody stands still for one
  /// large file, few enough that memory does not grow with the number of files.
  static constexpr uint32_t kAhead = 64;

  std::mutex mutex_;
  std::condition_variable progress_;
  uint32_t next_ = 0;
  Shard merged_;
  std::map<uint32_t, Shard> waiting_;
  std::exception_ptr failure_;
};

/// One stream that several workers read stretch by stretch, and what all of it says. Made by the
/// worker who opened the input; others call `work` as well.
class SharedStream {
 public:
  /// All must outlive the stream.
  SharedStream(UnitReader& input, const WalkedInput& name, const ReadSettings& settings)
      : name_(name), settings_(settings), lines_(input, may_start_unit) {}

  /// Reads stretches until none is left. `on_more` is called by the worker
  /// who finds that there is more than one. Throws nothing: `take` does.
  void work(Worker& worker, const std::function<void()>& on_more = {}) {
    try {
      while (!merge_.is_given_up() && read_stretch(worker, on_more)) {
      }
    } catch (...) {
      merge_.give_up(std::current_exception());
    }
  }

  /// What the stream says, once all who worked on it are done.
  Shard take() { return merge_.take(); }

 private:
  /// False if there was none.
  bool read_stretch(Worker& worker, const std::function<void()>& on_more) {
    Stretch stretch(lines_, worker.memory);
    if (stretch.is_none()) return false;
    if (stretch.index() == 0 && !stretch.is_last() && on_more) on_more();
    if (!merge_.wait_for(stretch.index())) return false;
    merge_.put(stretch.index(), read_lines(stretch, name_, settings_, worker.before));
    return true;
  }

  const WalkedInput& name_;
  const ReadSettings& settings_;
  LineStream lines_;
  OrderedMerge merge_;
};

/// The units 0 … count - 1, handed out in order and merged in order.
class Workload {
 public:
  explicit Workload(uint32_t count) : count_(count) {}

  /// One of the two, or neither: then there is nothing left to do.
  struct Task {
    std::optional<uint32_t> unit;    ///< To be read and given to `done`.
    SharedStream* stream = nullptr;  ///< To be worked on and given to `leave`.
  };

  /// What the calling worker does next. Waits while that cannot be told.
  Task next() {
    std::unique_lock lock(mutex_);
    Task task;
    // A unit that somebody reads may still turn out to be a stream to help with, and shards that
    // are merged make room for further units.
    change_.wait(lock, [&] {
      task = find_task();
      const bool is_over = is_given_up_ || (next_ == count_ && reading_ == 0);
      return task.unit || task.stream != nullptr || is_over;
    });
    return task;
  }

  void done(uint32_t unit, Shard&& shard) {
    merge_.put(unit, std::move(shard));
    const std::lock_guard lock(mutex_);
    --reading_;
    change_.notify_all();
  }

  /// Others may work on `stream` from now on.
  void open(SharedStream& stream) {
    const std::lock_guard lock(mutex_);
    open_.push_back({.stream = &stream});
    change_.notify_all();
  }

  /// Nobody comes to it any more. Waits until all have left.
  void close(SharedStream& stream) {
    std::unique_lock lock(mutex_);
    if (find(stream) == open_.end()) return;  // It was one stretch: nobody was called to help.
    find(stream)->is_over = true;
    change_.wait(lock, [&] { return find(stream)->guests == 0; });
    open_.erase(find(stream));
  }

  void leave(SharedStream& stream) {
    const std::lock_guard lock(mutex_);
    --find(stream)->guests;
    find(stream)->is_over = true;
    change_.notify_all();
  }

  /// Ends the work early; `take` throws this.
  void give_up(std::exception_ptr failure) {
    merge_.give_up(std::move(failure));
    const std::lock_guard lock(mutex_);
    is_given_up_ = true;
    change_.notify_all();
  }

  /// What all units say, once all workers are done.
  Shard take() { return merge_.take(); }

 private:
  struct Open {
    SharedStream* stream;
    int guests = 0;
    bool is_over = false;  ///< A guest left it at its end.
  };

  std::vector<Open>::iterator find(const SharedStream& stream) {
    return std::ranges::find(open_, &stream, &Open::stream);
  }

  Task find_task() {
    if (is_given_up_) return {};
    if (next_ < count_ && merge_.has_room(next_)) {
      ++reading_;
      return {.unit = next_++};
    }
    // One thread unpacks as fast as so many read; more would only need memory for their stretches.
    constexpr int kMostGuests = 7;
    const auto open = std::ranges::find_if(
        open_, [](const Open& one) { return !one.is_over && one.guests < kMostGuests; });
    if (open == open_.end()) return {};
    ++open->guests;
    return {.stream = open->stream};
  }

  std::mutex mutex_;
  std::condition_variable change_;
  uint32_t count_;
  uint32_t next_ = 0;     ///< Of the units: the first that nobody has taken.
  uint32_t reading_ = 0;  ///< Units that are taken and not done.
  bool is_given_up_ = false;
  std::vector<Open> open_;  ///< By the time at which they were opened.
  OrderedMerge merge_;
};

using Units = std::vector<Unit>;

/// What each unit turned out to hold, by unit index.
using Walked = std::vector<std::vector<WalkedInput>>;

/// What all workers share.
struct Reading {
  std::span<const std::string> inputs;
  const Units& units;
  const ReadSettings& settings;
  Walked& walked;
  Workload workload{static_cast<uint32_t>(units.size())};
};

/// What one readable thing says; streams of several stretches are opened to the other workers.
Shard read_input(Reading& reading, UnitReader& input, const WalkedInput& name, Worker& worker) {
  if (is_document(input.content())) return read_document(input, name);
  if (!input.is_stream()) return read_lines(input, name, reading.settings, worker.before);
  SharedStream stream(input, name, reading.settings);
  stream.work(worker, [&] { reading.workload.open(stream); });
  reading.workload.close(stream);
  return stream.take();
}

void read_unit(Reading& reading, uint32_t index, Worker& worker) {
  try {
    const Unit& unit = reading.units[index];
    const std::string& path = reading.inputs[unit.input];
    if (reading.settings.progress != nullptr) reading.settings.progress->enter(path);
    InputWalk walk(unit, path, {.memory = worker.memory});
    Shard shard;
    while (UnitReader* input = walk.next()) {
      shard.merge(read_input(reading, *input, walk.current(), worker));
    }
    reading.walked[index] = walk.take();
    reading.workload.done(index, std::move(shard));
  } catch (...) {
    reading.workload.give_up(std::current_exception());
  }
}

/// Reads units, and stretches of streams that others have open, until nothing is left.
void work(Reading& reading) {
  // For the lines of a stretch. All of it is used only where streams are shared.
  constexpr uint64_t kStretchBytes = uint64_t{8} << 20;
  constexpr uint64_t kLeastBytes = 256;
  LineBuffer memory(std::clamp(reading.settings.unit_bytes, kLeastBytes, kStretchBytes));
  Worker worker{memory.bytes(), ReadBefore(reading.settings.matcher)};
  for (;;) {
    const Workload::Task task = reading.workload.next();
    if (task.unit) {
      read_unit(reading, *task.unit, worker);
    } else if (task.stream != nullptr) {
      task.stream->work(worker);
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
  const bool shared = std::ranges::any_of(units, [&](const Unit& unit) {
    return unit.whole && may_be_shared(inputs[unit.input], settings);
  });
  return shared ? threads : std::max(1U, static_cast<unsigned>(units.size()));
}

/// Reads every unit; `walked` is filled.
Shard read_units(std::span<const std::string> inputs, const Units& units,
                 const ReadSettings& settings, Walked& walked) {
  const unsigned count = worker_count(settings, inputs, units);
  if (settings.progress != nullptr) settings.progress->begin(inputs, count);
  Reading reading{inputs, units, settings, walked};
  {
    std::vector<std::jthread> workers;
    for (unsigned w = 1; w < count; ++w) workers.emplace_back([&] { work(reading); });
    work(reading);
  }
  if (settings.progress != nullptr) settings.progress->end();
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
        JobInput& all = places.inputs.back();
        all.text_bytes += input.result.bytes;
        all.lines += input.result.lines;
        all.status = std::max(all.status, input.result.status);
        if (all.note.empty()) all.note = input.result.note;
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

namespace {
std::vector<CallStamp> read_stamps(const ReadUnits& read, const std::vector<SourceRef>& lines);
}

Job read_job(std::span<const std::string> inputs, const ReadSettings& settings, ReadUnits& read) {
  read.inputs.assign(inputs.begin(), inputs.end());
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
  Job job = build_job(std::move(shard), std::move(places.inputs), std::move(places.units), losses);
  find_differences(job, call_reader(job, read));
  job.call_stamps = read_stamps(read, stamped_calls(job));
  return job;
}

Job read_job(std::span<const std::string> inputs, const ReadSettings& settings) {
  ReadUnits read;
  return read_job(inputs, settings, read);
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
void read_again(const ReadUnits& read, SourceRef from, const UseRecord& use) {
  const uint64_t index = from.unit / kNumbersPerUnit;
  if (index >= read.units.size()) return;
  const Unit& unit = read.units[index];
  if (read.inputs[unit.input] == "-") return;  // What came from there is gone.
  InputWalk walk(unit, read.inputs[unit.input]);
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
  const SpeakerLog& log = job.logs[rank.log];
  const CommSegment& segment = segment_of(job, rank);
  return {log.speaker.host, log.speaker.pid, segment.comm, is_told_by_traces(segment)};
}

/// Takes a record with its place; false: that was enough.
using UsePlaced = std::function<bool(SourceRef where, const Event& event)>;

/// Gives the records from `from` on to `use`, those of the later units of the same input, too. A
/// member of an archive is one unit.
void read_on(const ReadUnits& read, SourceRef from, const UsePlaced& use) {
  bool wants_more = true;
  const auto read_unit = [&](SourceRef start) {
    read_again(read, start, [&](const Line& record, const Event& event) {
      const SourceRef where{start.unit, record.number};
      if (from <= where) wants_more = use(where, event);
      return wants_more;
    });
  };
  read_unit(from);
  const uint64_t index = from.unit / kNumbersPerUnit;
  if (from.unit % kNumbersPerUnit != 0 || index >= read.units.size()) return;
  for (uint64_t next = index + 1; wants_more && next < read.units.size(); ++next) {
    if (read.units[next].input != read.units[index].input) break;
    read_unit({next * kNumbersPerUnit, 1});
  }
}

std::vector<PlacedCall> read_calls(const ReadUnits& read, const Caller& caller, SourceRef from,
                                   uint64_t most) {
  std::vector<PlacedCall> calls;
  if (most == 0) return calls;
  read_on(read, from, [&](SourceRef where, const Event& event) {
    const auto call = read_call(event);
    const bool is_meant = call && caller.made(event, *call);
    if (is_meant && !is_point_to_point(call->call.op)) calls.push_back({where, call->call});
    return calls.size() < most;
  });
  return calls;
}

/// The line of one end of messages that differ in size: of the one of that number between the two,
/// or, where that is not known, of the first that is like `wanted`.
std::optional<SourceRef> find_message(const Job& job, const ReadUnits& read,
                                      const MessageConflict& conflict, int member,
                                      const std::optional<CallSignature>& wanted) {
  const Communicator& comm = job.communicators[conflict.communicator];
  const CommRank& rank = comm.ranks[member];
  const CollectiveCalls* calls = calls_of(job, rank);
  if (!wanted || calls == nullptr) return std::nullopt;
  const Caller caller = caller_of(job, rank);
  std::optional<SourceRef> found;
  uint64_t passed = 0;
  read_on(read, calls->first, [&](SourceRef where, const Event& event) {
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

/// Gives the records at these places, sorted, to `use`.
void read_places(
    const ReadUnits& read, const std::vector<SourceRef>& lines,
    const std::function<void(SourceRef where, const Line& record, const Event& event)>& use) {
  for (auto first = lines.begin(); first != lines.end();) {
    const uint64_t unit = first->unit;
    const auto end = std::lower_bound(first, lines.end(), SourceRef{unit + 1, 0});
    const uint64_t last = std::prev(end)->line;
    read_again(read, *first, [&](const Line& record, const Event& event) {
      const SourceRef where{unit, record.number};
      if (std::binary_search(first, end, where)) use(where, record, event);
      // Records may come a little late, where lines were joined.
      constexpr uint64_t kSlack = 64;
      return record.number < last + kSlack;
    });
    first = end;
  }
}

std::vector<CallStamp> read_stamps(const ReadUnits& read, const std::vector<SourceRef>& lines) {
  std::vector<CallStamp> stamps;
  read_places(read, lines, [&](SourceRef where, const Line& record, const Event& event) {
    const LineTime time = time_before(record.text, event.header.message);
    if (time.known()) stamps.push_back({where, time.nanoseconds});
  });
  std::ranges::sort(stamps);
  return stamps;
}

using Texts = std::map<SourceRef, std::string>;

}  // namespace

CallReader call_reader(const Job& job, const ReadUnits& read) {
  return [&job, &read](const CommRank& rank, SourceRef from, uint64_t most) {
    return read_calls(read, caller_of(job, rank), from, most);
  };
}

void fill_lines(const ReadUnits& read, std::span<Evidence* const> lines) {
  Texts texts;
  for (const Evidence* line : lines) {
    if (line->text.empty() && line->where.line != 0) texts[line->where];
  }
  std::vector<SourceRef> places;
  for (const auto& [where, text] : texts) places.push_back(where);
  read_places(read, places, [&](SourceRef where, const Line& record, const Event&) {
    std::string& text = texts[where];
    if (text.empty()) text = record.text.substr(0, Record::kMaxTextBytes);
  });
  for (Evidence* line : lines) {
    const auto text = texts.find(line->where);
    if (line->text.empty() && text != texts.end()) line->text = text->second;
  }
}

void show_messages(const Job& job, const ReadUnits& read, std::vector<Finding>& findings) {
  constexpr size_t kMostShown = 4;
  const auto finding = std::ranges::find(findings, kMessageSizesRule, &Finding::id);
  if (finding == findings.end()) return;
  std::vector<Evidence> lines;
  for (const MessageConflict& conflict : message_conflicts(job)) {
    if (lines.size() >= 2 * kMostShown) break;
    for (const auto& [member, wanted] : {std::pair(conflict.sender, conflict.sent),
                                         std::pair(conflict.receiver, conflict.received)}) {
      const auto where = find_message(job, read, conflict, member, wanted);
      if (where) lines.push_back({*where, {}});
    }
  }
  if (!lines.empty()) finding->evidence = std::move(lines);
}

void fill_evidence(const ReadUnits& read, std::vector<Finding>& findings) {
  std::vector<Evidence*> lines;
  for (Finding& finding : findings) {
    for (Evidence& evidence : finding.evidence) lines.push_back(&evidence);
  }
  fill_lines(read, lines);
}

namespace {

/// Puts what a document says into `shard`; answers why it could not, a clause, or nothing.
std::string import_document(std::string_view bytes, Content content, const WalkedInput& name,
                            Shard& shard) {
  if (content == Content::Ras) {
    RasImport import = import_ras_json(bytes);
    import.report.where.unit = name.number;
    if (import.problem.empty()) shard.add(std::move(import.report));
    return std::move(import.problem);
  }
  if (content == Content::NcclTests) {
    NcclTestsImport import = import_nccl_tests(bytes);
    if (import.problem.empty()) shard.add(std::move(import.run), name.number);
    return std::move(import.problem);
  }
  if (content == Content::Inspector) {
    InspectorImport import = import_inspector(bytes);
    for (InspectedRank& rank : import.ranks) {
      rank.where.unit = name.number;
      shard.add(std::move(rank));
    }
    return std::move(import.problem);
  }
  if (content == Content::Topology) {
    TopologyImport import = import_topology(bytes);
    HostTopology file;
    file.source = name.path;
    file.system = std::move(import.system);
    if (import.problem.empty()) shard.add(std::move(file));
    return std::move(import.problem);
  }
  FlightRecorderImport import = import_flight_recorder(bytes, name.path);
  import.dump.where.unit = name.number;
  if (import.problem.empty()) shard.add(std::move(import.dump));
  return std::move(import.problem);
}

}  // namespace

std::string read_file_up_to(const std::string& path, size_t most) {
  const std::string name = path == kStdinPath ? "standard input" : path;
  if (std::filesystem::is_directory(path)) throw Error("a folder, not a file", name);
  const RawBytes file = open_file(path);
  std::string bytes = read_up_to(file, most);
  if (!file.error().empty()) throw Error(file.error(), name, "check the path and who may read it");
  return bytes;
}

std::optional<std::string> read_document_bytes(UnitReader& input) {
  std::string bytes = read_up_to(input, kMaxDocumentBytes);
  return bytes.size() <= kMaxDocumentBytes ? std::optional(std::move(bytes)) : std::nullopt;
}

Shard read_document(UnitReader& input, const WalkedInput& name) {
  Shard shard;
  const Content content = input.content();
  // The Inspector's file grows with the job; any part of it tells enough.
  const std::optional<std::string> bytes = content == Content::Inspector
                                               ? read_up_to(input, kMaxDocumentBytes)
                                               : read_document_bytes(input);
  const std::string problem =
      bytes ? import_document(*bytes, content, name, shard)
            : fmt::format("it is larger than {} MiB", kMaxDocumentBytes >> 20);
  if (!problem.empty()) {
    const std::string_view what = content == Content::Ras ? "An answer of NCCL's RAS service"
                                  : content == Content::NcclTests ? "A file of nccl-tests' results"
                                  : content == Content::Inspector ? "A file of NCCL's Inspector"
                                  : content == Content::Topology  ? "A topology file"
                                                                  : "A Flight Recorder dump";
    input.refuse(fmt::format("{} that cannot be read: {}.", what, problem));
  }
  return shard;
}

namespace {

/// What an example holds often, it writes once: so many more like the last one follow, each with
/// the next number, and so much later.
///
///   "entries":[{…,"collective_seq_id":1,…}],"repeated":150,"every_ms":40}
struct Repetition {
  int64_t times = 0;
  int64_t every_ms = 0;

  explicit Repetition(std::string_view line) {
    constexpr int64_t kMost = 10000;
    times = std::min(number(line, "\"repeated\":"), kMost);
    every_ms = std::min(number(line, "\"every_ms\":"), kMost);
  }

  static int64_t number(std::string_view line, std::string_view key) {
    const size_t at = line.rfind(key);
    if (at == line.npos) return 0;
    const std::string_view value = line.substr(at + key.size());
    return parse_int(value.substr(0, value.find_first_not_of("0123456789"))).value_or(0);
  }
};

/// Adds the dump that `line` is; false if it is none.
bool add_dump(std::string_view line, size_t number, Shard& shard) {
  FlightRecorderImport import =
      import_flight_recorder(line, fmt::format("nccl_trace_rank_{}", number));
  if (!import.problem.empty()) return false;
  import.dump.where.unit = 0;
  const Repetition more(line);
  for (int64_t i = 0; i < more.times && !import.dump.entries.empty(); ++i) {
    FlightRecorderEntry next = import.dump.entries.back();
    ++next.collective_seq_id;
    next.time_created_ns += more.every_ms * 1'000'000;
    import.dump.entries.push_back(std::move(next));
  }
  shard.add(std::move(import.dump));
  return true;
}

/// Adds what the Inspector measured of one rank, if `line` is that; false if it is not.
bool add_inspected(std::string_view line, Shard& shard) {
  InspectorImport import = import_inspector(line);
  if (!import.problem.empty()) return false;
  InspectedRank& rank = import.ranks.front();
  const Repetition more(line);
  for (int64_t i = 0; i < more.times; ++i) {
    InspectedCall next = rank.calls.back();
    ++next.number;
    next.started += static_cast<double>(more.every_ms * 1000);
    rank.calls.push_back(next);
  }
  shard.add(std::move(rank));
  return true;
}

/// Whether `line` says what the user saw: "--outcome hung".
bool is_outcome(std::string_view line, std::optional<StatedOutcome>& stated) {
  constexpr std::string_view kFlag = "--outcome ";
  if (!line.starts_with(kFlag)) return false;
  const auto& names = kStatedOutcomeNames;
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
    } else if (may_be_document && add_inspected(trim(line), companions)) {
      has_companions = true;
    } else if (!is_outcome(trim(line), stated)) {
      lines += line;
      lines += '\n';
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
  job.stated = stated;
  add_host_records(example.substr(records), job);
  return job;
}

}  // namespace ncclog

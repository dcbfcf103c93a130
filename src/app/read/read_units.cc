#include "app/read/read_units.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "app/read/progress.h"
#include "app/read/read_document.h"
#include "log/event.h"

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
/// here. `ends_input` is asked once they are read.
Shard read_lines(auto& lines, const WalkedInput& name, const ReadSettings& settings,
                 ReadBefore& before, auto ends_input) {
  LogReader reader(name.number, name.input_number, settings.matcher, settings.finder,
                   settings.filter, &before);
  for (Line line;;) {
    const LineRun taken = reader.take_known(lines.ahead(), lines.next_number());
    if (taken.lines > 0) lines.skip(taken);
    // What was taken is where it lay; the next line may lie in its place.
    if (lines.will_refill()) reader.settle();
    if (!lines.next(line)) return reader.finish(ends_input());
    reader.add(line);
  }
}

/// Hands the shards 0, 1, 2, … on in this order, whatever the order in which several threads put
/// them. Invariant: exactly those before next_ were handed on; all keys of waiting_ are behind it.
class InOrder {
 public:
  /// `take` is called for one shard at a time.
  explicit InOrder(std::function<void(uint32_t index, Shard&& shard)> take)
      : take_(std::move(take)) {}

  /// Waits until `index` is near enough to what was handed on, so that shards do not pile up behind
  /// a slow one. False if the whole is given up.
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
      take_(next_, std::move(waiting_.begin()->second));
      waiting_.erase(waiting_.begin());
      ++next_;
    }
    progress_.notify_all();
  }

  /// `finish` will throw this, unless there was a failure before.
  void give_up(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (failure_ == nullptr) failure_ = std::move(failure);
    progress_.notify_all();
  }

  bool is_given_up() {
    const std::lock_guard lock(mutex_);
    return failure_ != nullptr;
  }

  /// To be called once all have been put. Rethrows a failure.
  void finish() {
    if (failure_ != nullptr) std::rethrow_exception(failure_);
  }

 private:
  /// So many shards may wait for a slow one before them: enough that nobody stands still for one
  /// large file, few enough that memory does not grow with the number of files.
  static constexpr uint32_t kAhead = 64;

  std::function<void(uint32_t index, Shard&& shard)> take_;
  std::mutex mutex_;
  std::condition_variable progress_;
  uint32_t next_ = 0;
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
  Shard take() {
    merge_.finish();
    return std::move(merged_);
  }

 private:
  /// False if there was none.
  bool read_stretch(Worker& worker, const std::function<void()>& on_more) {
    Stretch stretch(lines_, worker.memory);
    if (stretch.is_none()) return false;
    if (stretch.index() == 0 && !stretch.is_last() && on_more) on_more();
    if (!merge_.wait_for(stretch.index())) return false;
    const auto is_last = [&] { return stretch.is_last(); };
    merge_.put(stretch.index(), read_lines(stretch, name_, settings_, worker.before, is_last));
    return true;
  }

  const WalkedInput& name_;
  const ReadSettings& settings_;
  LineStream lines_;
  Shard merged_;
  InOrder merge_{[this](uint32_t, Shard&& stretch) { merged_.merge(std::move(stretch)); }};
};

/// The units 0 … count - 1, handed out in order; what they say is taken in order.
class Workload {
 public:
  Workload(uint32_t count, std::function<void(uint32_t unit, Shard&& shard)> take)
      : count_(count), merge_(std::move(take)) {}

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

  /// Once all workers are done. Rethrows a failure.
  void finish() { merge_.finish(); }

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
  InOrder merge_;
};

/// What all workers share.
struct Reading {
  std::span<const UnitToRead> units;
  const ReadSettings& settings;
  std::vector<std::vector<WalkedInput>> walked;  ///< By unit.
  Workload workload;
};

/// A copy of /sys/class/infiniband/mlx5_1/ports/1/counters/link_downed: a number and nothing else.
bool is_in_counter_tree(std::string_view path) {
  const size_t port = path.find("/ports/");
  return port != path.npos && (path.find("/counters/", port) != path.npos ||
                               path.find("/hw_counters/", port) != path.npos);
}

/// What a document says, and the lines behind it: `cat` puts a dump in front of a log, and people
/// write all that they know of a host into one file.
Shard read_document_and_lines(UnitReader& input, const WalkedInput& name,
                              const ReadSettings& settings, ReadBefore& before) {
  std::string rest;
  Shard shard = read_document(input, name, rest);
  if (rest.find_first_not_of(" \t\r\n") == rest.npos) return shard;
  size_t at = 0;
  LineReader lines([&](char* buffer, size_t capacity) {
    const size_t count = rest.copy(buffer, capacity, at);
    at += count;
    return count;
  });
  LogReader reader(name.number, name.input_number, settings.matcher, settings.finder,
                   settings.filter, &before);
  for (Line line; lines.next(line);) reader.add(line);
  shard.merge(reader.finish());
  return shard;
}

/// What is called a part and is none: empty, or damaged where it says what it is. `scan` packs parts.
bool is_broken_part(const UnitReader& input, const WalkedInput& name) {
  const Content content = input.content();
  const bool is_log = content == Content::Text && name.format != "zstd";
  return name.path.ends_with(".part") && content != Content::Part && !is_log;
}

/// What one readable thing says; streams of several stretches are opened to the other workers.
/// `is_last`: no unit of the same file follows.
Shard read_input(Reading& reading, UnitReader& input, const WalkedInput& name, Worker& worker,
                 bool is_last) {
  if (input.content() == Content::Part) return reading.settings.read_part(input);
  if (is_broken_part(input, name)) {
    input.refuse("No part of a scan, though it is called one: what it held is not known.");
    return Shard();
  }
  const bool is_counter = input.content() == Content::Text && is_in_counter_tree(name.path);
  if (is_document(input.content()) || is_counter) {
    return read_document_and_lines(input, name, reading.settings, worker.before);
  }
  if (!input.is_stream()) {
    return read_lines(input, name, reading.settings, worker.before, [&] { return is_last; });
  }
  SharedStream stream(input, name, reading.settings);
  stream.work(worker, [&] { reading.workload.open(stream); });
  reading.workload.close(stream);
  return stream.take();
}

void read_unit(Reading& reading, uint32_t index, Worker& worker) {
  try {
    const auto& [unit, path] = reading.units[index];
    const bool is_last = index + 1 == reading.units.size() || reading.units[index + 1].path != path;
    if (reading.settings.progress != nullptr) reading.settings.progress->enter(path);
    InputWalk walk(unit, path, {.memory = worker.memory});
    Shard shard;
    while (UnitReader* input = walk.next()) {
      shard.merge(read_input(reading, *input, walk.current(), worker, is_last));
    }
    reading.walked[index] = walk.take();
    reading.workload.done(index, std::move(shard));
  } catch (...) {
    reading.workload.give_up(std::current_exception());
  }
}

/// Reads units, and stretches of streams that others have open, until nothing is left.
void work(Reading& reading) try {
  // For the lines of a stretch. All of it is used only where streams are shared.
  constexpr uint64_t kStretchBytes = uint64_t{8} << 20;
  constexpr uint64_t kLeastBytes = 256;
  LineBuffer memory(std::clamp(reading.settings.unit_bytes, kLeastBytes, kStretchBytes));
  Worker worker{memory.bytes(), ReadBefore(reading.settings.matcher, reading.settings.finder)};
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
} catch (...) {
  reading.workload.give_up(std::current_exception());
}

/// Whether an input may be a stream that more than one worker is of use for.
bool may_be_shared(const std::string& path, const ReadSettings& settings) {
  // A smaller one is read before a second worker could take its part.
  constexpr uint64_t kWorthSharing = uint64_t{64} << 10;
  std::error_code error;
  return !std::filesystem::is_regular_file(path, error) ||
         std::filesystem::file_size(path, error) > std::min(kWorthSharing, settings.unit_bytes);
}

unsigned worker_count(std::span<const UnitToRead> units, const ReadSettings& settings) {
  const unsigned processors = std::max(1U, std::thread::hardware_concurrency());
  const unsigned threads =
      settings.threads > 0 ? static_cast<unsigned>(settings.threads) : processors;
  if (units.size() >= threads) return threads;
  // More workers than units are of use only where a stream can be shared.
  const bool shared = std::ranges::any_of(units, [&](const UnitToRead& one) {
    return one.unit.whole && may_be_shared(one.path, settings);
  });
  return shared ? threads : std::max(1U, static_cast<unsigned>(units.size()));
}

}  // namespace

void read_units(std::span<const UnitToRead> units, std::span<const std::string> inputs,
                const ReadSettings& settings, const TakeUnit& take) {
  const unsigned count = worker_count(units, settings);
  if (settings.progress != nullptr) settings.progress->begin(inputs, count);
  const SharedFilter filter(settings.matcher, settings.finder);
  ReadSettings filtered = settings;
  filtered.filter = &filter;
  std::vector<std::vector<WalkedInput>> walked(units.size());
  Reading reading{units, filtered, std::move(walked),
                  Workload(static_cast<uint32_t>(units.size()), [&](uint32_t unit, Shard&& shard) {
                    take(unit, std::move(shard), std::move(reading.walked[unit]));
                  })};
  {
    std::vector<std::jthread> workers;
    try {
      for (unsigned w = 1; w < count; ++w) workers.emplace_back([&] { work(reading); });
    } catch (const std::system_error&) {
      // The system has no room for so many: those that there are do all of it.
    }
    work(reading);
  }
  if (settings.progress != nullptr) settings.progress->end();
  reading.workload.finish();
}

}  // namespace ncclog

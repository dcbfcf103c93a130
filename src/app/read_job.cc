#include "app/read_job.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <filesystem>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "app/read_again.h"
#include "app/read_document.h"
#include "input/input_walk.h"
#include "log/event.h"
#include "model/build_job.h"
#include "model/first_difference.h"
#include "model/read_log.h"

namespace ncclog {
namespace {

/// Joins shards in unit order, whatever the order in which they are finished.
class OrderedMerge {
 public:
  /// Waits until `index` is near enough to what is merged, so that shards do not pile up behind one
  /// slow unit. False if the run is given up.
  bool wait_for(uint32_t index) {
    std::unique_lock lock(mutex_);
    progress_.wait(lock, [&] { return failure_ != nullptr || index < next_ + kAhead; });
    return failure_ == nullptr;
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

  void give_up(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (failure_ == nullptr) failure_ = std::move(failure);
    progress_.notify_all();
  }

  /// The whole, once every worker is done. Rethrows what made a worker give up.
  Shard take() {
    if (failure_ != nullptr) std::rethrow_exception(failure_);
    return std::move(merged_);
  }

 private:
  static constexpr uint32_t kAhead = 64;

  std::mutex mutex_;
  std::condition_variable progress_;
  uint32_t next_ = 0;  ///< merged_ holds exactly the units before this one.
  Shard merged_;
  std::map<uint32_t, Shard> waiting_;  ///< Finished units behind a gap; all keys > next_.
  std::exception_ptr failure_;
};

using Units = std::vector<Unit>;

/// What each unit turned out to hold, by unit index.
using Walked = std::vector<std::vector<WalkedInput>>;

/// What one readable thing says.
Shard read_input(UnitReader& input, const WalkedInput& name, const ReadSettings& settings) {
  if (is_document(input.content())) return read_document(input, name);
  LogReader reader(name.number, name.input_number, settings.matcher, settings.finder);
  for (Line line; input.next(line);) reader.add(line);
  return reader.finish();
}

Shard read_one(const Unit& unit, const std::string& path, const ReadSettings& settings,
               std::vector<WalkedInput>& walked) {
  InputWalk walk(unit, path);
  Shard shard;
  while (UnitReader* input = walk.next()) shard.merge(read_input(*input, walk.current(), settings));
  walked = walk.take();
  return shard;
}

unsigned worker_count(int wanted, size_t units) {
  const unsigned processors = std::max(1U, std::thread::hardware_concurrency());
  const unsigned threads = wanted > 0 ? static_cast<unsigned>(wanted) : processors;
  return static_cast<unsigned>(std::clamp<size_t>(units, 1, threads));
}

/// Reads every unit; `walked` is filled.
Shard read_units(std::span<const std::string> inputs, const Units& units,
                 const ReadSettings& settings, Walked& walked) {
  OrderedMerge merge;
  std::atomic<uint32_t> next = 0;
  const auto work = [&] {
    for (uint32_t u = next++; u < units.size() && merge.wait_for(u); u = next++) {
      try {
        merge.put(u, read_one(units[u], inputs[units[u].input], settings, walked[u]));
      } catch (...) {
        merge.give_up(std::current_exception());
      }
    }
  };
  {
    std::vector<std::jthread> workers;
    for (unsigned w = 1; w < worker_count(settings.threads, units.size()); ++w) {
      workers.emplace_back(work);
    }
    work();
  }
  return merge.take();
}

uint64_t bytes_on_disk(const std::string& path, uint64_t bytes_read) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return bytes_read;
  const uint64_t size = std::filesystem::file_size(path, error);
  return error ? bytes_read : size;
}

JobInput describe(const WalkedInput& walked) {
  JobInput input;
  input.path = walked.path;
  const Content content = walked.result.content;
  input.format = is_document(content) ? std::string(to_string(content)) : walked.format;
  input.is_archive = walked.is_archive;
  input.bytes = walked.result.bytes;
  if (!walked.is_member) input.bytes = bytes_on_disk(input.path, input.bytes);
  input.lines = walked.result.lines;
  input.status = walked.result.status;
  input.note = walked.result.note;
  return input;
}

void add_stretch(JobInput& input, const UnitResult& result) {
  input.lines += result.lines;
  input.status = std::max(input.status, result.status);
  if (input.note.empty()) input.note = result.note;
}

/// The inputs with their units, in order. Stretches of one file follow each other.
struct Places {
  std::vector<JobInput> inputs;
  std::vector<JobUnit> units;
};

Places place_inputs(const Walked& walked) {
  Places places;
  const WalkedInput* before = nullptr;
  for (const std::vector<WalkedInput>& unit : walked) {
    for (const WalkedInput& input : unit) {
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

LossTable reading_losses(const Walked& walked) {
  LossTable losses;
  for (const std::vector<WalkedInput>& unit : walked) {
    for (const WalkedInput& input : unit) losses += input.result.losses;
  }
  return losses;
}

}  // namespace

ReadJob read_job_with_units(std::span<const std::string> inputs, const ReadSettings& settings) {
  ReadJob read;
  read.units =
      cut_units(inputs, {.unit_bytes = settings.unit_bytes, .may_start_unit = may_start_unit});
  Walked walked(read.units.size());
  Shard shard = read_units(inputs, read.units, settings, walked);
  LossTable losses = shard.losses();
  losses += reading_losses(walked);
  Places places = place_inputs(walked);
  read.job = build_job(std::move(shard), std::move(places.inputs), std::move(places.units), losses);
  find_differences(read.job, call_reader(read.job, inputs, read.units));
  return read;
}

Job read_job(std::span<const std::string> inputs, const ReadSettings& settings) {
  return read_job_with_units(inputs, settings).job;
}

}  // namespace ncclog

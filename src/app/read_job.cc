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

#include "input/read_unit.h"
#include "log/event.h"
#include "model/build_job.h"
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
using Results = std::vector<UnitResult>;

Shard read_one(const Unit& unit, const std::string& path, const LineMatcher& matcher,
               UnitResult& result) {
  LogReader reader(unit.index, unit.input, matcher);
  result = read_unit(unit, path, ReadOptions{}, [&](const Line& line) { reader.add(line); });
  return reader.finish();
}

unsigned worker_count(int wanted, size_t units) {
  const unsigned processors = std::max(1U, std::thread::hardware_concurrency());
  const unsigned threads = wanted > 0 ? static_cast<unsigned>(wanted) : processors;
  return static_cast<unsigned>(std::clamp<size_t>(units, 1, threads));
}

/// Reads every unit; `results` is filled by unit index.
Shard read_units(std::span<const std::string> inputs, const Units& units,
                 const ReadSettings& settings, Results& results) {
  OrderedMerge merge;
  std::atomic<uint32_t> next = 0;
  const auto work = [&] {
    for (uint32_t u = next++; u < units.size() && merge.wait_for(u); u = next++) {
      try {
        merge.put(u, read_one(units[u], inputs[units[u].input], settings.matcher, results[u]));
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

std::vector<JobInput> describe_inputs(std::span<const std::string> paths, const Units& units,
                                      const Results& results) {
  std::vector<JobInput> inputs(paths.size());
  for (size_t i = 0; i < paths.size(); ++i) inputs[i].path = paths[i];
  for (size_t u = 0; u < units.size(); ++u) {
    const UnitResult& result = results[u];
    JobInput& input = inputs[units[u].input];
    const bool plain = result.compression == Compression::None;
    input.format = plain ? "plain" : to_string(result.compression);
    input.bytes += result.bytes;
    input.lines += result.lines;
    input.status = std::max(input.status, result.status);
    if (input.note.empty()) input.note = result.note;
  }
  for (JobInput& input : inputs) input.bytes = bytes_on_disk(input.path, input.bytes);
  return inputs;
}

/// Where each unit's lines stand in its input, from how many lines the units before it held.
std::vector<JobUnit> place_units(const Units& units, const Results& results) {
  std::vector<JobUnit> places;
  for (size_t u = 0; u < units.size(); ++u) {
    JobUnit place{.input = units[u].input};
    if (u > 0 && units[u - 1].input == units[u].input) {
      place.first_line = places.back().first_line + results[u - 1].newlines;
    }
    places.push_back(place);
  }
  return places;
}

}  // namespace

Job read_job(std::span<const std::string> inputs, const ReadSettings& settings) {
  const Units units =
      cut_units(inputs, {.unit_bytes = settings.unit_bytes, .may_start_unit = may_start_unit});
  Results results(units.size());
  Shard shard = read_units(inputs, units, settings, results);
  LossTable losses = shard.losses();
  for (const UnitResult& result : results) losses += result.losses;
  return build_job(std::move(shard), describe_inputs(inputs, units, results),
                   place_units(units, results), losses);
}

}  // namespace ncclog

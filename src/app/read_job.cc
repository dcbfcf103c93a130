#include "app/read_job.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "app/read_again.h"
#include "app/read_document.h"
#include "app/read_lines.h"
#include "app/reading_progress.h"
#include "app/workload.h"
#include "input/input_walk.h"
#include "log/event.h"
#include "model/build_job.h"
#include "model/first_difference.h"

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

/// One who reads units, and stretches of streams that others have open.
class Worker {
 public:
  Worker(std::span<const std::string> inputs, const Units& units, const ReadSettings& settings,
         Walked& walked, Workload& workload)
      : inputs_(inputs),
        units_(units),
        settings_(settings),
        walked_(walked),
        workload_(workload),
        memory_(make_memory(settings)) {}

  void work() {
    for (;;) {
      const Workload::Task task = workload_.next();
      if (task.unit) {
        read_unit(*task.unit);
      } else if (task.stream != nullptr) {
        task.stream->work(memory_.bytes());
        workload_.leave(*task.stream);
      } else {
        return;
      }
    }
  }

 private:
  void read_unit(uint32_t index) {
    try {
      const Unit& unit = units_[index];
      reading_progress().enter(inputs_[unit.input]);
      InputWalk walk(unit, inputs_[unit.input], {.memory = memory_.bytes()});
      Shard shard;
      while (UnitReader* input = walk.next()) shard.merge(read_input(*input, walk.current()));
      walked_[index] = walk.take();
      workload_.done(index, std::move(shard));
    } catch (...) {
      workload_.give_up(std::current_exception());
    }
  }

  /// What one readable thing says.
  Shard read_input(UnitReader& input, const WalkedInput& name) {
    if (is_document(input.content())) return read_document(input, name);
    return input.is_stream() ? read_stream(input, name) : read_lines(input, name, settings_);
  }

  Shard read_stream(UnitReader& input, const WalkedInput& name) {
    SharedStream stream(input, name, settings_);
    stream.work(memory_.bytes(), [&] { workload_.open(stream); });
    workload_.close(stream);
    return stream.take();
  }

  std::span<const std::string> inputs_;
  const Units& units_;
  const ReadSettings& settings_;
  Walked& walked_;
  Workload& workload_;
  LineBuffer memory_;
};

/// Whether an input may be a stream that more than one worker is of use for.
bool may_be_shared(const std::string& path, const ReadSettings& settings) {
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
  Workload workload(static_cast<uint32_t>(units.size()));
  const auto work = [&] { Worker(inputs, units, settings, walked, workload).work(); };
  {
    std::vector<std::jthread> workers;
    for (unsigned w = 1; w < count; ++w) {
      workers.emplace_back(work);
    }
    work();
  }
  reading_progress().end();
  return workload.take();
}

JobInput describe(const WalkedInput& walked) {
  JobInput input;
  input.path = walked.path;
  const Content content = walked.result.content;
  input.format = is_document(content) ? std::string(to_string(content)) : walked.format;
  input.is_archive = walked.is_archive;
  const uint64_t on_disk = walked.result.bytes_on_disk;
  input.bytes = on_disk > 0 ? on_disk : walked.result.bytes;
  if (is_log(content)) input.text_bytes = walked.result.bytes;
  input.lines = walked.result.lines;
  input.status = walked.result.status;
  input.note = walked.result.note;
  return input;
}

void add_stretch(JobInput& input, const UnitResult& result) {
  input.text_bytes += result.bytes;
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
  const SharedFilter filter(settings.matcher, settings.finder);
  ReadSettings filtered = settings;
  filtered.filter = &filter;
  Shard shard = read_units(inputs, read.units, filtered, walked);
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

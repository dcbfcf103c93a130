#include "app/read/read_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "app/read/scan.h"
#include "diagnose/perf/late/call_times.h"
#include "log/event.h"
#include "model/derive/build_job.h"
#include "part/part.h"

namespace ncclog {
namespace {

JobInput describe(const WalkedInput& walked) {
  const UnitResult& result = walked.result;
  JobInput input;
  input.path = walked.path;
  input.format = is_document(result.content) || result.content == Content::Part
                     ? std::string(to_string(result.content))
                     : walked.format;
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
Places place_inputs(const std::vector<std::vector<WalkedInput>>& walked) {
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
        // Not by lines: pieces between lone "\r" count as lines and move no line numbers.
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

/// Everything that was read.
struct ReadInputs {
  Shard shard;
  std::vector<std::vector<WalkedInput>> walked;  ///< By unit.
  std::vector<LoadedPart> parts;                 ///< Inputs that are parts of scans.
};

/// A part that can be used stands for what was scanned into it.
void leave_out_parts(std::vector<WalkedInput>& walked) {
  std::erase_if(walked, [](const WalkedInput& input) {
    return input.result.content == Content::Part && input.result.status == InputStatus::Whole;
  });
}

ReadInputs read_inputs(std::span<const std::string> inputs, const ReadSettings& settings,
                       ReadUnits& read) {
  read.inputs.assign(inputs.begin(), inputs.end());
  read.units =
      cut_units(inputs, {.unit_bytes = settings.unit_bytes, .may_start_unit = may_start_unit});
  std::vector<UnitToRead> units;
  units.reserve(read.units.size());
  for (const Unit& unit : read.units) units.push_back({unit, read.inputs[unit.input]});
  ReadInputs all;
  std::mutex mutex;
  ReadSettings with_parts = settings;
  with_parts.read_part = [&](UnitReader& input) {
    std::string problem;
    std::optional<LoadedPart> part = read_part(input, settings.matcher, problem);
    if (!part) input.refuse(fmt::format("A part of a scan that cannot be used: {}.", problem));
    const std::lock_guard lock(mutex);
    if (part) all.parts.push_back(std::move(*part));
    return Shard();
  };
  read_units(units, inputs, with_parts,
             [&](uint32_t, Shard&& shard, std::vector<WalkedInput>&& walked) {
               all.shard.merge(std::move(shard));
               leave_out_parts(walked);
               all.walked.push_back(std::move(walked));
             });
  return all;
}

/// The inputs that are not parts.
std::vector<std::string> logs_of(const ReadInputs& all, const ReadUnits& read) {
  std::vector<std::string> logs;
  for (size_t i = 0; i < all.walked.size(); ++i) {
    const std::string& path = read.inputs[read.units[i].input];
    const bool is_new = logs.empty() || logs.back() != path;
    if (!all.walked[i].empty() && is_new) logs.push_back(path);
  }
  return logs;
}

/// The parts merged, with logs that were given beside them: those are scanned like those in the
/// parts, because inputs merge in the order of their names.
ReadInputs merge_all(ReadInputs&& all, const ReadSettings& settings, ReadUnits& read) {
  const std::vector<std::string> logs = logs_of(all, read);
  if (!logs.empty()) all.parts.push_back(scan_in_memory(logs, settings));
  MergedParts merged = merge_parts(std::move(all.parts));
  read.inputs.clear();
  read.units = std::move(merged.units);
  read.answers = std::move(merged.answers);
  for (const MergedInput& input : merged.inputs) {
    read.inputs.push_back(input.path);
    read.elsewhere.push_back({input.host, input.path, input.stamp, input.first_unit});
  }
  return {std::move(merged.shard), std::move(merged.walked), {}};
}

}  // namespace

Job read_job(std::span<const std::string> inputs, const ReadSettings& settings, ReadUnits& read) {
  ReadInputs all = read_inputs(inputs, settings, read);
  if (!all.parts.empty()) all = merge_all(std::move(all), settings, read);
  Places places = place_inputs(all.walked);
  LossTable losses = all.shard.losses;
  losses += places.losses;
  Job job =
      build_job(std::move(all.shard), std::move(places.inputs), std::move(places.units), losses);
  find_differences(job, call_reader(job, read));
  number_differences(job, texts_of_lines(read));
  job.call_stamps = read_stamps(read, stamped_calls(job));
  return job;
}

Job read_job(std::span<const std::string> inputs, const ReadSettings& settings) {
  ReadUnits read;
  return read_job(inputs, settings, read);
}

}  // namespace ncclog

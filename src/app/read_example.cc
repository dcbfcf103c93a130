#include "app/read_example.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"
#include "import/flight_recorder.h"
#include "model/build_job.h"
#include "model/job_from_text.h"

namespace ncclog {
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
  Shard dumps(0, 0);
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
  input.lines = shard.losses().lines;
  const LossTable losses = shard.losses();
  Job job = build_job(std::move(shard), {std::move(input)}, {JobUnit{}}, losses);
  job.stated = stated;
  return job;
}

}  // namespace ncclog

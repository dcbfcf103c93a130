#include "support/job_from_files.h"

#include "base/text.h"
#include "model/derive/build_job.h"
#include "model/shard/read_log.h"

namespace ncclog::testing {

Job job_from_files(const std::vector<std::pair<std::string, std::string>>& files) {
  const LineMatcher none;
  Shard all;
  std::vector<JobInput> inputs;
  std::vector<JobUnit> units;
  for (const auto& [path, text] : files) {
    const uint64_t place = inputs.size();
    LogReader reader(place, place, none);
    Line line{{}, 0, 0, false};
    for (const std::string_view piece : split(text, '\n')) {
      ++line.number;
      line.text = piece;
      reader.add(line);
    }
    all.merge(reader.finish());
    inputs.emplace_back().path = path;
    units.push_back({place, static_cast<uint32_t>(place), 1});
  }
  const LossTable losses = all.losses;
  return build_job(std::move(all), std::move(inputs), std::move(units), losses);
}

}  // namespace ncclog::testing

#include "bench/timed_runs.h"

#include <algorithm>
#include <stdexcept>

#include "support/process.h"

namespace ncclog::testing {
namespace {

struct Samples {
  std::vector<double> seconds;
  std::vector<double> cpu_seconds;
  double peak_mb = 0;
};

void add_run(const Contender& contender, Samples& samples) {
  const Outcome outcome = run_command({.arguments = {"sh", "-c", contender.command}});
  if (outcome.exit_code > 1) {
    throw std::runtime_error(contender.command + "\n" + outcome.standard_error);
  }
  samples.seconds.push_back(outcome.seconds);
  samples.cpu_seconds.push_back(outcome.cpu_seconds);
  samples.peak_mb =
      std::max(samples.peak_mb, static_cast<double>(outcome.peak_rss_kib) * 1024 / 1e6);
}

}  // namespace

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::vector<Timed> run_in_turns(const std::vector<Contender>& contenders, int rounds) {
  std::vector<Samples> samples(contenders.size());
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < contenders.size(); ++i) add_run(contenders[i], samples[i]);
  }
  std::vector<Timed> runs;
  for (size_t i = 0; i < contenders.size(); ++i) {
    runs.push_back({contenders[i].name, median(samples[i].seconds), median(samples[i].cpu_seconds),
                    samples[i].peak_mb});
  }
  return runs;
}

const Timed& timed(const std::vector<Timed>& runs, const std::string& name) {
  const auto found =
      std::find_if(runs.begin(), runs.end(), [&](const Timed& run) { return run.name == name; });
  if (found == runs.end()) throw std::out_of_range("nothing was timed as " + name);
  return *found;
}

}  // namespace ncclog::testing

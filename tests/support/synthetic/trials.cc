#include "support/synthetic/trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "app/read/read_job.h"
#include "input/find_inputs.h"
#include "report/report.h"
#include "support/temp_dir.h"

namespace ncclog::testing {
namespace {

std::string percent(uint64_t part, uint64_t whole) {
  if (whole == 0) return "-";
  return fmt::format("{:.2f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string row(std::string_view what, std::string_view value) {
  return fmt::format("{:46} {}\n", what, value);
}

std::string seeds_of(const std::vector<WrongSeed>& seeds) {
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(seeds.size(), 24); ++i) {
    text += fmt::format(" {}", seeds[i].seed);
  }
  return text + (seeds.size() > 24 ? " …" : "");
}

}  // namespace

std::string Analyst::report_on(const SyntheticJob& job) const {
  const TempDir folder;
  for (const auto& [name, text] : job.files) folder.add(name, text);
  const std::vector<std::string> inputs = find_inputs(std::vector{folder.path().string()});
  Report report;
  report.job = read_job(inputs, {.threads = 1, .matcher = matcher_});
  report.diagnosis = evaluate(rulebook_, report.job);
  return write_json(report);
}

void Tally::add(const SyntheticJob& job, uint64_t seed, std::string_view report) {
  const Truth& truth = job.truth;
  const Judgement judgement = judge(job, report);
  const auto note = [&](std::string_view kind, std::string_view what, std::string_view text) {
    const std::string key =
        fmt::format("{}: {} ({}, {})", kind, what, name_of(truth.planted.act), name_of_end(job));
    wrong[key].push_back(
        {seed, truth.planted.fault, fmt::format("{}\n  {}", describe(job, seed), text)});
  };
  ++jobs;
  ++ends[std::string(name_of_end(job))];
  started_again += job.attempts.size() > 1 ? 1 : 0;
  // Calls that differ and go through do no harm that anybody waits for.
  const bool is_faulty = truth.is_marred && truth.is_hung;
  faulty += is_faulty ? 1 : 0;
  if (is_faulty) {
    auto& [all, suffice] =
        by_fault[fmt::format("{}, {}", name_of(truth.planted.act), name_of_end(job))];
    ++all;
    suffice += truth.must_name ? 1 : 0;
  }
  const bool is_healthy = truth.planted.fault == Fault::None && job.attempts.size() == 1;
  finished += is_healthy && truth.shows_finish ? 1 : 0;
  stopped += is_healthy && !truth.finished ? 1 : 0;
  for (const WrongClaim& claim : judgement.wrong) note(claim.kind, claim.what, claim.sentence);
  if (!truth.must_name) return;
  ++must;
  named += judgement.names_guilty ? 1 : 0;
  if (!judgement.names_guilty) note(kNotNamed, "", describe_claims(report));
}

void Tally::add(Tally&& other) {
  jobs += other.jobs;
  faulty += other.faulty;
  must += other.must;
  named += other.named;
  finished += other.finished;
  stopped += other.stopped;
  started_again += other.started_again;
  for (const auto& [end, count] : other.ends) ends[end] += count;
  for (const auto& [fault, counts] : other.by_fault) {
    by_fault[fault].first += counts.first;
    by_fault[fault].second += counts.second;
  }
  for (auto& [key, seeds] : other.wrong) {
    std::vector<WrongSeed>& all = wrong[key];
    std::move(seeds.begin(), seeds.end(), std::back_inserter(all));
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.seed < b.seed; });
  }
}

uint64_t Tally::count(std::string_view kind) const {
  std::set<std::pair<uint64_t, Fault>> jobs_with;
  for (const auto& [key, seeds] : wrong) {
    if (!key.starts_with(kind)) continue;
    for (const WrongSeed& seed : seeds) jobs_with.insert({seed.seed, seed.fault});
  }
  return jobs_with.size();
}

Tally Tallies::all() && {
  run_once.add(std::move(run_again));
  return std::move(run_once);
}

Tallies judge_seeds(uint64_t first, uint64_t count, int threads) {
  std::atomic<uint64_t> next = 0;
  std::vector<Tallies> parts(static_cast<size_t>(threads));
  std::vector<std::thread> workers;
  for (Tallies& part : parts) {
    workers.emplace_back([&] {
      const Analyst analyst;
      for (uint64_t i = next++; i < count; i = next++) {
        const SyntheticJob job = make_synthetic_job(first + i, fault_of(first + i));
        Tally& tally = job.attempts.size() > 1 ? part.run_again : part.run_once;
        tally.add(job, first + i, analyst.report_on(job));
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  Tallies all;
  for (Tallies& part : parts) {
    all.run_once.add(std::move(part.run_once));
    all.run_again.add(std::move(part.run_again));
  }
  return all;
}

std::string summary(const Tally& tally, size_t texts) {
  std::string text = row("jobs", std::to_string(tally.jobs));
  for (const auto& [end, count] : tally.ends) text += row("  " + end, std::to_string(count));
  text += row("  started again", std::to_string(tally.started_again));
  text += row("with a fault that hangs the job", std::to_string(tally.faulty));
  text += row("  whose lines suffice",
              fmt::format("{} ({})", tally.must, percent(tally.must, tally.faulty)));
  text += row("  guilty named exactly",
              fmt::format("{} ({})", tally.named, percent(tally.named, tally.must)));
  text += row("healthy, the end is in the log", std::to_string(tally.finished));
  text += row("healthy, stopped in mid-step", std::to_string(tally.stopped));
  for (const std::string_view kind :
       {kInnocentNamed, kOverClaimsClean, kFinishedNotClean, kRunsNotApart, kWrongRunVerdict,
        kFalseAlarm, kWrongId, kWrongVerdict, kNotNamed}) {
    text += row(kind, std::to_string(tally.count(kind)));
  }
  for (const auto& [fault, counts] : tally.by_fault) {
    text += row("  " + fault, fmt::format("{} of {}", counts.second, counts.first));
  }
  for (const auto& [key, seeds] : tally.wrong) {
    text += fmt::format("\n{} × {}:{}\n", seeds.size(), key, seeds_of(seeds));
    for (size_t i = 0; i < std::min(texts, seeds.size()); ++i) {
      text += "  " + seeds[i].text + "\n";
    }
  }
  return text;
}

}  // namespace ncclog::testing

// Did nccl-tests get right results, and as fast as it was asked to?
//
//        8388608       2097152     float     sum      -1   4915.3    1.71    3.20     12   5012.1 …
//   # Out of bounds values : 12 FAILED
//       → job.nccl_tests_wrong = yes, "all_reduce_perf counts wrong values in 12 of 12 rows, first at 8
//       MiB"
//
// Up to 2.10 the last column is the largest error, which is never zero for floats: such rows are
// judged by the sum below the table only.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>

#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "diagnose/outcome/outcome.h"

namespace ncclog {
namespace {

std::string name_of(const NcclTestsRun& run) { return run.test.empty() ? "nccl-tests" : run.test; }

/// "1.5 GiB": bytes as people name sizes, whole where they are whole.
std::string size_phrase(int64_t bytes) {
  constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  while (bytes >= 1024 && bytes % 1024 == 0 && unit + 1 < std::size(kUnits)) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", bytes, kUnits[unit]);
}

/// "all_reduce_perf: wrong values from 8 MiB float sum on, in 3 of 12 sizes"; empty: all is right.
std::string wrong_phrase(const NcclTestsRun& run, std::vector<Evidence>& evidence) {
  size_t wrong = 0;
  std::string first;
  for (const NcclTestsRow& row : run.rows) {
    const bool is_wrong = nccl_tests_wrong_values(row.out_of_place.wrong) > 0 ||
                          nccl_tests_wrong_values(row.in_place.wrong) > 0;
    if (!is_wrong) continue;
    if (wrong++ == 0)
      first = fmt::format("{} {} {}", size_phrase(row.size), row.datatype, row.redop);
    evidence.push_back({row.where, row.text});
  }
  if (wrong > 0) {
    return fmt::format("{} counts wrong values in {} of {} rows, first at {}", name_of(run), wrong,
                       run.rows.size(), trim(first));
  }
  if (run.out_of_bounds <= 0) return {};
  // The sum counts comparisons, of which a row makes several, and no elements.
  return fmt::format("{} found wrong values in {} comparisons", name_of(run), run.out_of_bounds);
}

FactValue nccl_tests_wrong(const Job& job, const Instance&) {
  if (job.nccl_tests.empty()) return unknown();
  AnswerParts wrong;
  for (const NcclTestsRun& run : job.nccl_tests) {
    std::string part = wrong_phrase(run, wrong.evidence);
    if (!part.empty()) wrong.words.push_back(std::move(part));
  }
  for_each_said<NcclTestsOutOfBounds>(job, [&](const Said<NcclTestsOutOfBounds>& said) {
    if (said.message.verdict == "FAILED") wrong.evidence.push_back(evidence_of(said.record()));
  });
  return wrong.answer(no());
}

FactValue nccl_tests_slow(const Job& job, const Instance&) {
  if (job.nccl_tests.empty()) return unknown();
  std::vector<std::string> parts;
  for (const NcclTestsRun& run : job.nccl_tests) {
    if (run.below_expected) parts.push_back(fmt::format("{}: {} GB/s", name_of(run), run.busbw));
  }
  return parts.empty() ? no() : yes(join(parts, "; "));
}

/// GB/s that NCCL's own search promises for its rings: channels times bandwidth, between hosts if
/// there are several. 0: no line says it.
double promised_bandwidth(const Job& job) {
  constexpr int kRing = 4;
  double promised = 0;
  for_each_said<GraphPattern>(job, [&](const Said<GraphPattern>& said) {
    if (said.message.pattern != kRing || promised > 0) return;
    const std::string bw(said.message.bw);
    const size_t slash = std::min(bw.find('/'), bw.size() - 1);
    const std::string figure = job.nhosts > 1 ? bw.substr(slash + 1) : bw;
    promised = said.message.channels * std::strtod(figure.c_str(), nullptr);
  });
  return promised;
}

/// Every process that nccl-tests lists is rank 0, so each has a communicator of its own.
FactValue nccl_tests_single_ranks(const Job& job, const Instance&) {
  std::set<std::pair<std::string, int64_t>> processes;
  FactValue value = number(0);
  bool others = false;
  for_each_said<NcclTestsRank>(job, [&](const Said<NcclTestsRank>& said) {
    others |= said.message.rank != 0;
    if (processes.emplace(said.message.host, said.message.pid).second) {
      value.evidence.push_back(evidence_of(said.record()));
    }
  });
  if (others || processes.empty()) return unknown();
  value.value = static_cast<int64_t>(processes.size());
  return value;
}

/// What a table shows of the cost of a setting, as the end of a sentence that tells of the setting.
FactValue bandwidth_seen(const Job& job, const Instance&) {
  double peak = 0;
  for (const NcclTestsRun& run : job.nccl_tests) {
    for (const NcclTestsRow& row : run.rows) {
      for (const NcclTestsValues* values : {&row.out_of_place, &row.in_place}) {
        peak = std::max(peak, std::strtod(values->busbw.c_str(), nullptr));
      }
    }
  }
  if (peak <= 0) return unknown();
  std::string words = fmt::format(" The tables end at {:.4g} GB/s of bus bandwidth", peak);
  const double promised = promised_bandwidth(job);
  if (promised > peak) words += fmt::format(", where NCCL reckons with {:.4g}", promised);
  return yes(words + ".");
}

/// "all_reduce_perf on 8 ranks: 12 rows, all results right, 3.71 GB/s on average".
std::string ran_phrase(const NcclTestsRun& run) {
  const std::string ranks = run.nranks < 0 ? "" : " on " + plural(run.nranks, "rank");
  std::vector<std::string> parts = {plural(std::ssize(run.rows), "row")};
  if (run.rows.empty()) {
    parts = {"no row"};
  } else if (run.validation == 0) {
    parts.emplace_back("results not checked");
  } else if (run.out_of_bounds == 0) {
    parts.emplace_back("all results right");
  }
  if (!run.busbw.empty()) parts.push_back(fmt::format("{} GB/s on average", run.busbw));
  if (run.out_of_bounds < 0 && run.busbw.empty()) parts.emplace_back("no summary");
  return fmt::format("{}{}: {}", name_of(run), ranks, join(parts, ", "));
}

FactValue nccl_tests_ran(const Job& job, const Instance&) {
  if (job.nccl_tests.empty()) return unknown();
  const bool all_ended = std::ranges::all_of(job.nccl_tests, [](const NcclTestsRun& run) {
    return run.out_of_bounds >= 0 || !run.busbw.empty();
  });
  // Where one printed no summary, the job is taken for finished by the summary of another.
  if (!all_ended && outcome_of(job).job.state == EndState::Finished) return unknown();
  std::vector<std::string> parts;
  for (const NcclTestsRun& run : job.nccl_tests) parts.push_back(ran_phrase(run));
  FactValue value = yes(few_of(parts, kMostNamed, "; "));
  const auto add = [&](const auto& said) { value.evidence.push_back(evidence_of(said.record())); };
  for_each_said<NcclTestsConfig>(job, add);
  for (const NcclTestsRun& run : job.nccl_tests) {
    for (const NcclTestsRow& row : run.rows) value.evidence.push_back({row.where, row.text});
  }
  for_each_said<NcclTestsOutOfBounds>(job, add);
  for_each_said<NcclTestsBandwidth>(job, add);
  return value;
}

constexpr std::array kNcclTestsFacts = {
    // A table of nccl-tests is there, and how far its bus bandwidth comes.
    job_fact("job.bandwidth_seen", bandwidth_seen),
    // Output of nccl-tests is there; in words, how far each of its tables comes.
    job_fact("job.nccl_tests_ran", nccl_tests_ran),
    // How many processes nccl-tests lists, where each of them has one rank only.
    job_fact("job.nccl_tests_single_ranks", nccl_tests_single_ranks, FactType::Integer),
    // nccl-tests calls its mean bus bandwidth too low (NCCL_TESTS_MIN_BW).
    job_fact("job.nccl_tests_slow", nccl_tests_slow),
    // nccl-tests counts wrong values in results that it checked.
    job_fact("job.nccl_tests_wrong", nccl_tests_wrong),
};

}  // namespace

std::span<const Fact> nccl_tests_facts() { return kNcclTestsFacts; }

}  // namespace ncclog

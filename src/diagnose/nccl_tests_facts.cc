// Did nccl-tests get right results, and as fast as it was asked to?
//
//        8388608       2097152     float     sum      -1   4915.3    1.71    3.20     12   5012.1 …
//   # Out of bounds values : 12 FAILED
//       → job.nccl_tests_wrong = yes, "all_reduce_perf: 12 values out of bounds, first at size 8
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
#include "diagnose/fact_answers.h"
#include "diagnose/fact_tables.h"
#include "diagnose/outcome/outcome.h"
#include "log/messages.h"

namespace ncclog {
namespace {

std::string name_of(const NcclTestsRun& run) { return run.test.empty() ? "nccl-tests" : run.test; }

bool has_wrong_values(const NcclTestsRow& row) {
  return nccl_tests_wrong_values(row.out_of_place.wrong) > 0 ||
         nccl_tests_wrong_values(row.in_place.wrong) > 0;
}

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
    if (!has_wrong_values(row)) continue;
    if (wrong++ == 0)
      first = fmt::format("{} {} {}", size_phrase(row.size), row.datatype, row.redop);
    evidence.push_back({row.where, row.text});
  }
  if (wrong > 0) {
    return fmt::format("{} counts wrong values in {} of {} rows, first at {}", name_of(run), wrong,
                       run.rows.size(), trim(first));
  }
  if (run.out_of_bounds <= 0) return {};
  return fmt::format("{} counts {} values out of bounds", name_of(run), run.out_of_bounds);
}

FactValue nccl_tests_wrong(const Job& job, const Instance&) {
  if (job.nccl_tests.empty()) return unknown();
  std::vector<std::string> parts;
  std::vector<Evidence> evidence;
  for (const NcclTestsRun& run : job.nccl_tests) {
    std::string part = wrong_phrase(run, evidence);
    if (!part.empty()) parts.push_back(std::move(part));
  }
  if (parts.empty()) return no();
  for_each_said<NcclTestsOutOfBounds>(job, [&](const Said<NcclTestsOutOfBounds>& said) {
    if (said.message.verdict == "FAILED") evidence.push_back(evidence_of(said.record));
  });
  return yes(join(parts, "; "), std::move(evidence));
}

FactValue nccl_tests_slow(const Job& job, const Instance&) {
  if (job.nccl_tests.empty()) return unknown();
  std::vector<std::string> parts;
  for (const NcclTestsRun& run : job.nccl_tests) {
    if (run.below_expected) parts.push_back(fmt::format("{}: {} GB/s", name_of(run), run.busbw));
  }
  return parts.empty() ? no() : yes(join(parts, "; "));
}

/// The larger of two figures as printed; 0 where there is none.
double larger(const NcclTestsValues& a, const NcclTestsValues& b) {
  const auto figure = [](const std::string& text) { return std::strtod(text.c_str(), nullptr); };
  return std::max(figure(a.busbw), figure(b.busbw));
}

double peak_bandwidth(const NcclTestsRun& run) {
  double peak = 0;
  for (const NcclTestsRow& row : run.rows) {
    peak = std::max(peak, larger(row.out_of_place, row.in_place));
  }
  return peak;
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

/// What is lost on the way from a link's rate to bus bandwidth is well below half.
FactValue nccl_tests_normal(const Job& job, const Instance&) {
  constexpr double kUsual = 0.6;
  const double promised = promised_bandwidth(job);
  if (job.nccl_tests.empty() || promised <= 0) return unknown();
  std::vector<std::string> parts;
  for (const NcclTestsRun& run : job.nccl_tests) {
    const double peak = peak_bandwidth(run);
    if (peak < kUsual * promised || run.below_expected) return no();
    parts.push_back(fmt::format("{} reaches {:.4g} GB/s where NCCL reckons with {:.4g}",
                                name_of(run), peak, promised));
  }
  return yes(join(parts, "; "));
}

/// Every process that nccl-tests lists is rank 0, so each has a communicator of its own.
FactValue nccl_tests_single_ranks(const Job& job, const Instance&) {
  std::set<std::pair<std::string, int64_t>> processes;
  FactValue value = number(0);
  bool others = false;
  for_each_said<NcclTestsRank>(job, [&](const Said<NcclTestsRank>& said) {
    others |= said.message.rank != 0;
    if (processes.emplace(said.message.host, said.message.pid).second) {
      value.evidence.push_back(evidence_of(said.record));
    }
  });
  if (others || processes.empty()) return unknown();
  value.value = static_cast<int64_t>(processes.size());
  return value;
}

/// The best bandwidth of all tables; 0: there is none.
double table_peak(const Job& job) {
  double peak = 0;
  for (const NcclTestsRun& run : job.nccl_tests) peak = std::max(peak, peak_bandwidth(run));
  return peak;
}

/// What a table shows of the cost of a setting, as the end of a sentence that tells of the setting.
FactValue bandwidth_seen(const Job& job, const Instance&) {
  const double peak = table_peak(job);
  if (peak <= 0) return unknown();
  std::string words = fmt::format(" The tables end at {:.4g} GB/s of bus bandwidth", peak);
  const double promised = promised_bandwidth(job);
  if (promised > peak) words += fmt::format(", where NCCL reckons with {:.4g}", promised);
  return yes(words + ".");
}

/// "all_reduce_perf on 8 ranks: 12 rows, 0 values out of bounds, 3.71 GB/s on average".
std::string ran_phrase(const NcclTestsRun& run) {
  const std::string ranks =
      run.nranks < 0 ? "" : fmt::format(" on {} rank{}", run.nranks, run.nranks == 1 ? "" : "s");
  std::vector<std::string> parts;
  parts.push_back(fmt::format("{} row{}", run.rows.size(), run.rows.size() == 1 ? "" : "s"));
  if (run.validation == 0) {
    parts.emplace_back("results not checked");
  } else if (run.out_of_bounds == 0) {
    parts.emplace_back("all results right");
  }
  if (!run.busbw.empty()) parts.push_back(fmt::format("{} GB/s on average", run.busbw));
  if (run.out_of_bounds < 0 && run.busbw.empty()) parts.emplace_back("no summary");
  return fmt::format("{}{}: {}", name_of(run), ranks, join(parts, ", "));
}

/// A test printed no summary, and yet the job is taken for finished: by the summary of another.
bool is_end_in_doubt(const Job& job) {
  const bool all_ended = std::all_of(
      job.nccl_tests.begin(), job.nccl_tests.end(),
      [](const NcclTestsRun& run) { return run.out_of_bounds >= 0 || !run.busbw.empty(); });
  return !all_ended && outcome_of(job).job.state == EndState::Finished;
}

FactValue nccl_tests_ran(const Job& job, const Instance&) {
  if (job.nccl_tests.empty() || is_end_in_doubt(job)) return unknown();
  constexpr size_t kMostNames = 4;
  std::vector<std::string> parts;
  for (const NcclTestsRun& run : job.nccl_tests) {
    if (parts.size() < kMostNames) parts.push_back(ran_phrase(run));
  }
  std::string what = join(parts, "; ");
  if (job.nccl_tests.size() > kMostNames) {
    what += fmt::format("; and {} more", job.nccl_tests.size() - kMostNames);
  }
  FactValue value = yes(std::move(what));
  const auto add = [&](const auto& said) { value.evidence.push_back(evidence_of(said.record)); };
  for_each_said<NcclTestsConfig>(job, add);
  for (const NcclTestsRun& run : job.nccl_tests) {
    for (const NcclTestsRow& row : run.rows) value.evidence.push_back({row.where, row.text});
  }
  for_each_said<NcclTestsOutOfBounds>(job, add);
  for_each_said<NcclTestsBandwidth>(job, add);
  return value;
}

constexpr std::array kFacts = {
    Fact{"job.bandwidth_seen", Scope::Job, FactType::Bool,
         "A table of nccl-tests is there, and how far its bus bandwidth comes.", bandwidth_seen},
    Fact{"job.nccl_tests_normal", Scope::Job, FactType::Bool,
         "The bandwidth that nccl-tests reached is near what NCCL's search for rings promises.",
         nccl_tests_normal},
    Fact{"job.nccl_tests_ran", Scope::Job, FactType::Bool,
         "Output of nccl-tests is there; in words, how far each of its tables comes.",
         nccl_tests_ran},
    Fact{"job.nccl_tests_single_ranks", Scope::Job, FactType::Integer,
         "How many processes nccl-tests lists, where each of them has one rank only.",
         nccl_tests_single_ranks},
    Fact{"job.nccl_tests_slow", Scope::Job, FactType::Bool,
         "nccl-tests calls its mean bus bandwidth too low (NCCL_TESTS_MIN_BW).", nccl_tests_slow},
    Fact{"job.nccl_tests_wrong", Scope::Job, FactType::Bool,
         "nccl-tests counts wrong values in results that it checked.", nccl_tests_wrong},
};

}  // namespace

std::span<const Fact> nccl_tests_facts() { return kFacts; }

}  // namespace ncclog

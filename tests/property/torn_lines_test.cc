// Nobody is accused wrongly where processes tear each other's lines, and what is whole is used.
//
// A few hundred seeds are tried; NCCLOG_TORN_SEEDS=10000 asks for more, NCCLOG_TORN_FIRST for
// others. Of what is said wrongly each finding is printed with its lines, and the log is kept
// beside it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "model/derive/build_job.h"
#include "rules/evaluate.h"
#include "rules/load_rules.h"
#include "support/paths.h"
#include "support/torn_streams.h"

namespace ncclog::testing {
namespace {

constexpr unsigned kTornParts = 2;  ///< Tests that share the seeds, so that they run side by side.

/// NCCLOG_TORN_SEEDS says how many to try; NCCLOG_TORN_FIRST the first of them.
unsigned from_environment(const char* name, unsigned otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : static_cast<unsigned>(std::stoul(value));
}

unsigned first_seed() { return from_environment("NCCLOG_TORN_FIRST", 0); }
unsigned seeds() { return from_environment("NCCLOG_TORN_SEEDS", is_sanitized() ? 100 : 240); }

/// Errors and warnings, and whom each names, one a line, with the evidence of the finding.
using Accusations = std::map<std::string, std::string>;

std::string evidence_of(const Finding& finding) {
  std::string text = "    " + finding.message + "\n";
  for (const Evidence& line : finding.evidence) {
    text += "    :" + std::to_string(line.where.line) + " " + line.text + "\n";
  }
  return text;
}

Accusations accusations_of(const Diagnosis& diagnosis) {
  Accusations result;
  for (const Finding& finding : diagnosis.findings) {
    if (finding.severity == Severity::Info) continue;
    const std::string evidence = evidence_of(finding);
    result.emplace(finding.id, evidence);
    for (const std::string& host : finding.hosts) {
      result.emplace(finding.id + " on " + host, evidence);
    }
    for (const int rank : finding.ranks) {
      result.emplace(finding.id + " of rank " + std::to_string(rank), evidence);
    }
  }
  return result;
}

/// What is said of a failure that is not understood, or only called by its name: the line that
/// explains it may be lost. That a connection was refused is what the rank's own WARN says; who
/// ended before that is in that line.
bool is_vague(std::string_view accusation) {
  const std::string_view id = accusation.substr(0, accusation.find(' '));
  return id.ends_with("-unexplained") || id.starts_with("failure-named") ||
         id == "init-unfinished" || id == "engine-fatal-error" || id == "log-ends-mid-job" ||
         id == "job-stopped-while-stalled" || id == "bootstrap-connect-refused" ||
         id == "watchdog-timeout-elsewhere";
}

struct Reader {
  Rulebook rulebook = load_rulebook();
  LineMatcher matcher = make_line_matcher(rulebook);

  /// Adds the lines that count to `used`.
  Accusations accusations(const std::string& text,
                          std::multiset<std::string>* used = nullptr) const {
    const LineMatcher watching{.match = [&](std::string_view line, std::vector<int>& matched) {
      if (used != nullptr) used->insert(std::string(line));
      matcher(line, matched);
    }};
    const Job job = job_from_text(text, watching);
    return accusations_of(evaluate(rulebook, job));
  }
};

/// Scenarios, with what each says while nothing is torn.
struct Clean {
  std::vector<TornScenario> scenarios;
  std::vector<Accusations> accusations;

  Clean(const Reader& reader, std::vector<TornScenario> all) : scenarios(std::move(all)) {
    for (const TornScenario& scenario : scenarios)
      accusations.push_back(reader.accusations(scenario.clean()));
  }

  /// What is said of scenario `s` only where it is torn, one a line.
  std::string wrong(size_t s, const Accusations& torn) const {
    const bool any = !accusations[s].empty();
    std::string text;
    std::set<std::string> shown;
    for (const auto& [accusation, evidence] : torn) {
      if (accusations[s].contains(accusation) || (any && is_vague(accusation))) continue;
      text += "  " + accusation + "\n";
      if (shown.insert(evidence).second) text += evidence;
    }
    return text;
  }
};

ForwardOptions forward_options(std::mt19937& random) {
  constexpr size_t kChunks[] = {512, 4096, 65536};
  constexpr unsigned kBursts[] = {3, 40, 300};
  constexpr int kPermille[] = {0, 0, 3, 20};
  ForwardOptions options;
  options.chunk = kChunks[random() % std::size(kChunks)];
  options.longest_burst = kBursts[random() % std::size(kBursts)];
  options.lost_ends_permille = kPermille[random() % std::size(kPermille)];
  options.doubled_ends_permille = kPermille[random() % std::size(kPermille)];
  return options;
}

/// Keeps a log of which something wrong is said, to be looked at.
void keep(const std::string& text, unsigned seed) {
  std::ofstream(::testing::TempDir() + "torn-" + std::to_string(seed) + ".log") << text;
}

class TornLinesProperty : public ::testing::TestWithParam<unsigned> {};

TEST_P(TornLinesProperty, ForwardedChunksAccuseNobodyAndWholeRecordsCount) {
  const Reader reader;
  const Clean clean(reader, collected_jobs());
  size_t undamaged = 0;
  size_t lost = 0;
  size_t accused = 0;
  for (unsigned seed = first_seed() + GetParam(); seed < first_seed() + seeds();
       seed += kTornParts) {
    std::mt19937 random(seed);
    const size_t s = random() % clean.scenarios.size();
    const ForwardOptions options = forward_options(random);
    const ForwardedLog log = forward(clean.scenarios[s].streams, options, random);
    std::multiset<std::string> used;
    const std::string wrong = clean.wrong(s, reader.accusations(log.text, &used));
    std::vector<std::string> unused;
    std::set_difference(log.undamaged.begin(), log.undamaged.end(), used.begin(), used.end(),
                        std::back_inserter(unused));
    undamaged += log.undamaged.size();
    lost += unused.size();
    EXPECT_LE(unused.size(), 5 + log.undamaged.size() / 10) << "seed " << seed;
    if (wrong.empty()) continue;
    ++accused;
    keep(log.text, seed);
    std::cout << "seed " << seed << ": " << clean.scenarios[s].name << ", chunks of "
              << options.chunk << ", bursts of up to " << options.longest_burst << ", "
              << options.lost_ends_permille << " permille of line ends lost\n"
              << wrong;
  }
  EXPECT_LE(lost * 20, undamaged);
  EXPECT_EQ(accused, 0u);
  std::cout << lost << " of " << undamaged << " undamaged records are not used\n";
  RecordProperty("undamaged", static_cast<int>(undamaged));
  RecordProperty("unused", static_cast<int>(lost));
}

TEST_P(TornLinesProperty, ShuffledChunksAccuseNobody) {
  constexpr int kPercents[] = {1, 3, 10, 30, 100};
  constexpr size_t kLongest[] = {60, 400, 1500, 6000};
  const Reader reader;
  const Clean clean(reader, torn_scenarios());
  size_t accused = 0;
  for (unsigned seed = first_seed() + GetParam(); seed < first_seed() + seeds();
       seed += kTornParts) {
    std::mt19937 random(seed);
    const size_t s = random() % clean.scenarios.size();
    TearOptions options;
    options.cut_percent = kPercents[random() % std::size(kPercents)];
    options.longest_chunk = kLongest[random() % std::size(kLongest)];
    const std::string text = tear(clean.scenarios[s].streams, options, random);
    const std::string wrong = clean.wrong(s, reader.accusations(text));
    if (wrong.empty()) continue;
    ++accused;
    keep(text, seed);
    std::cout << "seed " << seed << ": " << clean.scenarios[s].name << ", " << options.cut_percent
              << " % cut, chunks up to " << options.longest_chunk << " bytes\n"
              << wrong;
  }
  // Nothing that is printed comes in pieces so small: of thousands of logs there is one in which
  // pieces of two bytes make a whole record that nobody printed.
  EXPECT_LE(accused * 1000, seeds() / kTornParts);
}
INSTANTIATE_TEST_SUITE_P(Part, TornLinesProperty, ::testing::Range(0u, kTornParts));

}  // namespace
}  // namespace ncclog::testing

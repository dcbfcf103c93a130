// What a log says stays true, and nothing is added, when its processes tear each other's lines.

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "model/job_from_text.h"
#include "rules/evaluate.h"
#include "rules/load_rules.h"
#include "support/job_claims.h"
#include "support/torn_streams.h"

namespace ncclog::testing {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr unsigned kSeeds = 1000;
#else
constexpr unsigned kSeeds = 10'000;
#endif
constexpr unsigned kParts = 4;  ///< Tests that share the seeds, so that they run side by side.

using Claims = std::set<std::string>;

struct Reader {
  Rulebook rulebook = load_rulebook();
  LineMatcher matcher = make_line_matcher(rulebook);

  Claims claims(const std::string& text) const {
    const Job job = job_from_text(text, matcher);
    return claims_of(job, evaluate(rulebook, job));
  }
};

/// The scenarios, with what each says while nothing is torn.
struct Clean {
  std::vector<TornScenario> scenarios = torn_scenarios();
  std::vector<Claims> claims;

  explicit Clean(const Reader& reader) {
    for (const TornScenario& scenario : scenarios)
      claims.push_back(reader.claims(scenario.clean()));
  }
};

struct Torn {
  size_t scenario = 0;
  TearOptions options;
  std::string text;
};

Torn torn_by(unsigned seed, const std::vector<TornScenario>& scenarios) {
  constexpr int kPercents[] = {1, 3, 10, 30, 100};
  constexpr size_t kLongest[] = {60, 400, 1500, 6000};
  std::mt19937 random(seed);
  Torn torn;
  torn.scenario = random() % scenarios.size();
  torn.options.cut_percent = kPercents[random() % std::size(kPercents)];
  torn.options.longest_chunk = kLongest[random() % std::size(kLongest)];
  torn.text = tear(scenarios[torn.scenario].streams, torn.options, random);
  return torn;
}

/// What `claims` hold and `known` do not, one a line.
std::string added(const Claims& claims, const Claims& known) {
  std::vector<std::string> more;
  std::set_difference(claims.begin(), claims.end(), known.begin(), known.end(),
                      std::back_inserter(more));
  std::string text;
  for (const std::string& claim : more) text += "  " + claim + "\n";
  return text;
}

class TornLinesProperty : public ::testing::TestWithParam<unsigned> {};

TEST_P(TornLinesProperty, InventNothing) {
  const Reader reader;
  const Clean clean(reader);
  for (unsigned seed = GetParam(); seed < kSeeds; seed += kParts) {
    const Torn torn = torn_by(seed, clean.scenarios);
    const std::string invented = added(reader.claims(torn.text), clean.claims[torn.scenario]);
    EXPECT_EQ(invented, "") << "seed " << seed << ": " << clean.scenarios[torn.scenario].name
                            << ", " << torn.options.cut_percent << " % cut, chunks up to "
                            << torn.options.longest_chunk << " bytes";
  }
}
INSTANTIATE_TEST_SUITE_P(Part, TornLinesProperty, ::testing::Range(0u, kParts));

/// Of all that is said, the share that is still said with few and with many tears.
TEST(TornLinesKeptProperty, MostIsKeptWhereLittleIsTorn) {
  const Reader reader;
  const Clean clean(reader);
  struct Row {
    int cut_percent;
    double least;
  };
  for (const Row row : {Row{0, 0.99}, Row{1, 0.5}, Row{3, 0.2}}) {
    size_t kept = 0;
    size_t all = 0;
    for (unsigned seed = 0; seed < 200; ++seed) {
      std::mt19937 random(seed);
      const size_t s = seed % clean.scenarios.size();
      const std::string text = tear(clean.scenarios[s].streams, {row.cut_percent, 1500}, random);
      kept += reader.claims(text).size();
      all += clean.claims[s].size();
    }
    EXPECT_GE(static_cast<double>(kept), row.least * static_cast<double>(all))
        << row.cut_percent << " % cut";
  }
}

/// One record of the first process, interrupted by one whole line of the second.
std::string interrupted_once(const std::vector<std::string>& streams, std::mt19937& random) {
  const auto [first, second] = std::pair(streams[0], streams[1]);
  const size_t cut = 1 + random() % (first.size() / 2);
  const size_t line_end = second.find('\n', random() % (second.size() / 2)) + 1;
  const size_t line_begin = line_end < 2 ? 0 : second.rfind('\n', line_end - 2) + 1;
  return second.substr(0, line_begin) + first.substr(0, cut) +
         second.substr(line_begin, line_end - line_begin) + first.substr(cut) +
         second.substr(line_end);
}

TEST(TornLinesKeptProperty, AnInterruptedRecordIsOftenRepaired) {
  const Reader reader;
  const Clean clean(reader);
  constexpr unsigned kRounds = 400;
  unsigned whole = 0;
  for (unsigned seed = 0; seed < kRounds; ++seed) {
    std::mt19937 random(seed);
    const size_t s = seed % 8;  // Two processes of NCCL alone.
    const Claims claims = reader.claims(interrupted_once(clean.scenarios[s].streams, random));
    EXPECT_EQ(added(claims, clean.claims[s]), "") << "seed " << seed;
    whole += claims == clean.claims[s] ? 1 : 0;
  }
  EXPECT_GE(whole, kRounds / 3);
}

}  // namespace
}  // namespace ncclog::testing

#include "diagnose/compare/run_groups.h"

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/hypergeometric.hpp>
#include <cmath>
#include <map>
#include <tuple>

namespace ncclog {
namespace {

// Of long double, which is the default, functions are tried out whenever the program starts, and what
// they come to under valgrind, which has none, ends it.
using Precision = boost::math::policies::policy<boost::math::policies::promote_double<false>>;
using Hypergeometric = boost::math::hypergeometric_distribution<double, Precision>;
using Binomial = boost::math::binomial_distribution<double, Precision>;

/// By each value of a fact, in words, the runs that have it: into good runs and then bad ones.
using RunsByValue = std::map<std::string, std::vector<size_t>>;

/// To six decimals: the same on every machine, and one in twenty is no more than that.
double rounded(double share) {
  constexpr double kMillion = 1e6;
  return std::round(share * kMillion) / kMillion;
}

bool is_chosen(Topic topic) { return topic <= Topic::Algorithm; }

double chance_of(const FailedOf& with, const FailedOf& without) {
  const int failed = with.failed + without.failed;
  if (with.failed == 0) return 1;
  const Hypergeometric by_chance(failed, with.runs, with.runs + without.runs);
  // A value that no draw of these runs can fall short of has nothing below it.
  const int least = std::max(0, failed + with.runs - (with.runs + without.runs));
  if (with.failed <= least) return 1;
  return rounded(boost::math::cdf(boost::math::complement(by_chance, with.failed - 1)));
}

int more_runs(const FailedOf& with, const FailedOf& without) {
  constexpr int kMostPairs = 50;
  const auto grown = [](const FailedOf& of, int by) {
    const double share = of.runs == 0 ? 0 : static_cast<double>(of.failed) / of.runs;
    return FailedOf{of.failed + static_cast<int>(std::lround(share * by)), of.runs + by};
  };
  for (int pairs = 0; pairs <= kMostPairs; ++pairs) {
    const double chance = chance_of(grown(with, pairs), grown(without, pairs));
    if (chance <= FactOfFailures::kMostChance) return 2 * pairs;
  }
  return -1;
}

/// What each run says of the fact; runs that do not tell are nowhere. "" stands for nothing of the sort.
RunsByValue values_of(const std::pair<Topic, std::string>& name,
                      const std::vector<const ComparedRun*>& runs) {
  const auto has = [&](const ComparedRun* run) { return run->facts.contains(name); };
  const auto first = std::ranges::find_if(runs, has);
  const FactValue& shown = (*first)->facts.at(name);
  const TopicRow& about = row_of(name.first);
  RunsByValue values;
  for (size_t r = 0; r < runs.size(); ++r) {
    const auto own = runs[r]->facts.find(name);
    if (own != runs[r]->facts.end()) {
      values[fact_text(own->second)].push_back(r);
    } else if (about.absent != nullptr &&
               about.absent(runs[r]->job, shown, (*first)->job).known()) {
      values[""].push_back(r);
    }
  }
  return values;
}

}  // namespace

ShareBounds share_bounds(const FailedOf& of) {
  constexpr double kTail = 0.025;
  if (of.runs == 0) return {};
  return {rounded(Binomial::find_lower_bound_on_p(of.runs, of.failed, kTail)),
          rounded(Binomial::find_upper_bound_on_p(of.runs, of.failed, kTail))};
}

FactsOfFailures facts_of_failures(std::span<const ComparedRun> good,
                                  std::span<const ComparedRun> bad) {
  std::vector<const ComparedRun*> runs;
  for (const ComparedRun& run : good) runs.push_back(&run);
  for (const ComparedRun& run : bad) runs.push_back(&run);
  std::set<std::pair<Topic, std::string>> names;
  for (const ComparedRun* run : runs) {
    for (const auto& [name, fact] : run->facts) {
      if (is_chosen(name.first) && !fact.minor) names.insert(name);
    }
  }
  FactsOfFailures result;
  std::map<std::vector<size_t>, FactOfFailures>
      by_runs;  // Facts of the same runs are told at once.
  for (const auto& name : names) {
    const RunsByValue values = values_of(name, runs);
    ++result.compared;
    result.varied += values.size() > 1;
    FailedOf all;
    for (const auto& [value, having] : values) {
      all.runs += static_cast<int>(having.size());
      all.failed += static_cast<int>(
          std::ranges::count_if(having, [&](size_t run) { return run >= good.size(); }));
    }
    for (const auto& [value, having] : values) {
      FactOfFailures fact{name.first, name.second, value};
      for (const size_t run : having) fact.with.failed += run >= good.size();
      fact.with.runs = static_cast<int>(having.size());
      fact.without = {all.failed - fact.with.failed, all.runs - fact.with.runs};
      const bool is_worse = fact.without.runs > 0 && fact.with.failed * fact.without.runs >
                                                         fact.without.failed * fact.with.runs;
      if (!is_worse) continue;
      fact.chance = chance_of(fact.with, fact.without);
      fact.more_runs = more_runs(fact.with, fact.without);
      // Runs that do not tell of one of two facts may set them apart.
      std::vector<size_t> key = having;
      key.push_back(runs.size() + static_cast<size_t>(all.runs));
      const auto [same, is_new] = by_runs.try_emplace(std::move(key), fact);
      if (is_new) continue;
      same->second.alike.push_back(
          fmt::format("{} {} {}", row_of(name.first).title, name.second, value));
    }
  }
  for (auto& [having, fact] : by_runs) result.rows.push_back(std::move(fact));
  std::ranges::sort(result.rows, {}, [](const FactOfFailures& fact) {
    const bool is_chosen = fact.topic <= Topic::Version;
    return std::tuple(!fact.is_enough(), !is_chosen, fact.chance, fact.topic,
                      std::string_view(fact.name), std::string_view(fact.value));
  });
  return result;
}

}  // namespace ncclog

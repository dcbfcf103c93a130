#include "diagnose/count_rows.h"

#include <algorithm>

namespace ncclog {
namespace {

CountKey key_of(const CallFact& fact, CountBy dimension) {
  switch (dimension) {
    case CountBy::Op:
      return {0, fact.op.text()};
    case CountBy::Size:
      if (!fact.size) return {-1, ""};
      return {static_cast<int64_t>(*fact.size), std::to_string(*fact.size)};
    case CountBy::Comm:
      return fact.comm;
    case CountBy::CommSize:
      return fact.comm_size;
    case CountBy::Rank:
      return {fact.process >= 0 ? fact.process : kNowhere,
              fact.rank >= 0 ? std::to_string(fact.rank) : ""};
    case CountBy::Host:
      return {0, fact.host};
    case CountBy::Iteration:
      return fact.iteration;
    case CountBy::StepPattern:
      return fact.pattern;
  }
  return {};
}

}  // namespace

bool CountRows::wants(CountBy dimension) const {
  return std::find(by_.begin(), by_.end(), dimension) != by_.end();
}

void CountRows::add(const CallFact& fact, const CallSum& sum) {
  if (sum.calls == 0) return;
  std::vector<CountKey> keys;
  for (const CountBy dimension : by_) keys.push_back(key_of(fact, dimension));
  Row& row = rows_[std::move(keys)];
  row.sum.add(sum);
  row.iterations = fact.iterations;
  row.processes.insert({fact.process, fact.rank});
}

std::vector<CountRow> CountRows::take() const {
  std::vector<CountRow> rows;
  for (const auto& [keys, row] : rows_) {
    rows.push_back(
        {keys, row.processes.begin()->first, row.sum, row.processes.size(), row.iterations});
  }
  return rows;
}

IterationChanges::IterationChanges(const JobIterations& iterations) {
  for (const ProcessIterations& process : iterations.processes) {
    for (const IterationRun& run : process.runs) {
      changes_.insert(run.first);
      // Iterations that cannot be told apart stand where the first of them stands.
      changes_.insert(run.together > 1 ? run.first + 1 : run.last + 1);
    }
  }
}

}  // namespace ncclog

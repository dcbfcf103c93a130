#include "report/iteration_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace ncclog {
namespace {

/// Rows that are side by side and have the same iterations: [begin, end).
struct Group {
  size_t begin = 0;
  size_t end = 0;

  size_t size() const { return end - begin; }
};

/// Where the iteration stands among the keys; by.size() if it does not.
size_t iteration_key(const std::vector<CountBy>& by) {
  return static_cast<size_t>(std::find(by.begin(), by.end(), CountBy::Iteration) - by.begin());
}

/// True if the keys [begin, end) of both are the same.
bool same_keys(const CountRow& a, const CountRow& b, size_t begin, size_t end) {
  return std::equal(a.keys.begin() + static_cast<std::ptrdiff_t>(begin),
                    a.keys.begin() + static_cast<std::ptrdiff_t>(end),
                    b.keys.begin() + static_cast<std::ptrdiff_t>(begin));
}

/// The group that begins at `begin`: rows that share the keys up to the iteration.
Group group_at(const std::vector<CountRow>& rows, size_t begin, size_t iteration) {
  Group group{begin, begin + 1};
  while (group.end < rows.size() && same_keys(rows[begin], rows[group.end], 0, iteration + 1)) {
    ++group.end;
  }
  return group;
}

bool same_sum(const CallSum& a, const CallSum& b) {
  return a.calls == b.calls && a.elements == b.elements && a.bytes == b.bytes &&
         a.at_least == b.at_least;
}

/// True for a number, false for "before", "after" and iterations that cannot be told apart.
bool is_numbered(const CountKey& key) { return key.text == std::to_string(key.order); }

/// The groups of rows of one table.
class Groups {
 public:
  Groups(const std::vector<CountRow>& rows, size_t iteration)
      : rows_(rows), iteration_(iteration) {}

  /// True if `next` goes on where `group` ends, and says the same.
  bool goes_on(const Group& group, const Group& next, int64_t end) const {
    const CountKey& key = rows_[group.begin].keys[iteration_];
    const CountKey& other = rows_[next.begin].keys[iteration_];
    if (!is_numbered(key) || !is_numbered(other) || other.order != end) return false;
    if (group.size() != next.size()) return false;
    if (!same_keys(rows_[group.begin], rows_[next.begin], 0, iteration_)) return false;
    for (size_t i = 0; i < group.size(); ++i) {
      if (!is_same(rows_[group.begin + i], rows_[next.begin + i])) return false;
    }
    return true;
  }

 private:
  bool is_same(const CountRow& a, const CountRow& b) const {
    return same_keys(a, b, iteration_ + 1, a.keys.size()) && a.process == b.process &&
           a.processes == b.processes && same_sum(a.sum, b.sum);
  }

  const std::vector<CountRow>& rows_;
  size_t iteration_;
};

}  // namespace

uint64_t single_row_count(const std::vector<CountRow>& rows) {
  uint64_t count = 0;
  for (const CountRow& row : rows) count += static_cast<uint64_t>(row.iterations);
  return count;
}

void each_single_row(const std::vector<CountRow>& rows, const std::vector<CountBy>& by,
                     const std::function<bool(const CountRow& row, int64_t iteration)>& visit) {
  const size_t iteration = std::min(iteration_key(by), by.size() - 1);
  for (size_t at = 0; at < rows.size();) {
    const Group group = group_at(rows, at, iteration);
    const int64_t first = rows[at].keys[iteration].order;
    for (int64_t i = 0; i < rows[at].iterations; ++i) {
      for (size_t row = group.begin; row < group.end; ++row) {
        if (!visit(rows[row], first + i)) return;
      }
    }
    at = group.end;
  }
}

std::vector<CountRow> folded_rows(const std::vector<CountRow>& rows,
                                  const std::vector<CountBy>& by) {
  const size_t iteration = iteration_key(by);
  if (iteration == by.size()) return rows;
  const Groups groups(rows, iteration);
  std::vector<CountRow> folded;
  for (size_t at = 0; at < rows.size();) {
    const Group group = group_at(rows, at, iteration);
    const int64_t first = rows[at].keys[iteration].order;
    int64_t end = first;
    if (is_numbered(rows[at].keys[iteration])) end += rows[at].iterations;
    Group next = group;
    while (next.end < rows.size()) {
      const Group later = group_at(rows, next.end, iteration);
      if (!groups.goes_on(group, later, end)) break;
      end += rows[later.begin].iterations;
      next = later;
    }
    for (size_t row = group.begin; row < group.end; ++row) {
      folded.push_back(rows[row]);
      if (end - first <= 1) continue;
      folded.back().iterations = end - first;
      folded.back().keys[iteration].text = fmt::format("{}-{}", first, end - 1);
    }
    at = next.end;
  }
  return folded;
}

}  // namespace ncclog

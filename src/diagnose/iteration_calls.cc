#include "diagnose/iteration_calls.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace ncclog {
namespace {

/// Counts calls by entry of the tape.
class Counter {
 public:
  Counter(const FoldedCalls& folded, size_t entries) : folded_(folded), counts_(entries) {}

  /// The calls [begin, end).
  CallCounts count(size_t begin, size_t end) {
    size_t s = begin < end ? folded_.stretch_of(begin) : 0;
    for (; begin < end; ++s) {
      const FoldedCalls::Stretch& stretch = folded_.stretches()[s];
      const size_t stop = std::min(end, stretch.end());
      const size_t blocks = (stop - begin) / stretch.length;
      if (blocks > 0) add(stretch, begin, begin + stretch.length, blocks);
      add(stretch, begin + blocks * stretch.length, stop, 1);
      begin = stop;
    }
    return take();
  }

 private:
  void add(const FoldedCalls::Stretch& stretch, size_t begin, size_t end, uint64_t times) {
    if (begin == end) return;
    size_t place = stretch.place_of(begin);
    for (size_t left = end - begin; left > 0; --left) {
      const uint16_t entry = folded_.stored_entry(place);
      if (counts_[entry] == 0) counted_.push_back(entry);
      counts_[entry] += times;
      if (++place == stretch.stored + stretch.length) place = stretch.stored;
    }
  }

  CallCounts take() {
    std::sort(counted_.begin(), counted_.end());
    CallCounts counts;
    counts.reserve(counted_.size());
    for (const uint16_t entry : counted_) {
      counts.emplace_back(entry, std::exchange(counts_[entry], 0));
    }
    counted_.clear();
    return counts;
  }

  const FoldedCalls& folded_;
  std::vector<uint64_t> counts_;   ///< By entry; 0 between two counts.
  std::vector<uint16_t> counted_;  ///< Entries that are not 0.
};

/// Collects the runs of one process.
class Runs {
 public:
  Runs(const FoldedCalls& folded, Counter& counter, ProcessIterations& found)
      : folded_(folded), counter_(counter), found_(found) {}

  void add(const IterationSpan& span) {
    if (span.in_a_row) return add_row(span);
    append({span.first, span.last, span.last - span.first + 1, number_of(span.begin, span.end),
            span.cut_short});
  }

 private:
  /// Iterations in a row, stretch by stretch. One that reaches into the next is counted alone.
  void add_row(const IterationSpan& span) {
    const auto all = static_cast<size_t>(span.last - span.first + 1);
    const size_t length = (span.end - span.begin) / all;
    for (size_t done = 0; done < all;) {
      const size_t begin = span.begin + done * length;
      const FoldedCalls::Stretch& stretch = folded_.stretches()[folded_.stretch_of(begin)];
      const size_t inside = std::min((stretch.end() - begin) / length, all - done);
      const size_t iterations = std::max<size_t>(1, inside);
      add_loop(span.first + static_cast<int64_t>(done), begin, length, iterations, stretch.length);
      done += iterations;
    }
  }

  /// So many iterations of `length` calls each, in a stretch whose block has `block` calls: they
  /// begin at the same place in the block again and again.
  void add_loop(int64_t first, size_t begin, size_t length, size_t iterations, size_t block) {
    const size_t cycle = std::min(iterations, block / std::gcd(block, length));
    std::vector<size_t> calls;
    for (size_t i = 0; i < cycle; ++i) {
      calls.push_back(number_of(begin + i * length, begin + (i + 1) * length));
    }
    const bool alike = std::all_of(calls.begin(), calls.end(),
                                   [&](size_t number) { return number == calls.front(); });
    if (alike) return append({first, first + static_cast<int64_t>(iterations) - 1, 1, calls[0]});
    for (size_t i = 0; i < iterations; ++i) {
      const int64_t number = first + static_cast<int64_t>(i);
      append({number, number, 1, calls[i % cycle]});
    }
  }

  void append(const IterationRun& run) {
    IterationRun* last = found_.runs.empty() ? nullptr : &found_.runs.back();
    const bool goes_on = last != nullptr && last->calls == run.calls && run.together == 1 &&
                         last->together == 1 && last->last + 1 == run.first &&
                         last->cut_short == run.cut_short;
    if (goes_on) {
      last->last = run.last;
    } else {
      found_.runs.push_back(run);
    }
  }

  /// The calls [begin, end), by their place in ProcessIterations::counts.
  size_t number_of(size_t begin, size_t end) {
    CallCounts counts = counter_.count(begin, end);
    const auto [entry, is_new] = known_.try_emplace(std::move(counts), found_.counts.size());
    if (is_new) found_.counts.push_back(entry->first);
    return entry->second;
  }

  const FoldedCalls& folded_;
  Counter& counter_;
  ProcessIterations& found_;
  std::map<CallCounts, size_t> known_;
};

}  // namespace

ProcessIterations count_iterations(const ProcessCalls& process, const FoldedCalls& folded,
                                   const std::vector<IterationSpan>& spans) {
  ProcessIterations found;
  Counter counter(folded, process.track->tape.entries().size());
  Runs runs(folded, counter, found);
  for (const IterationSpan& span : spans) runs.add(span);
  const size_t begin = spans.empty() ? folded.size() : spans.front().begin;
  found.before = counter.count(0, begin);
  found.after = counter.count(spans.empty() ? begin : spans.back().end, folded.size());
  return found;
}

}  // namespace ncclog

// How many lines of some sort stand before, or after, a line of the same input?
//
//   steps at lines 10, 20 and 30 of a.log     after(a.log:15) = 2, after(b.log:15) = 0
//
// What is asked of every line of a large job is answered by two searches, not by a walk over all
// lines of the other sort.

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "log/messages.h"
#include "model/job.h"

namespace ncclog {

/// LinePlaces of lines, to be sorted before they are asked. Orders as is_before() does
/// (job_facts.h): lines of several inputs have no order.
class LinePlaces {
 public:
  /// Adds nothing where there is no line.
  void add(const Job& job, SourceRef where) {
    if (where.line != 0) all_.emplace_back(stretch_of(job, where), where);
  }
  void sort() { std::ranges::sort(all_); }
  size_t size() const { return all_.size(); }

  size_t before(const Job& job, SourceRef where) const {
    const Place place(stretch_of(job, where), where);
    return size_t(std::ranges::lower_bound(all_, place) - begin_of(place.first));
  }
  size_t after(const Job& job, SourceRef where) const { return all_after(job, where).size(); }
  bool any_between(const Job& job, SourceRef from, SourceRef to) const {
    const auto later = all_after(job, from);
    return !later.empty() && later.front() < Place(stretch_of(job, to), to);
  }

 private:
  using Place = std::pair<int64_t, SourceRef>;  ///< The input, and where in it.

 public:
  /// Ascending, each with its input; none where `where` is no line.
  std::span<const Place> all_after(const Job& job, SourceRef where) const {
    if (where.line == 0) return {};
    const Place place(stretch_of(job, where), where);
    const auto first = std::ranges::upper_bound(all_, place);
    return {first, begin_of(place.first + 1)};
  }

 private:
  /// Into Job::inputs; of a unit that the job does not list, a number of its own.
  static int64_t stretch_of(const Job& job, SourceRef where) {
    const JobUnit* unit = unit_of(job, where);
    return unit == nullptr ? -1 - static_cast<int64_t>(where.unit) : unit->input;
  }
  std::vector<Place>::const_iterator begin_of(int64_t stretch) const {
    return std::ranges::lower_bound(all_, stretch, {}, &Place::first);
  }

  std::vector<Place> all_;
};

/// Those of the kept lines of these kinds.
template <typename... T>
LinePlaces kept_places(const Job& job) {
  LinePlaces places;
  for (const SpeakerLog& log : job.logs) {
    for (const uint16_t kind : {kKindIndex<T>...}) {
      for (const Record& record : log.records.kept(kind)) places.add(job, record.where);
    }
  }
  places.sort();
  return places;
}

}  // namespace ncclog

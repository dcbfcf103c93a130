#include "diagnose/step_marks.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ncclog {
namespace {

MarkerPlace place_of(uint16_t wording) {
  return wording == kOwnWording ? MarkerPlace::Unknown : iteration_wordings()[wording].place;
}

bool is_wanted(const Marker& marker, const IterationChoice& choice) {
  if (choice.by == IterationChoice::By::Expression) return marker.wording == kOwnWording;
  if (marker.wording == kOwnWording) return false;
  const IterationWording& wording = iteration_wordings()[marker.wording];
  if (choice.by == IterationChoice::By::Preset) return wording.preset == choice.preset;
  return wording.place != MarkerPlace::Tick && !wording.by_name_only;
}

bool belongs_to(const Marker& marker, const MarkerTrack& track) {
  return marker.wording == track.wording && marker.total == track.total;
}

/// Those of the markers that announce something new. Ticks are numbered from 1.
std::vector<int64_t> new_steps(const std::vector<Marker>& markers, const MarkerTrack& track) {
  std::vector<int64_t> steps;
  for (const Marker& marker : markers) {
    if (!belongs_to(marker, track)) continue;
    const int64_t step = marker.step >= 0 ? marker.step : static_cast<int64_t>(steps.size()) + 1;
    if (steps.empty() || step > steps.back()) steps.push_back(step);
  }
  return steps;
}

/// The markers of the input in which the process noted most; nullptr if none of its inputs has any.
const JobMarkers* markers_of(const Job& job, const std::vector<CallMark>& marks) {
  std::map<uint64_t, size_t> noted;
  for (const CallMark& mark : marks) ++noted[mark.input];
  const JobMarkers* found = nullptr;
  size_t most = 0;
  for (const JobMarkers& markers : job.markers) {
    const auto count = noted.find(markers.number);
    if (count == noted.end() || count->second <= most) continue;
    most = count->second;
    found = &markers;
  }
  return found;
}

/// By marker of the input: calls that the process had made before it.
std::vector<uint64_t> calls_before(const JobMarkers& markers, const std::vector<CallMark>& marks,
                                   uint64_t total) {
  std::vector<uint64_t> calls;
  auto mark = marks.begin();
  while (mark != marks.end() && mark->input < markers.number) ++mark;
  for (size_t m = 0; m < markers.markers.size(); ++m) {
    while (mark != marks.end() && mark->input == markers.number && mark->markers <= m) ++mark;
    calls.push_back(mark == marks.end() ? total : mark->call);
  }
  return calls;
}

/// Leaves out steps that are not higher than one before them. One that was printed before the
/// process's first call may be the last one of an earlier attempt.
void keep_increasing(std::vector<StepMark>& steps, uint64_t first_call) {
  if (steps.size() > 1 && steps[0].call <= first_call && steps[0].step >= steps[1].step) {
    steps.erase(steps.begin());
  }
  std::vector<StepMark> kept;
  for (const StepMark& step : steps) {
    if (kept.empty() || step.step > kept.back().step) kept.push_back(step);
  }
  steps = std::move(kept);
}

}  // namespace

std::optional<MarkerTrack> choose_track(const Job& job, const IterationChoice& choice) {
  if (choice.by == IterationChoice::By::Period) return std::nullopt;
  std::map<std::pair<uint16_t, int64_t>, MarkerTrack> tracks;
  for (const JobMarkers& input : job.markers) {
    for (const Marker& marker : input.markers) {
      if (!is_wanted(marker, choice)) continue;
      tracks.try_emplace({marker.wording, marker.total},
                         MarkerTrack{marker.wording, marker.total, place_of(marker.wording), {}});
    }
    for (auto& [key, track] : tracks) {
      std::vector<int64_t> steps = new_steps(input.markers, track);
      if (steps.size() > track.steps.size()) track.steps = std::move(steps);
    }
  }
  std::optional<MarkerTrack> chosen;
  for (auto& [key, track] : tracks) {
    const bool more = !chosen || track.steps.size() > chosen->steps.size();
    if (more && track.steps.size() > 1) chosen = std::move(track);
  }
  return chosen;
}

std::vector<StepMark> step_marks(const Job& job, const CallTrack& calls, const MarkerTrack& track) {
  const std::vector<CallMark> marks = calls.marks.all();
  const JobMarkers* markers = markers_of(job, marks);
  if (markers == nullptr) return {};
  const uint64_t end = calls.tape.total();
  const uint64_t begin = marks.front().call;
  const std::vector<uint64_t> before = calls_before(*markers, marks, end);
  std::vector<StepMark> steps;
  for (size_t m = 0; m < markers->markers.size(); ++m) {
    const Marker& marker = markers->markers[m];
    if (!belongs_to(marker, track)) continue;
    if (!steps.empty() && steps.back().call >= end) break;
    if (before[m] <= begin) steps.clear();
    const int64_t number =
        steps.empty() ? 1 : steps.back().step + 1;  // Of a tick, which has no number of its own.
    steps.push_back({marker.step >= 0 ? marker.step : number, before[m]});
  }
  keep_increasing(steps, begin);
  return steps;
}

int64_t usual_distance(const std::vector<int64_t>& steps) {
  std::map<int64_t, size_t> distances;
  for (size_t i = 1; i < steps.size(); ++i) ++distances[steps[i] - steps[i - 1]];
  const auto usual =
      std::max_element(distances.begin(), distances.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return usual == distances.end() ? 1 : usual->first;
}

}  // namespace ncclog

#include "model/input_clock.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "base/varint.h"
#include "log/event.h"

namespace ncclog {

void InputMarkers::add(const Marker& marker) {
  if (total_++ >= kMaxKept) return;
  append_varint(bytes_, marker.wording);
  append_varint(bytes_, difference(last_.step, marker.step));
  append_varint(bytes_, difference(last_.total, marker.total));
  last_ = marker;
}

void InputMarkers::merge(const InputMarkers& later) {
  const uint64_t sum = total_ + later.total_;
  for (const Marker& marker : later.all()) add(marker);
  total_ = sum;
}

std::vector<Marker> InputMarkers::all() const {
  std::vector<Marker> markers;
  Marker marker;
  for (std::string_view bytes = bytes_; !bytes.empty();) {
    marker.wording = static_cast<uint16_t>(take_varint(bytes));
    marker.step = moved_by(marker.step, take_varint(bytes));
    marker.total = moved_by(marker.total, take_varint(bytes));
    markers.push_back(marker);
  }
  return markers;
}

void CallMarks::append(const CallMark& mark) {
  const bool same_input = is_same_input(mark);
  CallMark next = mark;
  next.call = std::max(mark.call, last_.call);
  if (same_input) next.input = last_.input;
  append_varint(bytes_, next.input - last_.input);
  append_varint(bytes_, same_input ? next.markers - last_.markers : next.markers);
  append_varint(bytes_, next.call - last_.call);
  last_ = next;
}

void CallMarks::merge(const CallMarks& later, uint64_t calls) {
  for (CallMark mark : later.all()) {
    mark.call += calls;
    note(mark);
  }
}

std::vector<CallMark> CallMarks::all() const {
  std::vector<CallMark> marks;
  CallMark mark;
  for (std::string_view bytes = bytes_; !bytes.empty();) {
    const uint64_t inputs = take_varint(bytes);
    const uint64_t markers = take_varint(bytes);
    mark.markers = inputs > 0 ? markers : mark.markers + markers;
    mark.input += inputs;
    mark.call += take_varint(bytes);
    marks.push_back(mark);
  }
  return marks;
}

namespace {

/// Where times stand. Slurm prints its own at the end of a sentence.
constexpr size_t kMostBytes = 160;

/// Lines without a time that are looked at behind one that has it: what works prints again soon.
constexpr int kMostUndated = 16;

/// A glance for "12:00:00": most lines of other programs hold none.
bool may_hold_time(std::string_view line) {
  const auto is_pair = [&](size_t at) { return is_digit(line[at]) && is_digit(line[at + 1]); };
  for (size_t colon = line.find(':', 2); colon != line.npos && colon + 5 < line.size();
       colon = line.find(':', colon + 1)) {
    if (line[colon + 3] == ':' && is_pair(colon - 2) && is_pair(colon + 1) && is_pair(colon + 4)) {
      return true;
    }
  }
  return false;
}

/// The number in "step 5", "Step: 5/100", "iteration=5", "iter [5/100]"; -1 if there is none.
int64_t step_in(std::string_view line) {
  constexpr std::string_view kWords[] = {"tep",   "teration", "iter", "Iter",
                                         "batch", "Batch",    "poch"};
  constexpr size_t kMostBetween = 12;
  for (const std::string_view word : kWords) {
    const size_t at = line.find(word);
    if (at == line.npos) continue;
    const size_t begin = line.find_first_not_of("s \t:=#[", at + word.size());
    if (begin == line.npos || begin - at - word.size() > kMostBetween) continue;
    size_t end = begin;
    while (end < line.size() && is_digit(line[end])) ++end;
    if (const auto step = parse_int(line.substr(begin, end - begin))) return *step;
  }
  return -1;
}

/// What a job prints again and again while it gets on.
bool shows_work(std::string_view line) {
  constexpr std::string_view kWords[] = {": opCount ", "NCCL CALL nccl", "loss",     "it/s",
                                         "s/it",       "throughput",     "tokens/s", "samples/s"};
  return step_in(line) >= 0 || std::any_of(std::begin(kWords), std::end(kWords),
                                           [&](auto word) { return line.find(word) != line.npos; });
}

}  // namespace

void Beats::add_pause(const Pause& pause) {
  const auto is_longer = [](const Pause& a, const Pause& b) { return a.length() > b.length(); };
  // Behind its equals: of several the first ones are kept.
  pauses.insert(std::upper_bound(pauses.begin(), pauses.end(), pause, is_longer), pause);
  if (pauses.size() > kMaxPauses) pauses.pop_back();
}

bool Beats::add(const Beat& beat) {
  if (count > 0 && beat.nanoseconds <= last.nanoseconds) {
    if (beat.nanoseconds == last.nanoseconds) last.where = beat.where;
    return beat.nanoseconds == last.nanoseconds;
  }
  if (count++ == 0) {
    first = beat;
  } else {
    add_pause({last, beat});
  }
  last = beat;
  return true;
}

void Beats::merge(const Beats& later) {
  if (later.count == 0) return;
  if (count == 0) {
    *this = later;
    return;
  }
  const Beat here = last;
  count += later.count;
  if (later.first.nanoseconds > here.nanoseconds) add_pause({here, later.first});
  for (Pause pause : later.pauses) {
    // What is older than the last beat here would have been none.
    if (pause.before.nanoseconds < here.nanoseconds) pause.before = here;
    if (pause.length() > 0) add_pause(pause);
  }
  if (later.last.nanoseconds >= here.nanoseconds) last = later.last;
}

void StepGrowth::add(int64_t step) {
  if (step < 0) return;
  if (first < 0) first = step;
  if (step > last && last >= 0) steps += static_cast<uint64_t>(step - last);
  last = step;
}

void StepGrowth::merge(const StepGrowth& later) {
  add(later.first);
  steps += later.steps;
  if (later.last >= 0) last = later.last;
}

bool Pulse::is_dated_as_before(std::string_view line) const {
  return !stamp_.empty() && line.size() >= stamp_at_ + stamp_.size() &&
         std::memcmp(line.data() + stamp_at_, stamp_.data(), stamp_.size()) == 0;
}

void Pulse::add(SourceRef where, std::string_view line) {
  line = line.substr(0, kMostBytes);
  if (is_dated_as_before(line)) {
    now_.where = where;
    undated_ = 0;
    if (stamped_ < 0) return;
    PulseClock& clock = clocks_[static_cast<size_t>(stamped_)];
    clock.all.last.where = where;
    note_work(clock, line);
    return;
  }
  const LineTime time = may_hold_time(line) ? find_line_time(line) : LineTime();
  if (!time.known()) {
    const bool is_looked_at = undated_++ < kMostUndated && line.find("NCCL ") == line.npos;
    if (is_looked_at && step_in(line) >= 0) undated_work_ = where;
    return;
  }
  const int zone = time.has_zone ? 1 : 0;
  PulseClock& clock = clocks_[static_cast<size_t>(zone)];
  now_ = {where, time.nanoseconds};
  undated_ = 0;
  stamped_ = clock.all.add(now_) ? zone : -1;
  stamp_.assign(time.text);
  stamp_at_ = static_cast<size_t>(time.text.data() - line.data());
  if (stamped_ >= 0) note_work(clock, line);
}

void Pulse::note_work(PulseClock& clock, std::string_view line) {
  // What came a moment after other work adds nothing.
  constexpr int64_t kMoment = 50'000'000;
  const int64_t since = now_.nanoseconds - clock.work.last.nanoseconds;
  if (clock.work.count > 0 && since < kMoment) {
    if (since == 0) clock.work.last.where = now_.where;
    return;
  }
  if (!shows_work(line)) return;
  clock.work.add(now_);
  clock.steps.add(step_in(line));
}

void Pulse::add_work(SourceRef where) {
  if (now_.where != where) {
    undated_work_ = where;
  } else if (stamped_ >= 0) {
    clocks_[static_cast<size_t>(stamped_)].work.add(now_);
  }
}

void Pulse::merge(const Pulse& later) {
  for (size_t zone = 0; zone < clocks_.size(); ++zone) {
    clocks_[zone].all.merge(later.clocks_[zone].all);
    clocks_[zone].work.merge(later.clocks_[zone].work);
    clocks_[zone].steps.merge(later.clocks_[zone].steps);
  }
  undated_work_ = std::max(undated_work_, later.undated_work_);
  stamp_.clear();
}

}  // namespace ncclog

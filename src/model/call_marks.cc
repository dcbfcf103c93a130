#include "model/call_marks.h"

#include <algorithm>
#include <string_view>

#include "base/varint.h"

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

}  // namespace ncclog

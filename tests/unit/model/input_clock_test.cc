#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "model/timeline.h"

namespace ncclog {
namespace {

TEST(InputMarkers, KeepTheFirstAndCountAll) {
  InputMarkers markers;
  std::vector<Marker> added;
  for (uint64_t i = 0; i < InputMarkers::kMaxKept + 5; ++i) {
    const Marker marker{static_cast<int64_t>(10 * i), i % 2 == 0 ? 500 : -1,
                        i % 3 == 0 ? kOwnWording : uint16_t{2}};
    markers.add(marker);
    added.push_back(marker);
  }
  EXPECT_EQ(markers.total, InputMarkers::kMaxKept + 5);
  added.resize(InputMarkers::kMaxKept);
  EXPECT_EQ(markers.kept, added);
}

TEST(InputMarkers, JoinToWhatReadingInOneGoGives) {
  const std::vector<int64_t> steps = {5, 6, 7, 3, 4, INT64_C(1) << 60, 0};
  for (size_t cut = 0; cut <= steps.size(); ++cut) {
    InputMarkers whole;
    InputMarkers parts[2];
    for (size_t i = 0; i < steps.size(); ++i) {
      whole.add({steps[i], -1, 1});
      parts[i < cut ? 0 : 1].add({steps[i], -1, 1});
    }
    parts[0].merge(parts[1]);
    EXPECT_EQ(parts[0], whole) << cut;
  }
}

TEST(CallMarks, NoteACallOnlyWhereMarkersCameBetween) {
  CallMarks marks;
  marks.note({0, 0, 0});
  marks.note({0, 0, 1});
  marks.note({0, 2, 2});
  marks.note({0, 2, 3});
  marks.note({3, 0, 4});
  marks.note({3, 1, 900});
  const std::vector<CallMark> expected = {{0, 0, 0}, {0, 2, 2}, {3, 0, 4}, {3, 1, 900}};
  EXPECT_EQ(marks.all(), expected);
}

TEST(CallMarks, DoNotDependOnWhereTheInputWasCut) {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    // true: a marker, false: a call.
    std::vector<bool> lines(200);
    for (size_t i = 0; i < lines.size(); ++i) lines[i] = random() % 4 == 0;
    struct Stretch {
      CallMarks marks;
      InputMarkers markers;
      uint64_t calls = 0;
    };
    const auto read = [&](size_t from, size_t to) {
      Stretch stretch;
      for (size_t i = from; i < to; ++i) {
        if (lines[i]) {
          stretch.markers.add({});
        } else {
          stretch.marks.note({4, stretch.markers.total, stretch.calls++});
        }
      }
      return stretch;
    };
    const size_t cut = random() % lines.size();
    Stretch first = read(0, cut);
    Stretch second = read(cut, lines.size());
    second.marks.shift([&](uint64_t) { return first.markers.total; });
    first.marks.merge(second.marks, first.calls);
    EXPECT_EQ(first.marks, read(0, lines.size()).marks) << round;
  }
}

}  // namespace

}  // namespace ncclog

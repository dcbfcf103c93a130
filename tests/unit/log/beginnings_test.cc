#include <gtest/gtest.h>

#include "log/other_programs_filter.h"

namespace ncclog {
namespace {

Beginnings some() {
  Beginnings beginnings;
  for (const std::string_view text : {"rank ", "Segmentation fault", "#", "NET/IB : "}) {
    beginnings.add(text);
  }
  return beginnings;
}

TEST(Beginnings, KnowsWhatWasAdded) {
  for (const std::string_view text :
       {"rank 3", "rank ", "Segmentation fault", "# x", "#", "NET/IB : x"}) {
    EXPECT_TRUE(some().may_begin(text)) << text;
  }
}

TEST(Beginnings, LetsOthersGo) {
  for (const std::string_view text : {"", "rank", "ranking", "Segment", " #", "NET/IB: x", "x"}) {
    EXPECT_FALSE(some().may_begin(text)) << text;
  }
}

}  // namespace
}  // namespace ncclog

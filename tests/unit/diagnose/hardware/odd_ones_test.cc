#include "diagnose/hardware/odd_ones.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/text.h"

namespace ncclog {
namespace {

struct OddCase {
  std::string_view what;
  std::vector<std::string> values;
  std::string odd;  ///< Numbers of the odd ones.
};

const OddCase kRows[] = {
    {"one of four", {"a", "a", "b", "a"}, "2"},
    {"two of eight, each another way", {"a", "a", "b", "a", "a", "c", "a", "a"}, "2,5"},
    {"one of three has too few peers", {"a", "b", "a"}, ""},
    {"half against half", {"a", "a", "b", "b"}, ""},
    {"two of seven are more than a quarter", {"a", "a", "a", "a", "a", "b", "b"}, ""},
    {"all alike", {"a", "a", "a", "a"}, ""},
    {"all different", {"a", "b", "c", "d"}, ""},
    {"nobody", {}, ""},
};

TEST(OddOnes, AreAtMostAQuarterAgainstThreeAlike) {
  for (const OddCase& row : kRows) {
    PeerValues values;
    for (size_t i = 0; i < row.values.size(); ++i) {
      values.emplace_back(static_cast<int>(i), row.values[i]);
    }
    EXPECT_EQ(ranges_text(odd_ones(values).odd), row.odd) << row.what;
  }
}

/// Hosts of `size` processes each; bus ids rise.
Job job_of(int hosts, int size) {
  Job job;
  for (int i = 0; i < hosts * size; ++i) {
    Process process;
    process.host = "gpu-" + std::to_string(i / size);
    process.rank = i;
    process.bus_id = std::to_string(10 + i % size) + "000";
    process.has_nccl = true;
    job.processes.push_back(process);
  }
  return job;
}

TEST(OddOnes, AreExcusedByAPlaceThatDiffersOnEveryHost) {
  const Job job = job_of(2, 8);
  PeerValues values;
  for (int p = 0; p < 16; ++p) values.emplace_back(p, p % 8 == 3 ? "b" : "a");
  OddOnes odd = odd_ones(values);
  EXPECT_EQ(odd.odd, (std::vector<int>{3, 11}));
  excuse_places(job, values, odd);
  EXPECT_TRUE(odd.odd.empty());
}

TEST(OddOnes, AreNotExcusedWhereTheSamePlaceOfAnotherHostIsLikeTheRest) {
  const Job job = job_of(2, 8);
  PeerValues values;
  for (int p = 0; p < 16; ++p) values.emplace_back(p, p == 11 ? "b" : "a");
  OddOnes odd = odd_ones(values);
  excuse_places(job, values, odd);
  EXPECT_EQ(odd.odd, std::vector<int>{11});
}

TEST(OddOnes, AtAPlaceAreComparedWithThatPlaceOnly) {
  const Job job = job_of(4, 2);
  PeerValues values;
  for (int p = 0; p < 8; ++p) values.emplace_back(p, std::to_string(p % 2));
  EXPECT_TRUE(odd_at_place(job, values).odd.empty());
  values[5].second = "0";
  EXPECT_EQ(odd_at_place(job, values).odd, std::vector<int>{5});
}

TEST(OddOnes, HaveNoPlaceOnAHostOfAnotherSize) {
  Job more = job_of(3, 4);
  more.processes.pop_back();
  const std::vector<int> places = places_in_host(more);
  EXPECT_EQ(places, (std::vector<int>{0, 1, 2, 3, 0, 1, 2, 3, -1, -1, -1}));
}

}  // namespace

}  // namespace ncclog

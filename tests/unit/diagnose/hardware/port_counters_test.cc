// Law: what fell between two readings never grew, where anything tells which came first; readings
// are of one port only where their paths differ in nothing but a moment.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "diagnose/facts/fact.h"

namespace ncclog {
namespace {

using Reading = std::pair<std::string_view, int>;

/// What is said of link_downed of one port, read from files with these paths, in this order.
std::string said_of(std::initializer_list<Reading> readings) {
  Job job;
  for (const auto& [source, value] : readings) {
    PortCounter& counter = job.port_counters.emplace_back();
    counter.source = source;
    counter.device = "mlx5_1";
    counter.port = 1;
    counter.name = "link_downed";
    counter.value = value;
  }
  std::string all;
  for (const TableRow& row : port_counter_table().rows(job)) {
    all += fmt::format("{}{}", all.empty() ? "" : "; ", row.fields[4]);
  }
  return all;
}

struct CounterRow {
  Reading first;
  Reading second;
  std::string_view said;
};

constexpr CounterRow kCounterRows[] = {
    // Words of the paths tell the order, whichever file is read first.
    {{"after/", 3}, {"before/", 2}, "grew by 1"},
    {{"after/", 2}, {"before/", 30}, ""},
    {{"before.txt", 9}, {"after.txt", 0}, ""},
    {{"c.post.txt", 0}, {"c.pre.txt", 9}, ""},
    {{"first/", 9}, {"second/", 0}, ""},
    {{"last/", 0}, {"first/", 9}, ""},
    {{"c-end", 0}, {"c-start", 9}, ""},
    {{"t0/", 9}, {"t1/", 0}, ""},
    // So do dates.
    {{"20260105/", 9}, {"20260106/", 0}, ""},
    {{"20260106/", 9}, {"20260105/", 7}, "grew by 2"},
    {{"260105.txt", 9}, {"260106.txt", 0}, ""},
    {{"c-2026-01-05.txt", 2}, {"c-2026-01-06.txt", 5}, "grew by 3"},
    {{"20260105-120000/", 9}, {"20260105-130000/", 0}, ""},
    {{"20260105T120000Z/", 2}, {"20260105T130000Z/", 3}, "grew by 1"},
    {{"202601051200/", 9}, {"202601051300/", 0}, ""},
    // Nothing does: that counters grow.
    {{"c.txt", 3}, {"c.txt", 2}, "grew by 1"},
    // Other numbers are of hosts and jobs.
    {{"host-100001/", 3}, {"host-100002/", 5}, "is 5; is 3"},
    {{"host-100102/", 3}, {"host-100103/", 5}, "is 5; is 3"},
    {{"job-4711123/", 3}, {"job-4711124/", 5}, "is 5; is 3"},
    {{"20261305/", 3}, {"20261306/", 5}, "is 5; is 3"},
    {{"20260105a/", 3}, {"20260106a/", 5}, "is 5; is 3"},
    {{"20260105-8801/", 3}, {"20260105-8802/", 5}, "is 5; is 3"},
    {{"rack-7/", 3}, {"rack-8/", 5}, "is 5; is 3"},
    // A date and a word do not compare.
    {{"before/", 3}, {"20260105/", 5}, "is 5; is 3"},
};

TEST(PortCounters, GrowFromTheEarlierReadingToTheLater) {
  for (const CounterRow& row : kCounterRows) {
    EXPECT_EQ(said_of({row.first, row.second}), row.said)
        << row.first.first << " " << row.second.first;
  }
}

TEST(PortCounters, OfThreeMomentsStandInTheirOrder) {
  EXPECT_EQ(said_of({{"20260107/", 7}, {"20260105/", 2}, {"20260106/", 4}}), "grew by 5");
}

}  // namespace
}  // namespace ncclog

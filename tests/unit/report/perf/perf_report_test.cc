// What is said about speed, in every format: the same statements, valid, and inert whatever bytes
// the logs hold.

#include "report/perf/perf_report.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "support/json_schema.h"
#include "support/sample_report.h"

namespace ncclog {
namespace {

using nlohmann::json;

/// A table of eight ranks on one host; `gpu` is what their lines call it.
std::string table_of(std::string_view gpu, double busbw) {
  std::string text = "# nThread 1 nGpus 8 minBytes 1048576 maxBytes 8589934592 step: 8(factor)\n";
  for (int rank = 0; rank < 8; ++rank) {
    text += fmt::format("#  Rank {:2} Group  0 Pid {:6} on node-a device {:2} [0x{:x}] {}\n", rank,
                        4000 + rank, rank, 16 + rank, gpu);
  }
  for (const int64_t bytes : {1LL << 20, 1LL << 26, 1LL << 30, 1LL << 33}) {
    const double reached = busbw * static_cast<double>(bytes) / (static_cast<double>(bytes) + 3e7);
    const double algbw = reached / 1.75;
    const double time = static_cast<double>(bytes) / algbw / 1e3;
    text += fmt::format(
        "{:12} {:12} float sum -1 {:8.1f} {:7.2f} {:7.2f} 0 {:8.1f} {:7.2f} {:7.2f} 0\n", bytes,
        bytes / 4, time, algbw, reached, time, algbw, reached);
  }
  return text + "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 100\n";
}

PerfReport perf_of(const Report& report) { return perf_report(report.job, report.tool); }

TEST(PerfReport, LeadsWithTheWordOfItsStatus) {
  const Report nothing = testing::report_on_text("step 1\n");
  EXPECT_EQ(status_of(perf_of(nothing)), PerfStatus::NothingMeasured);
  EXPECT_TRUE(render_text(perf_document(perf_of(nothing)), {}).starts_with("NOTHING MEASURED"));
  const Report fast = testing::report_on_text("$ all_reduce_perf -b 1M -e 8G -f 8 -g 8\n" +
                                              table_of("NVIDIA H100 80GB HBM3", 478));
  EXPECT_EQ(status_of(perf_of(fast)), PerfStatus::Normal);
  EXPECT_TRUE(render_text(perf_document(perf_of(fast)), {}).starts_with("NORMAL"));
}

TEST(PerfReport, FitsItsSchema) {
  for (const std::string& log :
       {std::string("step 1\n"), table_of("NVIDIA H100 80GB HBM3", 478),
        table_of("NVIDIA H100 80GB HBM3", 20), table_of("\x1b[31m<b>", 3)}) {
    const Report report = testing::report_on_text(log);
    const json written = json::parse(write_perf_json(perf_of(report)));
    EXPECT_EQ(join(testing::schema_errors(json::parse(perf_schema()), written), "\n"), "")
        << written.dump(2);
  }
}

TEST(PerfReport, ShowsNoByteOfALogUnescaped) {
  const Report report = testing::report_on_text(table_of("\x1b[31m<script>alert(1)", 3));
  const PerfReport perf = perf_of(report);
  EXPECT_EQ(render_html(perf_document(perf, Reader::Page)).find("<script>alert"),
            std::string::npos);
  EXPECT_EQ(render_text(perf_document(perf), {}).find('\x1b'), std::string::npos);
}

TEST(PerfReport, DrawsTheCurveOnAPage) {
  const Report report = testing::report_on_text(table_of("NVIDIA H100 80GB HBM3", 478));
  const std::string page = render_html(perf_document(perf_of(report), Reader::Page));
  EXPECT_NE(page.find("bus bandwidth over size"), std::string::npos);
  EXPECT_NE(page.find("1073741824 bytes"), std::string::npos);
}

TEST(PerfReport, IsAPartOfTheReportWhereSomethingWasMeasured) {
  const Report measured = testing::report_on_text(table_of("NVIDIA H100 80GB HBM3", 478));
  EXPECT_NE(write_markdown(measured).find("Speed"), std::string::npos);
  const Report nothing = testing::report_on_text("step 1\n");
  EXPECT_EQ(write_markdown(nothing).find("Speed"), std::string::npos);
}

}  // namespace
}  // namespace ncclog

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/hash.h"
#include "model/build/build_job.h"
#include "report/html/html_text.h"
#include "report/report.h"
#include "support/markup_check.h"
#include "support/ring_lines.h"
#include "support/sample_report.h"

namespace ncclog {
namespace {

using testing::markup_faults;
using testing::sample_report;

/// What stands between two texts, which have to be there once in this order.
std::string between(const std::string& text, std::string_view begin, std::string_view end) {
  const size_t from = text.find(begin);
  const size_t to = text.find(end, from);
  if (from == text.npos || to == text.npos) return "nothing there";
  return text.substr(from + begin.size(), to - from - begin.size());
}

TEST(WriteHtml, TheVerdictComesFirst) {
  const std::string page = write_html(sample_report());
  EXPECT_EQ(markup_faults(page), "");
  EXPECT_TRUE(
      page.starts_with("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>"));
  const size_t heading = page.find("<h1>Rank 1 on trainbox could not extend a segment.</h1>");
  ASSERT_NE(heading, page.npos);
  EXPECT_LT(heading, page.find("<section"));
  EXPECT_LT(page.find("Shared memory is full"), page.find("A peer closed its connection"));
}

TEST(WriteHtml, FindingsSayEverythingThatIsKnownOfThem) {
  const std::string page = write_html(sample_report());
  for (const char* part :
       {">error</b>, certain cause, shm-no-space; rank 1 on trainbox", "logs/run.txt:2",
        "failed \\x1b[31m to � extend", "and 3 further lines that are not kept here",
        "<code>df -h /dev/shm</code>", "Start the container with --shm-size=1g",
        "Set NCCL_SHM_DISABLE=1: it hides the limit", "<a href=\"#finding-peer-closed-secondary\">",
        "id=\"finding-peer-closed-secondary\"", "Did all ranks make the same calls?",
        "export NCCL_DEBUG=INFO", "ncclog 1.0.0, rules <code>0123abcd</code>"}) {
    EXPECT_NE(page.find(part), page.npos) << part;
  }
}

TEST(WriteHtml, ThePolicyNamesTheOneScriptAndTheOneStyleSheet) {
  const std::string page = write_html(sample_report());
  const std::string policy = between(page, "\"Content-Security-Policy\" content=\"", "\"");
  EXPECT_TRUE(policy.starts_with("default-src &#39;none&#39;;"));
  for (const char* element : {"script", "style"}) {
    const std::string inside =
        between(page, fmt::format("<{}>", element), fmt::format("</{}>", element));
    EXPECT_NE(
        policy.find(fmt::format("{}-src &#39;sha256-{}&#39;", element, sha256_base64(inside))),
        policy.npos)
        << element;
  }
  EXPECT_EQ(policy.find("unsafe"), policy.npos);
}

TEST(WriteHtml, AThousandRanksStayUnderTwoMegabytes) {
  Report report = sample_report();
  report.job = job_from_text(testing::ring_lines(128, 8));
  ASSERT_EQ(report.job.nranks, 1024);
  const std::string page = write_html(report);
  EXPECT_EQ(markup_faults(page), "");
  EXPECT_LT(page.size(), 2'000'000u);
}

TEST(WriteHtml, RanksUnlikeMostAreKeptWhereNotAllFit) {
  std::string log = testing::ring_lines(200, 8);
  // The last rank never came to the end of its initialisation.
  log.erase(log.rfind("rack-199:"));
  Report report = sample_report();
  report.job = job_from_text(log);
  const std::string page = write_html(report);
  EXPECT_NE(page.find("1200 of 1600 ranks are shown"), page.npos);
  EXPECT_NE(page.find("<th class=\"num\" scope=\"row\">1599</th>"), page.npos);
  EXPECT_EQ(page.find("<th class=\"num\" scope=\"row\">1598</th>"), page.npos);
}

TEST(WriteHtml, SettingsThatDifferComeFirst) {
  Report report = sample_report();
  report.job = job_from_text(
      "n1:1:1 [0] NCCL INFO NCCL_DEBUG set by environment to INFO\n"
      "n1:2:2 [1] NCCL INFO NCCL_DEBUG set by environment to INFO\n"
      "n1:1:1 [0] NCCL INFO NCCL_NSOCKS_PERTHREAD set by environment to 4\n"
      "n1:2:2 [1] NCCL INFO NCCL_NSOCKS_PERTHREAD set by environment to 8\n");
  const std::string page = write_html(report);
  const std::string settings = between(page, "<section id=\"settings\">", "</section>");
  EXPECT_LT(settings.find("Not the same everywhere"), settings.find("NCCL_NSOCKS_PERTHREAD"));
  EXPECT_LT(settings.find("NCCL_NSOCKS_PERTHREAD"), settings.find("The same everywhere"));
  EXPECT_LT(settings.find("The same everywhere"), settings.find("NCCL_DEBUG"));
}

TEST(WriteHtml, AnEmptyReportIsAPageAsWell) { EXPECT_EQ(markup_faults(write_html({})), ""); }

}  // namespace
}  // namespace ncclog

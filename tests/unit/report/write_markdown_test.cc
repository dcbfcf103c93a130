#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "model/build/build_job.h"
#include "report/document/document.h"
#include "report/report.h"
#include "support/markdown_check.h"
#include "support/sample_report.h"

namespace ncclog {
namespace {

using testing::check_markdown;
using testing::sample_report;

void expect_good(const std::string& markdown) {
  EXPECT_LT(markdown.size(), kMaxMarkdown);
  const auto complaints = check_markdown(markdown);
  EXPECT_TRUE(complaints.empty()) << join(complaints, "\n") << "\n" << markdown.substr(0, 5000);
}

TEST(WriteMarkdown, PutsTheVerdictFirstAndCollapsesTheRest) {
  const std::string markdown = write_markdown(sample_report());
  expect_good(markdown);
  EXPECT_TRUE(
      markdown.starts_with("<!-- ncclog report -->\n## PROBLEM\n\n"
                           "**Rank 1 on trainbox could not extend a segment.**\n\n"
                           "### Finding\n\n"
                           "#### Shared memory is full\n\n"
                           "error, certain cause, shm-no-space; rank 1 on trainbox\n\n"))
      << markdown;
  size_t before = 0;
  for (const std::string_view part : {
           "**Why** NCCL moves data between processes through files in /dev/shm.\n\n",
           "**Seen**, and 3 more lines\n\n"
           "```text\nlogs/run.txt:2\n  trainbox:502:541 [1] misc/shmutils.cc:87 NCCL WARN Error: "
           "failed \\x1b[31m to � extend\n```\n",
           "**Check**\n\n- `df -h /dev/shm`\n\n",
           "**Fix**\n\n- Start the container with --shm-size=1g",
           "**Do not**\n\n- Set `NCCL_SHM_DISABLE=1`: it hides the limit",
           "**Follows** 1 other finding: peer-closed-secondary (ranks 0,2,3)\n\n",
           "### Other findings\n\n#### A setting has a value",
           "<summary>What follows from these</summary>\n\n#### A peer closed its connection\n\n"
           "info, possible symptom, peer-closed-secondary; ranks 0,2,3\n",
           "<summary>Worth knowing</summary>\n\n#### P2P is off\n\n"
           "info, possible advice, p2p-disabled-info\n\nP2P is switched",
           "### What these logs cannot tell\n\n- Did all ranks make the same calls? No collective",
           "```sh\nexport NCCL_DEBUG=INFO\nexport NCCL_DEBUG_SUBSYS=INIT,ENV,NET,COLL\n```\n",
           "- Collect the files of all ranks.\n- Log size: about 30 kB a rank",
           "### Job\n\n| what | as the logs show it |\n| --- | --- |\n| hosts | trainbox |\n"
           "| network | Socket |\n",
           "<summary>Inputs</summary>",
           "*ncclog 1.0.0, rules `0123abcd`.",
       }) {
    const size_t at = markdown.find(part);
    EXPECT_NE(at, std::string::npos) << part << "\n---\n" << markdown;
    EXPECT_GE(at, before) << part << " stands too early\n---\n" << markdown;
    before = at;
  }
}

TEST(WriteMarkdown, SaysNothingAboutWhatTheLogDoesNotHold) {
  Report report;
  report.job = job_from_text("hello\n");
  report.diagnosis.verdict.headline = "Nothing can be told.";
  const std::string markdown = write_markdown(report);
  expect_good(markdown);
  EXPECT_TRUE(markdown.starts_with(
      "<!-- ncclog report -->\n## CANNOT JUDGE\n\n**Nothing can be told.**\n\n<details>"))
      << markdown;
}

Finding finding(int n, const std::string& word) {
  Finding finding;
  finding.id = fmt::format("finding-{}", n);
  finding.severity = n % 3 == 0 ? Severity::Error : n % 3 == 1 ? Severity::Warning : Severity::Info;
  finding.title = finding.message = finding.why = "About " + word + " it is.";
  finding.hosts = {word, word + "2"};
  finding.ranks = {n, n + 2};
  finding.evidence.assign(Finding::kMaxEvidence, Evidence{.where = {0, 1}, .text = word});
  finding.check = finding.fix = finding.do_not = std::vector<std::string>(9, word);
  finding.references = {"https://example.org/a", "javascript:alert(1)", "https://x)<b>" + word};
  return finding;
}

/// A report of which everything is there in masses.
Report large_report(const std::string& word) {
  std::string log;
  for (int rank = 0; rank < 1024; ++rank) {
    const std::string head = fmt::format("host-{}:{}:{} [0] NCCL INFO ", rank / 8, rank, rank);
    log += head + fmt::format("NCCL_SETTING_{} set by environment to {}\n", rank, word);
    log += head + fmt::format(
                      "ncclCommInitRank comm {0:#x} rank {1} nranks 8 cudaDev 0 nvmlDev 0 "
                      "busId 1000 commId {2:#x} - Init START\n",
                      rank + 1, rank % 8, rank / 8 + 1);
  }
  Report report = sample_report();
  report.job = job_from_text(log, {}, word);
  report.diagnosis.findings.clear();
  for (int n = 0; n < 200; ++n) report.diagnosis.findings.push_back(finding(n, word));
  report.diagnosis.findings[0].explains = {"finding-1", "finding-2", "finding-4"};
  report.diagnosis.verdict = {VerdictStatus::Problem, "It is " + word, "finding-0"};
  report.diagnosis.not_judged.assign(50, {word, word, word});
  report.diagnosis.capture.steps.assign(50, word);
  report.diagnosis.overlays.assign(50, {finding(3, word), Severity::Info, word, word, word});
  report.profile = CheckedProfile{.name = word, .title = word, .expectations = {}};
  report.profile->expectations.assign(
      200, {word, Severity::Error, {.value = false, .what = word}, word});
  report.job.inputs.resize(4096, report.job.inputs.front());
  report.job.hosts.assign(1024, word);
  return report;
}

TEST(WriteMarkdown, FitsAnIssueWhateverTheJob) {
  for (const std::string& word :
       {std::string("plain"), std::string(100'000, '<'), std::string(100'000, '`')}) {
    SCOPED_TRACE(word.substr(0, 5));
    const std::string markdown = write_markdown(large_report(word));
    expect_good(markdown);
    for (const std::string_view heading :
         {"### Other findings\n", "<summary>Settings that NCCL reports<", "<summary>Inputs<"}) {
      const size_t at = markdown.find(heading);
      ASSERT_NE(at, std::string::npos) << heading;
      const std::string section = markdown.substr(at, markdown.find("<details>", at) - at);
      EXPECT_NE(section.find(" left out here."), std::string::npos) << section;
    }
  }
}

TEST(IssueForms, AreFilledWithWhatTheLogsHold) {
  for (const ReportKind& form : issue_forms()) {
    SCOPED_TRACE(form.name);
    const std::string markdown = form.write(sample_report(), {});
    expect_good(markdown);
    for (const std::string_view part :
         {"Rank 1 on trainbox could not extend a segment", "**First NCCL WARN**\n\n```text\n",
          "| network | Socket |", "### Still missing\n\n- ",
          "The NCCL version: ", "export NCCL_DEBUG_SUBSYS=INIT,ENV,NET,COLL"}) {
      EXPECT_NE(markdown.find(part), std::string::npos) << part << "\n" << markdown;
    }
    EXPECT_EQ(markdown.find("The first NCCL WARN: "), std::string::npos) << markdown;
  }
}

TEST(IssueForms, FitAnIssueWhateverTheJob) {
  for (const ReportKind& form : issue_forms()) {
    expect_good(form.write(large_report(std::string(100'000, '<')), {}));
  }
}

TEST(WriteMarkdown, TellsMuchOfALargeJob) {
  EXPECT_GT(write_markdown(large_report("plain")).size(), 25'000U);
}

}  // namespace
}  // namespace ncclog

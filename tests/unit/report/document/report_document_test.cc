#include "report/document/report_document.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/hash.h"
#include "base/text.h"
#include "model/derive/build_job.h"
#include "report/document/document.h"
#include "report/html/html_text.h"
#include "report/report.h"
#include "support/markdown_check.h"
#include "support/markup_check.h"
#include "support/ring_lines.h"
#include "support/sample_report.h"

namespace ncclog {
namespace {

using testing::check_markdown;
using testing::markup_faults;
using testing::sample_report;

TEST(WriteText, PutsTheVerdictFirstAndFoldsWhatFollows) {
  EXPECT_EQ(write_text(sample_report(), {.width = 80}),
            "PROBLEM   Rank 1 on trainbox could not extend a segment.\n"
            "          logs/run.txt:2  NCCL WARN Error: failed \\x1b[31m to � extend\n"
            "          cause (certain), shm-no-space; rank 1 on trainbox; explains 1 other:\n"
            "          peer-closed-secondary\n"
            "\n"
            "  what    Rank 1 on trainbox could not extend a segment: /dev/shm is full.\n"
            "  why     NCCL moves data between processes through files in /dev/shm.\n"
            "  check   `df -h /dev/shm`\n"
            "  fix     Start the container with --shm-size=1g or with --ipc=host.\n"
            "  do not  Set NCCL_SHM_DISABLE=1: it hides the limit and slows everything down.\n"
            "\n"
            "warning   NCCL_IB_TIMEOUT=abc is not a number.\n"
            "          advice (likely), env-invalid-value; host trainbox\n"
            "\n"
            "Worth knowing\n"
            "  - P2P is switched off by NCCL_P2P_DISABLE. [p2p-disabled-info]\n"
            "\n"
            "What these logs cannot tell\n"
            "  - Did all ranks make the same calls? No collective was logged.\n"
            "\n"
            "Next time: NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV,NET,COLL on all ranks (-v\n"
            "says more).\n"
            "\n"
            "Read 3 lines from 1 file: 3 processes on 1 host, network Socket.\n"
            "Ended: unknown; these logs do not show how.\n");
}

TEST(WriteText, TellsWhatIsHarmlessToWhoAsks) {
  Report report = sample_report();
  report.diagnosis.findings.back().is_harmless = true;
  const std::string brief = write_text(report, {});
  EXPECT_NE(brief.find("1 harmless note: -v\n"), std::string::npos) << brief;
  EXPECT_EQ(brief.find("p2p-disabled-info"), std::string::npos) << brief;
  const std::string whole = write_text(report, {.verbose = true});
  EXPECT_NE(whole.find("[p2p-disabled-info]"), std::string::npos) << whole;
  EXPECT_NE(whole.find("    export NCCL_DEBUG=INFO\n"), std::string::npos) << whole;
}

TEST(WriteText, ColourChangesNoWord) {
  const std::string plain = write_text(sample_report(), {.width = 80});
  std::string coloured = write_text(sample_report(), {.width = 80, .colour = true});
  EXPECT_NE(coloured, plain);
  for (size_t at; (at = coloured.find('\x1b')) != std::string::npos;) {
    coloured.erase(at, coloured.find('m', at) - at + 1);
  }
  EXPECT_EQ(coloured, plain);
}

TEST(WriteText, FitsTheWidthAndSteersNoTerminal) {
  for (const int width : {60, 80, 120}) {
    const std::string text = write_text(sample_report(), {.width = width});
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_EQ(text.find("\u202e"), std::string::npos);
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = text.find('\n', begin);
      EXPECT_LE(display_width(text.substr(begin, end - begin)), width);
      begin = end + 1;
    }
  }
}

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
                           "error, cause (certain), shm-no-space; rank 1 on trainbox\n\n"))
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
           "**Explains** 1 other: peer-closed-secondary (ranks 0,2,3)\n\n",
           "### Other findings\n\n#### A setting has a value",
           "<summary>What follows from these</summary>\n\n#### A peer closed its connection\n\n"
           "info, symptom (possible), peer-closed-secondary; ranks 0,2,3\n",
           "<summary>Worth knowing</summary>\n\n#### P2P is off\n\n"
           "info, advice (possible), p2p-disabled-info\n\nP2P is switched",
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

/// A report of which everything is there in masses. Of words that are too long for an issue by
/// themselves fewer are too much.
Report large_report(const std::string& word) {
  const int divisor = word.size() > kMaxMarkdown ? 16 : 1;
  std::string log;
  for (int rank = 0; rank < 1024 / divisor; ++rank) {
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
  for (int n = 0; n < 200 / divisor; ++n) report.diagnosis.findings.push_back(finding(n, word));
  report.diagnosis.findings[0].explains = {"finding-1", "finding-2", "finding-4"};
  report.diagnosis.verdict = {VerdictStatus::Problem, "It is " + word, "finding-0"};
  report.diagnosis.not_judged.assign(50 / divisor, {word, word, word});
  report.diagnosis.capture.steps.assign(50 / divisor, word);
  report.diagnosis.overlays.assign(50 / divisor,
                                   {finding(3, word), Severity::Info, word, word, word});
  report.profile = Profile{.name = word, .title = word, .expectations = {}};
  report.profile->expectations.assign(200 / divisor, {.severity = Severity::Error,
                                                      .text = word,
                                                      .outcome = {.value = false, .what = word},
                                                      .word = "broken",
                                                      .how_to_capture = word});
  report.job.inputs.resize(4096 / divisor, report.job.inputs.front());
  report.job.hosts.assign(1024 / divisor, word);
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
       {">error</b>, cause (certain), shm-no-space; rank 1 on trainbox", "logs/run.txt:2",
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
  EXPECT_NE(page.find("300 of 1600 ranks are shown"), page.npos);
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
  const std::string settings =
      between(page, "<section id=\"settings\" class=\"screen\">", "</section>");
  EXPECT_LT(settings.find("Not the same everywhere"), settings.find("NCCL_NSOCKS_PERTHREAD"));
  EXPECT_LT(settings.find("NCCL_NSOCKS_PERTHREAD"), settings.find("The same everywhere"));
  EXPECT_LT(settings.find("The same everywhere"), settings.find("NCCL_DEBUG"));
}

TEST(WriteHtml, AnEmptyReportIsAPageAsWell) { EXPECT_EQ(markup_faults(write_html({})), ""); }

Job job_with(std::string path) {
  Job job;
  job.inputs.emplace_back().path = std::move(path);
  job.units.push_back({.input = 0, .first_line = 101});
  return job;
}

std::string evidence_text(const Job& job, const Finding& finding, size_t most) {
  return render_text({{{.blocks = {evidence_quotes(job, finding, most)}}}}, {.width = 80});
}

std::string shown(std::vector<std::string> lines, size_t most = 4) {
  Finding finding;
  for (size_t i = 0; i < lines.size(); ++i) finding.evidence.push_back({{0, i + 1}, lines[i]});
  return evidence_text(job_with("a.log"), finding, most);
}

TEST(EvidenceText, NamesFileAndLine) {
  EXPECT_EQ(shown({"bus error"}), "  seen    a.log:101  bus error\n");
  EXPECT_EQ(shown({}), "");
}

TEST(EvidenceText, PutsLongTextBelowAndKeepsItsEnd) {
  EXPECT_EQ(
      shown({"node-a:101:201 [0] misc/socket.cc:57 NCCL WARN Connection closed by remote peer "
             "node-b.cluster.local<40312> and nothing else was read, error 104"}),
      "  seen    a.log:101\n"
      "          NCCL WARN Connection closed by remote peer node-b.cluster.local<40312>\n"
      "          and nothing else was read, error 104\n");
}

TEST(EvidenceText, ShowsOneLineOfThoseThatDifferOnlyInNumbers) {
  EXPECT_EQ(
      shown({"rank 1 timed out", "rank 2 timed out", "rank 3 was killed", "rank 4 timed out"}),
      "  seen    a.log:101  rank 1 timed out\n"
      "          a.log:103  rank 3 was killed\n"
      "          … and 2 more lines\n");
}

TEST(EvidenceText, NamesWithDigitsAreNotNumbers) {
  EXPECT_EQ(shown({"NCCL_P2P_DISABLE set to 1", "NCCL_CROSS_NIC2 set to 1"}),
            "  seen    a.log:101  NCCL_P2P_DISABLE set to 1\n"
            "          a.log:102  NCCL_CROSS_NIC2 set to 1\n");
}

TEST(EvidenceText, LinesOfWhichOnlyThePlaceIsKeptComeLast) {
  EXPECT_EQ(shown({"", "seen here"}),
            "  seen    a.log:102  seen here\n"
            "          a.log:101\n");
  EXPECT_EQ(shown({"", "seen here"}, 1),
            "  seen    a.log:102  seen here\n"
            "          … and 1 more line\n");
}

TEST(EvidenceText, DumpsThatDifferInNumbersAreShown) {
  Finding finding;
  finding.evidence = {{{0, 0}, "collective 6: AllReduce of 1000 Float"},
                      {{0, 0}, "collective 6: AllReduce of 999 Float"}};
  EXPECT_EQ(evidence_text(job_with("dump_0"), finding, 4),
            "  seen    dump_0  collective 6: AllReduce of 1000 Float\n"
            "          dump_0  collective 6: AllReduce of 999 Float\n");
}

TEST(EvidenceText, CountsWhatIsLeftOut) {
  Finding finding;
  finding.evidence = {{{0, 1}, "one"}};
  finding.evidence_omitted = 41;
  EXPECT_EQ(evidence_text(job_with("a.log"), finding, 4),
            "  seen    a.log:101  one\n"
            "          … and 41 more lines\n");
}

}  // namespace
}  // namespace ncclog

// Whatever a log says, and wherever it says it, a page stays well-formed and nothing in it acts.

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "model/derive/build_job.h"
#include "report/graph/graph.h"
#include "report/html/figures.h"
#include "report/report.h"
#include "support/markup_check.h"
#include "support/ring_lines.h"
#include "support/sample_report.h"

namespace ncclog::testing {
namespace {

constexpr unsigned kHtmlSeeds = 60;

const std::vector<std::string> kPieces = {"<script>alert(1)</script>",
                                          "</style>",
                                          "<!--",
                                          "-->",
                                          "]]>",
                                          "<![CDATA[",
                                          "&#x3c;",
                                          "&",
                                          "\"",
                                          "'",
                                          "`",
                                          "|",
                                          "\\",
                                          "\x1b[31m",
                                          "\r",
                                          std::string(1, '\0'),
                                          "\u202e",
                                          "\u2066",
                                          "\u05d0\u05d1",
                                          "\ufffe",
                                          "\uffff",
                                          "\xff",
                                          "\xc3",
                                          "\xed\xa0\x80",
                                          "\xf4\x90\x80\x80",
                                          "javascript:x",
                                          " onload=x ",
                                          "🙂",
                                          "%s%n",
                                          std::string(3000, 'A')};

/// Puts pieces into the text anywhere but at line ends, so that lines keep their number.
std::string spoilt(std::string text, std::mt19937& random) {
  const size_t count = text.size() / 200 + 1;
  for (size_t i = 0; i < count; ++i)
    text.insert(random() % text.size(), kPieces[random() % kPieces.size()]);
  return text;
}

std::string hostile_word(std::mt19937& random) {
  std::string word;
  for (size_t i = 0; i < 4; ++i) word += kPieces[random() % kPieces.size()];
  return word;
}

/// The report's own texts, which come from rules and messages filled from a log.
void spoil_findings(Report& report, std::mt19937& random) {
  report.diagnosis.verdict.headline += hostile_word(random);
  for (Finding& finding : report.diagnosis.findings) {
    finding.title += hostile_word(random);
    finding.message += hostile_word(random);
    finding.hosts = {hostile_word(random)};
    finding.check.push_back(hostile_word(random));
    finding.references.push_back(hostile_word(random));
    for (Evidence& evidence : finding.evidence) evidence.text += hostile_word(random);
  }
  report.diagnosis.not_judged[0].reason += hostile_word(random);
}

TEST(HtmlProperty, HostileTextNeverBecomesMarkup) {
  const std::string ring = ring_lines(2, 3);
  for (unsigned seed = 0; seed < kHtmlSeeds; ++seed) {
    std::mt19937 random(seed);
    Report report = sample_report();
    report.job = job_from_text(spoilt(ring, random), {}, hostile_word(random));
    spoil_findings(report, random);
    EXPECT_EQ(markup_faults(write_html(report)), "") << seed;
    for (const char* name : {"channels", "topology"}) {
      const Drawing drawing = find_drawing(name)(report.job, 16);
      EXPECT_EQ(markup_faults(write_svg(drawing)), "") << seed;
    }
  }
}

}  // namespace
}  // namespace ncclog::testing

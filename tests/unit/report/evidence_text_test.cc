#include <gtest/gtest.h>

#include "report/document/document.h"
#include "report/document/report_document.h"

namespace ncclog {
namespace {

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
      "          … NCCL WARN Connection closed by remote peer\n"
      "          node-b.cluster.local<40312> and nothing else was read, error 104\n");
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

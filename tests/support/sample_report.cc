#include "support/sample_report.h"

#include "base/built_in.h"
#include "model/derive/build_job.h"
#include "rules/evaluate.h"
#include "rules/load_rules.h"

namespace ncclog::testing {
namespace {

constexpr std::string_view kLog =
    "trainbox:501:540 [0] NCCL INFO Using network Socket\n"
    "trainbox:502:541 [1] misc/shmutils.cc:87 NCCL WARN Error: failed \x1b[31m to \xff extend\n"
    "trainbox:503:542 [2] misc/socket.cc:57 NCCL WARN Connection closed \u202e by peer\n";

Evidence line_of_log(uint64_t line) {
  size_t begin = 0;
  for (uint64_t n = 1; n < line; ++n) begin = kLog.find('\n', begin) + 1;
  const size_t end = kLog.find('\n', begin);
  return {.where = {0, line}, .text = std::string(kLog.substr(begin, end - begin))};
}

Finding cause() {
  Finding finding;
  finding.id = "shm-no-space";
  finding.severity = Severity::Error;
  finding.confidence = Confidence::Certain;
  finding.role = Role::Cause;
  finding.title = "Shared memory is full";
  finding.headline = "Rank 1 on trainbox could not extend a segment.";
  finding.message = "Rank 1 on trainbox could not extend a segment: /dev/shm is full.";
  finding.why = "NCCL moves data between processes through files in /dev/shm.";
  finding.subject = {.host = "trainbox", .rank = 1, .pid = 502};
  finding.hosts = {"trainbox"};
  finding.ranks = {1};
  finding.evidence = {line_of_log(2)};
  finding.evidence_omitted = 3;
  finding.check = {"`df -h /dev/shm`"};
  finding.fix = {"Start the container with --shm-size=1g or with --ipc=host."};
  finding.do_not = {"Set NCCL_SHM_DISABLE=1: it hides the limit and slows everything down."};
  finding.explains = {"peer-closed-secondary"};
  return finding;
}

Finding symptom() {
  Finding finding;
  finding.id = "peer-closed-secondary";
  finding.severity = Severity::Info;
  finding.role = Role::Symptom;
  finding.title = "A peer closed its connection";
  finding.message = "Rank 2 lost a connection.";
  finding.ranks = {0, 2, 3};
  finding.evidence = {line_of_log(3)};
  return finding;
}

Finding warning() {
  Finding finding;
  finding.id = "env-invalid-value";
  finding.severity = Severity::Warning;
  finding.confidence = Confidence::Likely;
  finding.role = Role::Advice;
  finding.title = "A setting has a value that NCCL does not take";
  finding.message = "NCCL_IB_TIMEOUT=abc is not a number.";
  finding.hosts = {"trainbox"};
  return finding;
}

Finding advice() {
  Finding finding;
  finding.id = "p2p-disabled-info";
  finding.severity = Severity::Info;
  finding.role = Role::Advice;
  finding.title = "P2P is off";
  finding.message = "P2P is switched off by NCCL_P2P_DISABLE.";
  finding.evidence = {line_of_log(1)};
  return finding;
}

}  // namespace

Report sample_report() {
  Report report;
  report.tool = {.name = "ncclog", .version = "1.0.0", .rulebook = "0123abcd"};
  report.job = job_from_text(kLog, {}, "logs/run.txt");
  report.diagnosis.verdict = {.status = VerdictStatus::Problem,
                              .headline = "Rank 1 on trainbox could not extend a segment.",
                              .finding = "shm-no-space"};
  report.diagnosis.findings = {cause(), symptom(), warning(), advice()};
  report.diagnosis.not_judged = {{.question = "Did all ranks make the same calls?",
                                  .reason = "No collective was logged.",
                                  .how_to_capture = "NCCL_DEBUG_SUBSYS=INIT,ENV,NET,COLL"}};
  report.diagnosis.capture.settings = {{"NCCL_DEBUG", "INFO"},
                                       {"NCCL_DEBUG_SUBSYS", "INIT,ENV,NET,COLL"}};
  report.diagnosis.capture.steps = {"Collect the files of all ranks."};
  report.diagnosis.capture.size = LogSize{.start_bytes = 30'000, .rests_on = "usual logs"};
  return report;
}

Report report_on_text(std::string_view text) {
  const Rulebook rulebook = load_rulebook();
  Report report;
  report.job = job_from_text(text, make_line_matcher(rulebook));
  report.diagnosis = evaluate(rulebook, report.job);
  report.tool = {.version = std::string(version()), .rulebook = rulebook.hash};
  return report;
}

}  // namespace ncclog::testing

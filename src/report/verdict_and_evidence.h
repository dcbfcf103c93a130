// What does every format say of a diagnosis, and in which words?
//
//   PROBLEM                                               verdict_word
//   ranks 1,3 on gpu-node-01                              subject_words
//   watchdog-timeout explains …                           consequences
//   logs/nccl.1607.txt:40, and 11 lines like it           telling_evidence
//   Run 2: healthy; finished: all 4 processes ended …     run_sentences
//   Ended: finished; nccl-tests printed its summary …     outcome_text
//
// Texts may hold any bytes of the logs: each writer escapes them on their way out.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/job.h"
#include "report/report.h"
#include "rules/finding.h"
#include "rules/profile.h"

namespace ncclog {

/// "PROBLEM", "CANNOT JUDGE".
std::string_view verdict_word(VerdictStatus status);

/// The finding of that id; nullptr if there is none.
const Finding* find_finding(const Report& report, std::string_view id);

/// Present findings that follow from `cause`, directly or not, in report order.
std::vector<const Finding*> consequences(const Report& report, const Finding& cause);

/// Findings that are neither `main` (nullptr: none) nor follow from another one, in report order.
std::vector<const Finding*> independent_findings(const Report& report, const Finding* main);

/// "ranks 0-3 on node-a, node-b"; empty if the finding names nobody. May hold any bytes.
std::string subject_words(const Finding& finding);

/// "peer-closed-secondary (ranks 0,2,3)".
std::string named_with_ranks(const Finding& finding);

/// What a finding's message says beyond the headline, which begins like it. Views `message`.
std::string_view beyond_headline(std::string_view headline, std::string_view message);

/// True for an item of check, fix or do_not that is typed as it stands. Prose starts with a capital
/// or ends a sentence.
bool is_command(std::string_view item);

/// The lines to show, at most `most`: of those that many ranks print alike, the first, and one of
/// the process that the finding is about. Of some lines only the place is kept; they come last.
std::vector<const Evidence*> telling_evidence(const Finding& finding, size_t most);

// What became of each run, where the logs hold several, in the words that every format shows.
//
//   Run 1: problem (watchdog-rank-behind); failed: rank 1 reports that ALLREDUCE timed out
//   (train.log lines 1-435).
//   Run 2: healthy; finished: all 4 processes ended well (train.log lines 492-1025).

/// A sentence for each run; empty where there is one.
std::vector<std::string> run_sentences(const Diagnosis& diagnosis);

/// "Ended: finished; nccl-tests printed its summary (bench.out:412). 4 of 8 processes finished, 4
/// unfinished." The processes only where some of them ended otherwise than the job.
std::string outcome_text(const Job& job);

// What a replay of the job on other GPUs showed, as far as a report tells it.
//
//   replay  reproduced-hypothesis (likely): As recorded, AllReduce, call 29 of communicator … does
//           not complete when rank 5 makes another call in its place; …
//           2 x NVIDIA H200, NCCL 2.28.9; not as recorded: ranks of the job …
//           Do not conclude: where in the program it comes from …

/// Its outcome in one sentence, for a report of one line: "A replay on 2 x NVIDIA H200, NCCL 2.28.9
/// came out as reproduced-fault (likely)."
std::string replay_sentence(const ReplaySummary& replay);

/// What reports for people say of it, one paragraph each, the outcome first.
std::vector<std::string> replay_paragraphs(const ReplaySummary& replay);

// The part of a report that says how a job stands to a profile.
//
//   Expectations of dgx-h100
//     met      network: IB (16 selections)
//     broken   gpudirect: true, but rank 3 -> rank 11 via NET/IB/3 (2 of 64 connections)
//     unknown  nvls: true; no line says whether NVLink SHARP can be used

/// "hosts: 2 (2 hosts)", "network: IB, but network Socket", "nvls: true; no line says …". May hold
/// any bytes.
std::string expectation_words(const CheckedExpectation& expectation);

/// One for each effect and for each overlay that ended. May hold any bytes.
std::vector<std::string> overlay_sentences(const Diagnosis& diagnosis);

}  // namespace ncclog

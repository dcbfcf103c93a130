// Every failure of the closed lists (log/named_failure.h) is told, whoever prints it, and none where
// the job went on.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/text.h"
#include "log/named_failure.h"
#include "model/derive/build_job.h"
#include "rules/evaluate.h"
#include "rules/load_rules.h"

namespace ncclog {
namespace {

/// A line of a program that no rule names; {} is what it says.
constexpr std::string_view kCarriers[] = {
    "ours.cc:91: step failed: {}\n",
    "node7: Test CUDA failure common.cu:893 '{}'\n",
    "terminate called after throwing an instance of 'std::runtime_error'\n  what():  {}\n",
    "Traceback (most recent call last):\n  File \"/w/ours.py\", line 3, in main\n    run()\n"
    "RuntimeError: {}\n",
    "[1,3]<stderr>:ours.cc:91: step failed: {}\n",
    "{{\"log\":\"ours.cc:91: step failed: {}\\n\",\"stream\":\"stderr\","
    "\"time\":\"2026-01-05T12:00:00.000000000Z\"}}\n",
};

/// What the failure's library would print, with its name where others use the text, too.
std::string said(const NamedFailure& failure) {
  const std::string_view about = failure.list == "fabric"      ? "UCX error: "
                                 : failure.list == "launchers" ? "MPI error: "
                                 : failure.list == "verbs"     ? "RDMA error: "
                                                               : "CUDA error: ";
  const bool is_of_system = failure.list == "errno" || failure.list == "frameworks";
  return std::string(is_of_system ? "error: " : about) + std::string(words_of(failure));
}

std::string line_of(std::string_view carrier, const std::string& text) {
  return fmt::format(fmt::runtime(carrier), text);
}

const Rulebook& rulebook() {
  static const Rulebook rules = load_rulebook();
  return rules;
}

Diagnosis diagnosis_of(const std::string& log) {
  static const LineMatcher matcher = make_line_matcher(rulebook());
  return evaluate(rulebook(), job_from_text(log, matcher));
}

bool tells_a_fault(const Diagnosis& diagnosis) {
  const VerdictStatus status = diagnosis.verdict.status;
  return status == VerdictStatus::Problem || status == VerdictStatus::Suspicious;
}

/// Some finding is the failure's own, or says or shows its words.
bool is_told(const Diagnosis& diagnosis, const NamedFailure& failure) {
  const std::string_view words = words_of(failure);
  return std::ranges::any_of(diagnosis.findings, [&](const Finding& finding) {
    return finding.id == failure.finding || finding.message.find(words) != std::string::npos ||
           std::ranges::any_of(finding.evidence, [&](const Evidence& line) {
             return line.text.find(words) != std::string::npos;
           });
  });
}

TEST(NamedFailuresProperty, ACauseIsToldInAnyCarrier) {
  for (const NamedFailure& failure : named_failures()) {
    if (failure.sort != FailureSort::Cause) continue;
    for (const std::string_view carrier : kCarriers) {
      const std::string log = line_of(carrier, said(failure));
      const Diagnosis diagnosis = diagnosis_of(log);
      EXPECT_TRUE(tells_a_fault(diagnosis) && is_told(diagnosis, failure)) << log;
    }
  }
}

/// Another library calls a cause so: "invalid argument" of CUDA, of NCCL and of the C library.
bool is_cause_elsewhere(const NamedFailure& failure) {
  return std::ranges::any_of(named_failures(), [&](const NamedFailure& other) {
    return other.sort == FailureSort::Cause && words_of(other) == words_of(failure);
  });
}

TEST(NamedFailuresProperty, AConsequenceIsNeverCleanAndNoCause) {
  for (const NamedFailure& failure : named_failures()) {
    if (failure.sort != FailureSort::Consequence || is_cause_elsewhere(failure)) continue;
    for (const std::string_view carrier : kCarriers) {
      const std::string log = line_of(carrier, said(failure));
      const Diagnosis diagnosis = diagnosis_of(log);
      EXPECT_NE(diagnosis.verdict.status, VerdictStatus::Clean) << log;
      for (const Finding& finding : diagnosis.findings) {
        EXPECT_FALSE(finding.id.starts_with("failure-named")) << log;
      }
    }
  }
}

TEST(NamedFailuresProperty, WhatIsHarmlessMakesNoFault) {
  for (const NamedFailure& failure : named_failures()) {
    if (failure.sort != FailureSort::Harmless) continue;
    for (const std::string_view carrier :
         {"ours.cc:91: state: {}\n", "[1,3]<stderr>:note: {}\n",
          "{{\"log\":\"ours.cc:91: state: {}\\n\",\"stream\":\"stderr\","
          "\"time\":\"2026-01-05T12:00:00.000000000Z\"}}\n"}) {
      const std::string log = line_of(carrier, said(failure));
      EXPECT_FALSE(tells_a_fault(diagnosis_of(log))) << log;
    }
  }
}

constexpr std::string_view kEnd = "training finished after 400 steps\n";
constexpr std::string_view kSteps =
    "step: 3  loss: 1.25\nstep: 4  loss: 1.24\nstep: 5  loss: 1.23\nstep: 6  loss: 1.22\n";

/// Behind such a line its process does nothing more: steps that follow are of others.
bool is_last_line(std::string_view carrier) {
  return carrier.find("Test CUDA failure") != carrier.npos || carrier.starts_with("terminate ");
}

TEST(NamedFailuresProperty, AJobThatWentOnOutlivedThem) {
  for (const NamedFailure& failure : named_failures()) {
    for (const std::string_view carrier : kCarriers) {
      for (const std::string_view behind : {kSteps, kEnd}) {
        if (behind == kSteps && is_last_line(carrier)) continue;
        const std::string log = line_of(carrier, said(failure)).append(behind);
        EXPECT_FALSE(tells_a_fault(diagnosis_of(log))) << log;
      }
    }
  }
}

TEST(NamedFailuresProperty, TheRuleOfARowAsksForIt) {
  for (const NamedFailure& failure : named_failures()) {
    if (failure.finding.empty()) continue;
    const auto rule = std::ranges::find(rulebook().rules, failure.finding, &Rule::id);
    ASSERT_NE(rule, rulebook().rules.end()) << failure.finding;
    for (const std::string_view carrier : kCarriers) {
      // A traceback's own line says more than a rule of last resort, and CUDA fails in no words of UCX.
      if (rule->last_resort && carrier.starts_with("Traceback")) continue;
      if (failure.list == "fabric" && carrier.find("CUDA") != carrier.npos) continue;
      const std::string log = line_of(carrier, said(failure));
      const Diagnosis diagnosis = diagnosis_of(log);
      // A rule may leave what is not of the job itself to a weaker one: network-unreachable-elsewhere.
      EXPECT_TRUE(std::ranges::any_of(
          diagnosis.findings,
          [&](const Finding& finding) { return finding.id.starts_with(failure.finding); }))
          << failure.finding << ": " << log;
    }
  }
}

}  // namespace
}  // namespace ncclog

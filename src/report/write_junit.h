// The findings for a CI server: JUnit XML, as Jenkins and GitLab read it.
//
//   <testsuite name="ncclog" tests="3" failures="1" errors="0" skipped="1" time="0">
//     <testcase classname="ncclog.inputs" name="all of the logs can be read" time="0"/>
//     <testcase classname="ncclog.cause" name="shm-no-space: Shared memory is full" time="0">
//       <failure type="error" message="/dev/shm on gpu-node-01 is full: …">why, fix, …</failure>
//       <system-out>logs/nccl.1607.txt:40 …</system-out>
//
// A test case is a finding; it fails at the severities that make the program fail. What could not
// be judged is skipped, a log of which a part is missing is an error. There is no standard; what
// this writes fits the schema in tests/support/junit.xsd.

#pragma once

#include <optional>
#include <string>

#include "report/report.h"

namespace ncclog {

/// The whole suite. Findings of severity `fail_from` or worse fail; nullopt: none does.
std::string write_junit(const Report& report, std::optional<Severity> fail_from);

}  // namespace ncclog

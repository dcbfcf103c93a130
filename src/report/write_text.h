// The report for a person: verdict first, then why, then what to do.
//
//   PROBLEM  /dev/shm on gpu-node-01 is full: NCCL could not create its segments.
//            certain · shm-no-space · ranks 0-3 on gpu-node-01
//
// One problem fits one screen. Findings that follow from another one are one line under it. Text
// from logs can steer no terminal: it passes through printable().

#pragma once

#include <string>

#include "report/report.h"
#include "report/text_layout.h"

namespace ncclog {

/// The verdict alone, in one line whatever the style's width.
std::string write_verdict(const Report& report, const TextStyle& style);

/// The whole report, with a newline at the end.
std::string write_text(const Report& report, const TextStyle& style);

}  // namespace ncclog

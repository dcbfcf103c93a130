// The report for an issue: Markdown as GitHub renders it, verdict first.
//
//   <!-- ncclog report -->
//   ## PROBLEM
//
//   **Rank 1 on node-a could not extend a segment: `/dev/shm` is full.**
//
//   | job | as its logs show it |
//   …
//
// It has at most kMaxMarkdown characters, whatever the job: each section has room for so much, and
// says what it leaves out. What only some readers want is collapsed. Text from logs is inert: it
// becomes no HTML, link, mention or reference (report/markdown_text.h).

#pragma once

#include <cstddef>
#include <string>

#include "report/report.h"

namespace ncclog {

/// Bytes, so never fewer than characters. GitHub refuses issues of more than 65,536 characters; the
/// rest is for what people write themselves.
inline constexpr size_t kMaxMarkdown = 60'000;

/// The whole report, with a newline at the end. Its first line, which nobody sees, keeps it from
/// being read as a log where it lies beside logs (input/input_format.h).
std::string write_markdown(const Report& report);

}  // namespace ncclog

// What launchers and collectors make of a line, written out: the other direction of
// log/line/prefix.h.
//
//   {"kubectl", "[pod/{pod}/pytorch] {line}"}   node07:41:42 [3] NCCL INFO x
//   → [pod/worker-3/pytorch] node07:41:42 [3] NCCL INFO x

#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ncclog::testing {

/// The process whose line is wrapped, as the launcher knows it.
struct Task {
  int number = 0;      ///< Its global rank; also the number of its pod and its node.
  int local_rank = 0;  ///< On its node.
  int64_t pid = 0;     ///< Of the worker that a launcher like Ray names.
};

/// One form of wrapping. In `text` stand {line}, {json} (the line escaped), {task}, {local}, {pid}.
struct Wrap {
  std::string_view name;
  std::string_view text;
  /// The form looks like ordinary output, so it counts only in front of what begins a record.
  bool only_records = false;
};

std::span<const Wrap> all_wraps();

/// `line` as `wrap` prints it for `task`.
std::string wrapped(const Wrap& wrap, const Task& task, std::string_view line);

}  // namespace ncclog::testing

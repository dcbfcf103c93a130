// Where did ranks stand in their programs when Python's faulthandler printed their stacks?
//
//   Timeout (0:10:00)!
//   Thread 0x00007f31c2a41740 (most recent call first):
//     File "/opt/lib/python3.12/site-packages/torch/cuda/__init__.py", line 1162 in synchronize
//     File "/srv/train.py", line 88 in step
//     File "/srv/train.py", line 120 in <module>
//         → job.python_stacks = yes, "rank 0 in step (train.py:88), within synchronize"
//
// Of each process the main thread counts, and in it the innermost frame of the user's own code.
// What a frame's line waits for is not printed: loss.item() waits for the GPU as torch's do.

#include <fmt/format.h>

#include <array>
#include <map>

#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "diagnose/outcome/stop_evidence.h"

namespace ncclog {
namespace {

struct Frame {
  Evidence line;
  std::string file;
  int number = 0;
  std::string function;

  bool is_library() const {
    constexpr std::string_view kPlaces[] = {"/site-packages/", "/dist-packages/", "/lib/python3",
                                            "<frozen ", "<string>"};
    return holds_one_of(file, kPlaces);
  }
};

/// The frames of a process's main thread, the innermost first.
struct MainStack {
  std::vector<Frame> frames;
  bool has_top = false;  ///< Nothing lacks between its heading and the first of them.
};

std::string words_of(const MainStack& stack) {
  const auto own = std::ranges::find_if_not(stack.frames, &Frame::is_library);
  const Frame& frame = own == stack.frames.end() ? stack.frames.front() : *own;
  const std::string place = fmt::format(
      "{}:{}", to_valid_utf8(frame.file.substr(frame.file.rfind('/') + 1)), frame.number);
  const std::string within = stack.has_top && &frame != &stack.frames.front()
                                 ? ", within " + to_valid_utf8(stack.frames.front().function)
                                 : "";
  return frame.function == "<module>"
             ? fmt::format("at {}{}", place, within)
             : fmt::format("in {} ({}){}", to_valid_utf8(frame.function), place, within);
}

/// By process. Equal lines are kept once, so the frames that the main thread, the last one, has in
/// common with others may lack, and later dumps show only what is new: what stands behind its
/// outermost frame, <module>, is of those.
std::map<int, MainStack> main_stacks(const Job& job) {
  std::map<int, std::vector<SourceRef>> headings;
  for_each_said<PythonStack>(
      job, [&](const auto& said) { headings[said.process].push_back(said.where()); });
  std::map<int, MainStack> stacks;
  if (headings.empty()) return stacks;
  std::map<int, std::vector<Frame>> frames;
  for_each_said<PythonStackFrame>(job, [&](const Said<PythonStackFrame>& said) {
    frames[said.process].push_back({evidence_of(said.record()), std::string(said.message.file),
                                    said.message.line, std::string(said.message.function)});
  });
  for (const auto& [process, starts] : headings) {
    const SourceRef start = std::ranges::max(starts);
    MainStack stack;
    for (Frame& frame : frames[process]) {
      const SourceRef at = frame.line.where;
      if (at.unit != start.unit || at < start) continue;
      const bool is_over = !stack.frames.empty() && stack.frames.back().function == "<module>" &&
                           at.line != stack.frames.back().line.where.line + 1;
      if (is_over) break;
      if (stack.frames.empty()) stack.has_top = at.line == start.line + 1;
      stack.frames.push_back(std::move(frame));
    }
    if (!stack.frames.empty() && stack.frames.back().function == "<module>") {
      stacks.emplace(process, std::move(stack));
    }
  }
  return stacks;
}

/// "ranks 0,2 at train.py:27, within synchronize; rank 1 in parse (train.py:19)".
std::string stacks_words(const Job& job, const std::map<int, MainStack>& stacks) {
  std::map<std::string, std::vector<int>> alike;
  for (const auto& [process, stack] : stacks) alike[words_of(stack)].push_back(process);
  std::vector<std::string> words;
  for (const auto& [where, processes] : alike) {
    words.push_back(fmt::format("{} {}", processes_phrase(job, processes), where));
  }
  return few_of(words, kMostNamed, "; ");
}

/// A sentence to put behind another.
FactValue python_stacks(const Job& job, const Instance&) {
  const auto stacks = main_stacks(job);
  if (stacks.empty()) return unknown();
  return yes(fmt::format(" Python's stacks show where they stood: {}.", stacks_words(job, stacks)));
}

/// A few stood in code of their own while all others waited in a function of PyTorch.
FactValue stack_apart(const Job& job, const Instance&) {
  const auto stacks = main_stacks(job);
  FactValue value = yes(stacks_words(job, stacks));
  size_t waiting = 0;
  for (const auto& [process, stack] : stacks) {
    const Frame& top = stack.frames.front();
    if (!stack.has_top) return unknown();
    const bool is_waiting = top.file.find("/torch/") != top.file.npos;
    waiting += is_waiting;
    if (!is_waiting && top.is_library()) return unknown();
    if (is_waiting) continue;
    value.evidence.push_back(top.line);
    blame(process, -1, value);
  }
  const size_t apart = stacks.size() - waiting;
  return apart == 0 || apart > waiting ? unknown() : value;
}

constexpr std::array kStackFacts = {
    // Where the main threads of processes stood when Python printed their stacks: a sentence.
    job_fact("job.python_stacks", python_stacks),
    // Few stood in code of their own when the others waited in PyTorch.
    comparing_fact("job.python_stack_apart", stack_apart),
};

}  // namespace

std::span<const Fact> stack_facts() { return kStackFacts; }

}  // namespace ncclog

#include "diagnose/outcome/main_stack.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>

#include "base/text.h"

namespace ncclog {
namespace {

struct FrameKind {
  std::string_view name;
  std::string_view words;  ///< {} is the function.
  Stands stands;
  bool is_weak = false;  ///< Any other row tells more.
};

constexpr FrameKind kFrameKinds[] = {
    {"collective", "waiting in {}", Stands::Waits},
    // Of one peer: in a pipeline some wait for others in every step.
    {"message", "waiting for a message in {}", Stands::WaitsGpu},
    {"store", "waiting for the store in {}", Stands::Waits},
    {"init", "initialising or ending NCCL in {}", Stands::Waits},
    {"window", "registering memory with NCCL in {}", Stands::Waits},
    {"kernel", "running NCCL's kernel {}", Stands::Waits},
    {"enqueue", "in NCCL's {}", Stands::Unclear},
    {"gpu", "waiting for the GPU in {}", Stands::WaitsGpu},
    {"launch", "launching work on the GPU in {}", Stands::Unclear},
    {"module", "loading code onto the GPU in {}", Stands::Unclear},
    {"memory", "taking or freeing GPU memory in {}", Stands::Unclear},
    {"driver_lock", "waiting for a lock of the driver in {}", Stands::Unclear},
    {"loader", "in the data loader", Stands::Works},
    {"checkpoint", "at work on a checkpoint in {}", Stands::Works},
    {"collecting", "collecting garbage", Stands::Works},
    {"gil", "waiting for Python's interpreter lock", Stands::Works},
    {"debugger", "in a debugger", Stands::Works},
    {"input", "waiting for input", Stands::Works},
    {"tokeniser", "in the tokeniser", Stands::Works},
    {"compiler", "compiling", Stands::Works},
    {"download", "downloading or uploading in {}", Stands::Works},
    {"child", "waiting for a program that it started", Stands::Works},
    {"file", "at work on files in {}", Stands::Works},
    {"lock", "waiting for a lock in {}", Stands::Works, true},
    {"sleep", "asleep", Stands::Works, true},
    {"helper", "a helper", Stands::Helps},
};

struct FrameClass {
  std::string_view kind;  ///< Of kFrameKinds, or "library".
  std::string_view function;
  std::string_view file;
};

constexpr FrameClass kFrameClasses[] = {
#include "diagnose/outcome/frame_classes.inc"
};

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool fits_function(std::string_view pattern, std::string_view function) {
  if (pattern.empty() || !pattern.ends_with('*')) return pattern.empty() || pattern == function;
  return function.starts_with(pattern.substr(0, pattern.size() - 1));
}

bool fits_file(std::string_view pattern, std::string_view file) {
  if (pattern.empty()) return true;
  if (pattern.ends_with('/')) {
    return file.starts_with(pattern) || file.find(std::string("/").append(pattern)) != file.npos;
  }
  if (pattern.find('.') == pattern.npos) return base_name(file).starts_with(pattern);
  return file == pattern ||
         (file.ends_with(pattern) && file[file.size() - pattern.size() - 1] == '/');
}

bool is_library(const StackFrame& frame) {
  constexpr std::string_view kPlaces[] = {"/site-packages/", "/dist-packages/", "/lib/python3",
                                          "<frozen ", "<string>"};
  const bool is_python = frame.file.ends_with(".py") || frame.file.starts_with('<');
  return frame.line < 0 || !is_python || holds_one_of(frame.file, kPlaces) ||
         std::ranges::any_of(kFrameClasses, [&](const FrameClass& row) {
           return row.kind == "library" && fits_file(row.file, frame.file);
         });
}

const FrameKind* frame_kind(const StackFrame& frame) {
  const auto row = std::ranges::find_if(kFrameClasses, [&](const FrameClass& each) {
    return each.kind != "library" && fits_function(each.function, frame.function) &&
           fits_file(each.file, frame.file);
  });
  if (row == std::end(kFrameClasses)) return nullptr;
  const auto kind = std::ranges::find(kFrameKinds, row->kind, &FrameKind::name);
  return kind == std::end(kFrameKinds) ? nullptr : kind;
}

}  // namespace

std::string StackFrame::place() const {
  const std::string name = to_valid_utf8(base_name(file));
  return line < 0 ? name : fmt::format("{}:{}", name, line);
}

std::string StackFrame::words() const {
  if (function == "<module>") return "at " + place();
  const std::string in = "in " + to_valid_utf8(function);
  return file.empty() ? in : fmt::format("{} ({})", in, place());
}

namespace {

/// Ranks stand in the same few functions, so the rows are asked once for each.
class StackJudge {
 public:
  void judge(MainStack& stack) {
    const FrameKind* telling = nullptr;
    size_t own = stack.frames.size();
    for (size_t i = 0; i < stack.frames.size(); ++i) {
      const Known& known = ask(stack.frames[i]);
      if (own == stack.frames.size() && !known.is_library) own = i;
      if (known.kind == nullptr) continue;
      const bool tells_more = telling == nullptr || known.kind->stands == Stands::Helps ||
                              (telling->is_weak && !known.kind->is_weak);
      if (!tells_more) continue;
      telling = known.kind;
      stack.telling_place = i;
    }
    stack.own_place = own == stack.frames.size() ? stack.telling_place : own;
    stack.is_in_library = own != 0;
    if (telling == nullptr && !stack.prompt.empty()) {
      stack.stands = Stands::Works;
      stack.telling_place = stack.own_place;
      stack.words = fmt::format("waiting for an answer to \"{}\" ({})", to_valid_utf8(stack.prompt),
                                stack.own().place());
      return;
    }
    if (telling == nullptr) {
      stack.telling_place = stack.own_place;
      stack.words = stack.own().words();
      return;
    }
    stack.stands = telling->stands;
    const std::string& function = stack.frames[stack.telling_place].function;
    stack.words = fmt::format(fmt::runtime(telling->words),
                              to_valid_utf8(std::string_view(function).substr(0, kMostWordBytes)));
    if (stack.own().line >= 0) stack.words += " (" + stack.own().place() + ")";
  }

 private:
  struct Known {
    const FrameKind* kind = nullptr;
    bool is_library = false;
  };

  const Known& ask(const StackFrame& frame) {
    const auto [known, is_new] = known_.try_emplace({frame.function, frame.file, frame.line < 0});
    if (is_new) known->second = {frame_kind(frame), is_library(frame)};
    return known->second;
  }

  static constexpr size_t kMostWordBytes = 60;  ///< Of a function: those of C++ may be pages.

  std::map<std::tuple<std::string, std::string, bool>, Known> known_;
};

}  // namespace

void judge_stacks(const std::vector<MainStack*>& stacks) {
  StackJudge judge;
  for (MainStack* stack : stacks) judge.judge(*stack);
}

}  // namespace ncclog

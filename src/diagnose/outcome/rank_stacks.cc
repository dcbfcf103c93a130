#include "diagnose/outcome/rank_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "log/line/prefix.h"
#include "log/stack_lines.h"

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

/// Fills in all that follows from the frames and the prompt of these.
void judge_stacks(const std::vector<MainStack*>& stacks) {
  StackJudge judge;
  for (MainStack* stack : stacks) judge.judge(*stack);
}

constexpr size_t kMostFrames =
    128;  ///< As many frames are kept of a stack; faulthandler prints 100.
constexpr size_t kMostStacks = 16;  ///< Of a process: the last ones.

/// Who is meant by the lines that follow, as a voice says it.
struct Section {
  int64_t pid = -1;
  int rank = -1;
  std::string title;

  auto operator<=>(const Section&) const = default;
};

/// "PP2 TP1" of "sglang::scheduler_PP2_TP1", "TP3" of "VLLM::Worker_TP3".
std::string title_of(std::string_view process) {
  constexpr std::string_view kAxes[] = {"DP", "PP", "TP", "EP", "CP"};
  std::vector<std::string> words;
  for (const std::string_view word : split(process.substr(0, 256), '_')) {
    const std::string_view digits = word.substr(std::min<size_t>(2, word.size()));
    if (starts_with_one_of(word, kAxes) && parse_int(digits)) words.emplace_back(word);
  }
  return join(words, " ");
}

/// Reads the stacks of one voice.
class VoiceReader {
 public:
  /// By who is meant, in order of their first line.
  std::vector<std::pair<Section, RankStacks>> found;

  void add(const Record& record) {
    const std::string text = record.text();
    const StackLine line = parse_stack_line(text, parse_prefix(text).length);
    using Kind = StackLine::Kind;
    if (line.kind == Kind::None || line.kind == Kind::Analysis) return;
    if (line.kind == Kind::Frame) return add_frame(line, {record.where, text});
    if (line.kind == Kind::Thread && line.is_main && is_main_ && frames_.empty()) {
      // Heading under heading: people group those that stand alike.
      return owners_.push_back(owner_of(line));
    }
    finish();
    was_headed_ |= line.kind == Kind::Thread;
    if (line.kind == Kind::Thread) {
      if (asks(line.text)) prompt_ = line.text.substr(0, kMostPromptBytes);
      is_open_ = true;
      is_native_ = line.is_native;
      is_main_ = line.is_main || (line.number >= 0 && line.number == section_.pid);
      owners_ = {owner_of(line)};
    } else if (line.kind == Kind::Answer) {
      if (section_.rank >= 0) stacks_of(section_).refused = Evidence{record.where, text};
    } else if (line.kind == Kind::Rank) {
      section_ = {.rank = std::in_range<int>(line.number) ? static_cast<int>(line.number) : -1};
    } else if (line.number != section_.pid || !line.text.empty()) {
      section_ = {.pid = line.number, .rank = section_.rank, .title = title_of(line.text)};
    }
  }

  /// Ends the thread that is open.
  void finish() {
    const bool is_cut = is_headless_ && frames_.size() < 2;
    if (!frames_.empty() && !is_cut && (is_main_ || runs_program())) {
      // Later stacks have no prompt in front, and stand where the first one did.
      if (!prompt_.empty() && prompted_.empty()) prompted_ = frames_;
      const bool is_prompted =
          !prompted_.empty() && frames_.front().is_same_place(prompted_.front());
      for (const Section& owner : owners_) {
        stacks_of(owner).refused.reset();
        auto& stacks = stacks_of(owner).stacks;
        if (stacks.size() == kMostStacks) stacks.erase(stacks.begin());
        stacks.push_back({.frames = frames_, .prompt = is_prompted ? prompt_ : std::string()});
        stacks_of(owner).is_pasted |= is_headless_;
      }
      main_owners_ = owners_;
    } else if (!frames_.empty() && !is_native_) {
      go_on_with_backward();
    }
    frames_.clear();
    owners_.clear();
    is_open_ = is_main_ = is_headless_ = false;
  }

 private:
  void add_frame(const StackLine& line, Evidence shown) {
    if (is_headless_ && shown.where.line != frames_.back().shown.where.line + 1) finish();
    // People paste py-spy's frames alone, of the main thread as a rule.
    const bool is_py_spy = line.file.ends_with(".py") && trim(shown.text).ends_with(')') &&
                           line.function.find(' ') == line.function.npos;
    if (!was_headed_ && !is_open_ && is_py_spy) {
      is_open_ = is_main_ = is_headless_ = true;
      owners_ = {section_};
    }
    // PyTorch numbers the frames of a failed collective, which may stand behind a stack of Python's.
    if (!is_open_ || line.is_native != is_native_) return;
    if (line.function == "<no Python frame>") return;
    // The outermost one says whether the thread is the main one.
    if (frames_.size() == kMostFrames) frames_.pop_back();
    frames_.push_back(
        {std::string(line.function), std::string(line.file), line.line, std::move(shown)});
  }

  /// Backward calls its hooks on threads of autograd, which nothing of threading began: where the
  /// main thread waits for it, what it does stands there.
  void go_on_with_backward() {
    const auto is_of = [](std::string_view file) {
      return [=](const StackFrame& frame) { return frame.file.find(file) != std::string::npos; };
    };
    if (std::ranges::any_of(frames_, is_of("threading.py"))) return;
    for (const Section& owner : main_owners_) {
      auto& stacks = stacks_of(owner).stacks;
      if (stacks.empty() || !is_of("torch/autograd/")(stacks.back().frames.front())) continue;
      std::vector<StackFrame>& waiting = stacks.back().frames;
      waiting.insert(waiting.begin(), frames_.begin(), frames_.end());
    }
  }

  static constexpr size_t kMostPromptBytes = 60;

  /// True of a question to a person, not of a progress bar.
  static bool asks(std::string_view text) {
    constexpr std::string_view kAsking[] = {"?", "[y/", "[Y/", "(y/", "(Pdb)", "assword:", ">>>"};
    return holds_one_of(text, kAsking);
  }

  /// faulthandler does not say which thread is the main one: it alone runs the program's module, and
  /// no function of threading.
  bool runs_program() const {
    const auto is_of = [](std::string_view function, std::string_view file) {
      return [=](const StackFrame& frame) {
        return frame.function == function && frame.file.ends_with(file);
      };
    };
    return std::ranges::any_of(frames_, is_of("<module>", "")) &&
           std::ranges::none_of(frames_, is_of("_bootstrap", "threading.py"));
  }

  /// A main thread's id is that of its process.
  Section owner_of(const StackLine& thread) const {
    Section owner = section_;
    if (owner.pid < 0 && owner.rank < 0 && thread.is_main) owner.pid = thread.number;
    return owner;
  }

  RankStacks& stacks_of(const Section& section) {
    const auto known = std::ranges::find(found, section, &std::pair<Section, RankStacks>::first);
    if (known != found.end()) return known->second;
    return found.emplace_back(section, RankStacks{}).second;
  }

  Section section_;
  std::vector<Section> owners_;       ///< Of the open thread.
  std::vector<Section> main_owners_;  ///< Of the last main thread.
  std::vector<StackFrame> frames_;
  std::string prompt_;
  std::vector<StackFrame> prompted_;  ///< The first stack behind it.
  bool is_open_ = false;
  bool is_native_ = false;
  bool is_main_ = false;
  bool was_headed_ = false;   ///< A heading of a thread came.
  bool is_headless_ = false;  ///< The open thread has none.
};

/// Adds what was asked in another way, or is told in another file.
void append_stacks(RankStacks& same, RankStacks&& more) {
  if (same.process < 0) same.process = more.process;
  std::ranges::move(more.stacks, std::back_inserter(same.stacks));
  std::ranges::stable_sort(same.stacks, {},
                           [](const MainStack& stack) { return stack.frames.front().shown.where; });
  if (!same.stacks.empty()) same.refused.reset();
}

/// Gives the stacks of a voice their owners: the voice itself, or whom its lines name. `known` is
/// the place of each process in `all`.
void name_owners(const Job& job, int voice, VoiceReader& read, std::map<int, size_t>& known,
                 std::vector<RankStacks>& all) {
  const Process& process = nth_process(job, voice);
  const bool is_one = read.found.size() == 1;
  for (auto& [section, stacks] : read.found) {
    stacks.pid = section.pid;
    stacks.title = section.title;
    stacks.rank = section.rank;
    const bool is_named = is_one && (process.rank >= 0 || process.pid >= 0);
    if (section.rank >= 0) {
      stacks.process = process_of_rank(job, section.rank);
    } else if (section.pid < 0 || is_named || section.pid == process.pid) {
      stacks.process = voice;
    } else {
      stacks.process = process_of_pid(job, section.pid);
      if (stacks.process < 0 && is_one) stacks.process = voice;
    }
    if (stacks.process < 0) {
      all.push_back(std::move(stacks));
      continue;
    }
    const Process& owner = nth_process(job, stacks.process);
    if (stacks.rank < 0) stacks.rank = owner.rank;
    if (stacks.pid < 0) stacks.pid = owner.pid;
    const auto [place, is_new] = known.try_emplace(stacks.process, all.size());
    if (is_new) {
      all.push_back(std::move(stacks));
    } else {
      append_stacks(all[place->second], std::move(stacks));
    }
  }
}

/// Where titles name no other axis, the place in tensor parallelism is the rank; the numbers of
/// torchrun's "[default3]:" are ranks where one agent's stream is all there is and starts at 0.
void name_ranks(const Job& job, std::vector<RankStacks>& all) {
  const bool is_known =
      std::ranges::any_of(job.processes, [](const Process& process) { return process.rank >= 0; });
  if (is_known || std::ranges::any_of(all, [](const auto& one) { return one.rank >= 0; })) return;
  std::vector<int> numbers;
  std::set<int64_t> inputs;
  for (const RankStacks& one : all) {
    std::string_view title = one.title;
    std::optional<int64_t> number;
    if (title.starts_with("TP") && title.find(' ') == title.npos) {
      number = parse_int(title.substr(2));
    } else if (one.process >= 0 && !nth_process(job, one.process).logs.empty()) {
      const Speaker& speaker = job.logs[nth_process(job, one.process).logs.front()].speaker;
      inputs.insert(speaker.input);
      if (speaker.local_rank >= 0) number = speaker.local_rank;
    }
    if (!number || !std::in_range<int>(*number)) return;
    numbers.push_back(static_cast<int>(*number));
  }
  const std::set<int> distinct(numbers.begin(), numbers.end());
  const bool is_whole = distinct.size() == numbers.size() && distinct.contains(0) &&
                        std::cmp_equal(*distinct.rbegin() + 1, numbers.size());
  if (numbers.size() < 2 || !is_whole || inputs.size() > 1) return;
  for (size_t i = 0; i < all.size(); ++i) all[i].rank = numbers[i];
}

std::vector<RankStacks> find_rank_stacks(const Job& job) {
  std::vector<RankStacks> found;
  std::map<int, size_t> known;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    for (const size_t log : job.processes[p].logs) {
      if (!job.logs[log].stack_lines) continue;
      VoiceReader read;
      for (const OwnedRecord& line : *job.logs[log].stack_lines) read.add(line);
      read.finish();
      name_owners(job, static_cast<int>(p), read, known, found);
    }
  }
  std::vector<MainStack*> stacks;
  for (RankStacks& one : found) {
    for (MainStack& stack : one.stacks) stacks.push_back(&stack);
  }
  judge_stacks(stacks);
  for (RankStacks& one : found) {
    std::erase_if(one.stacks, [](const auto& stack) { return stack.stands == Stands::Helps; });
  }
  std::erase_if(found, [](const auto& one) { return one.stacks.empty() && !one.refused; });
  name_ranks(job, found);
  std::ranges::stable_sort(found, {}, [](const RankStacks& one) {
    return std::tuple(one.rank < 0, one.rank, std::string_view(one.title), one.pid);
  });
  std::vector<RankStacks> all;
  for (RankStacks& one : found) {
    const bool is_same = !all.empty() && one.rank >= 0 && all.back().rank == one.rank;
    if (is_same) {
      append_stacks(all.back(), std::move(one));
    } else {
      all.push_back(std::move(one));
    }
  }
  // Beside the schedulers of an engine its servers and controllers are no ranks.
  const auto is_titled = [](const RankStacks& one) { return !one.title.empty(); };
  if (std::ranges::count_if(all, is_titled) > 1) {
    std::erase_if(all, [&](const RankStacks& one) { return one.rank < 0 && !is_titled(one); });
  }
  return all;
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

const std::vector<RankStacks>& rank_stacks(const Job& job) {
  return job.answers.of<&find_rank_stacks>(job);
}

std::string stacks_phrase(const std::vector<const RankStacks*>& who, size_t most) {
  std::vector<int> ranks;
  std::vector<std::string> titles;
  std::vector<std::string> pids;
  int64_t nameless = 0;
  for (const RankStacks* one : who) {
    if (one->rank >= 0) {
      ranks.push_back(one->rank);
    } else if (!one->title.empty()) {
      titles.push_back(one->title);
    } else if (one->pid >= 0) {
      pids.push_back(std::to_string(one->pid));
    } else {
      ++nameless;
    }
  }
  if (pids.size() > most) nameless += std::ssize(pids);
  std::vector<std::string> words;
  if (!ranks.empty()) words.push_back(ranks_phrase(ranks));
  if (!titles.empty()) words.push_back(few_of(titles, most, ", "));
  if (!pids.empty() && pids.size() <= most) {
    words.push_back((pids.size() == 1 ? "pid " : "pids ") + join(pids, ","));
  }
  if (nameless > 0) words.push_back(plural(nameless, "process"));
  return join(words, ", ");
}

}  // namespace ncclog

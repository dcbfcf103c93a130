#include "diagnose/outcome/rank_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/majority.h"
#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "diagnose/outcome/stop_evidence.h"
#include "log/line/prefix.h"
#include "log/stack_lines.h"

namespace ncclog {
namespace {

// What frames tell.

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

/// Says what stacks show. Ranks stand in the same few functions, so the rows are asked once for each.
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

// From lines to stacks.

namespace {

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
    if (line.kind == Kind::None) return;
    if (line.kind == Kind::Frame) return add_frame(line, {record.where, text});
    if (line.kind == Kind::Thread && line.is_main && is_main_ && frames_.empty()) {
      // Heading under heading: people group those that stand alike.
      return owners_.push_back(owner_of(line));
    }
    finish();
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
    if (!frames_.empty() && (is_main_ || runs_program())) {
      // Later stacks have no prompt in front, and stand where the first one did.
      if (!prompt_.empty() && prompted_.empty()) prompted_ = frames_;
      const bool is_prompted =
          !prompted_.empty() && frames_.front().is_same_place(prompted_.front());
      for (const Section& owner : owners_) {
        stacks_of(owner).refused.reset();
        auto& stacks = stacks_of(owner).stacks;
        if (stacks.size() == kMostStacks) stacks.erase(stacks.begin());
        stacks.push_back({.frames = frames_, .prompt = is_prompted ? prompt_ : std::string()});
      }
    }
    frames_.clear();
    owners_.clear();
    is_open_ = is_main_ = false;
  }

 private:
  void add_frame(const StackLine& line, Evidence shown) {
    // PyTorch numbers the frames of a failed collective, which may stand behind a stack of Python's.
    if (!is_open_ || line.is_native != is_native_) return;
    if (line.function == "<no Python frame>") return;
    // The outermost one says whether the thread is the main one.
    if (frames_.size() == kMostFrames) frames_.pop_back();
    frames_.push_back(
        {std::string(line.function), std::string(line.file), line.line, std::move(shown)});
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
  std::vector<Section> owners_;  ///< Of the open thread.
  std::vector<StackFrame> frames_;
  std::string prompt_;
  std::vector<StackFrame> prompted_;  ///< The first stack behind it.
  bool is_open_ = false;
  bool is_native_ = false;
  bool is_main_ = false;
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
  StackJudge judge;
  for (RankStacks& one : found) {
    for (MainStack& stack : one.stacks) judge.judge(stack);
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
    if (is_same) append_stacks(all.back(), std::move(one));
    if (!is_same) all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

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

// What they show together.

namespace {

using Members = std::vector<const RankStacks*>;

/// What it did last.
std::string last_words(const RankStacks& one) {
  return one.refused ? "not answering" : one.stacks.back().words;
}

/// By what they do last, the odd ones first.
std::vector<std::pair<std::string, Members>> by_place(const Job& job) {
  std::map<std::string, Members> alike;
  for (const RankStacks& one : rank_stacks(job)) {
    alike[last_words(one)].push_back(&one);
  }
  std::vector<std::pair<std::string, Members>> places(alike.begin(), alike.end());
  std::ranges::stable_sort(places, {}, [](const auto& place) { return place.second.size(); });
  return places;
}

std::string places_words(const std::vector<std::pair<std::string, Members>>& places) {
  std::vector<std::string> words;
  for (const auto& [place, who] : places) {
    words.push_back(fmt::format("{} {}", stacks_phrase(who), place));
  }
  return few_of(words, kMostNamed, "; ");
}

/// A sentence to put behind another.
FactValue stacks_told(const Job& job, const Instance&) {
  const auto places = by_place(job);
  if (places.empty()) return unknown();
  return yes(fmt::format(" The stacks show where they stood: {}.", places_words(places)));
}

/// Steps were printed behind the last stack of an input: the job went on.
bool steps_went_on(const Job& job) {
  std::map<uint32_t, SourceRef> last;
  for (const RankStacks& one : rank_stacks(job)) {
    if (one.stacks.empty()) continue;
    const SourceRef where = one.stacks.back().own().shown.where;
    const JobUnit* const unit = unit_of(job, where);
    if (unit != nullptr) last[unit->input] = std::max(last[unit->input], where);
  }
  return std::ranges::any_of(job.clocks, [&](const InputClock& clock) {
    const auto stack = last.find(clock.input);
    return stack != last.end() && clock.last.back() > stack->second;
  });
}

/// Its last two stacks have the same line of its own.
bool kept_line(const RankStacks& one) {
  return one.stacks.size() >= 2 &&
         one.stacks.back().own().is_same_place(one.stacks[one.stacks.size() - 2].own());
}

/// Likewise, or the same function, which is not that of `place`: long work goes from line to line.
bool stayed_away(const RankStacks& one, const StackFrame& place) {
  if (one.stacks.size() < 2 || kept_line(one)) return one.stacks.size() >= 2;
  const StackFrame& last = one.stacks.back().own();
  const StackFrame& before = one.stacks[one.stacks.size() - 2].own();
  return last.function == before.function && last.file == before.file &&
         last.function != "<module>" && last.function != place.function;
}

bool waits(const RankStacks& one) {
  if (one.refused) return false;
  const Stands stands = one.stacks.back().stands;
  return stands == Stands::Waits || stands == Stands::WaitsGpu;
}

/// Some who have not come, and the others, who wait.
struct Apart {
  Members odd;
  Members others;

  bool is_sound() const { return !odd.empty() && are_few(odd.size(), others.size()); }
};

/// The others wait in calls that need everybody. Who waits for the GPU may do so at any moment of a
/// job that runs: that counts where it lasts, or where the job is known to have stopped.
std::optional<Apart> apart_from_call(const Job& job) {
  Apart apart;
  bool waits_for_ranks = true;
  bool is_told = true;
  for (const RankStacks& one : rank_stacks(job)) {
    (waits(one) ? apart.others : apart.odd).push_back(&one);
    if (one.refused) continue;
    const MainStack& last = one.stacks.back();
    waits_for_ranks &= last.stands != Stands::WaitsGpu;
    is_told &= last.stands != Stands::Unclear;
  }
  if (!apart.is_sound()) return std::nullopt;
  // One against one, at a line of its own: either may be where most are.
  waits_for_ranks &= is_told || apart.others.size() > 1;
  const StackFrame& place = apart.others.front()->stacks.back().own();
  const bool has_lasted =
      std::ranges::all_of(apart.others, [](const auto* one) { return kept_line(*one); }) &&
      std::ranges::all_of(apart.odd, [&](const auto* one) { return stayed_away(*one, place); });
  const bool is_over = any_said<PythonStackTimer>(job) || stop_evidence(job).has_value();
  return waits_for_ranks || has_lasted || is_over ? std::optional(apart) : std::nullopt;
}

/// All others stood still at one line of their own, which may wait for the GPU: in two stacks, or
/// when the job is known to have stood still and the odd ones did what needs nobody.
std::optional<Apart> apart_from_line(const Job& job) {
  std::map<std::tuple<std::string_view, std::string_view, int>, Members> places;
  const std::vector<RankStacks>& all = rank_stacks(job);
  for (const RankStacks& one : all) {
    if (one.refused) return std::nullopt;
    const StackFrame& own = one.stacks.back().own();
    places[{own.file, own.function, own.line}].push_back(&one);
  }
  const Members& others = std::ranges::max_element(places, {}, [](const auto& place) {
                            return place.second.size();
                          })->second;
  if (others.size() < 2) return std::nullopt;
  const StackFrame& place = others.front()->stacks.back().own();
  Apart apart{.others = others};
  const bool is_over = stood_still(job);
  for (const RankStacks& one : all) {
    const MainStack& last = one.stacks.back();
    const bool works = last.stands == Stands::Works;
    if (last.own().is_same_place(place)) {
      if (works || !(is_over || kept_line(one))) return std::nullopt;
      continue;
    }
    if (last.stands == Stands::Waits) return std::nullopt;
    if (!(works && is_over) && !stayed_away(one, place)) return std::nullopt;
    apart.odd.push_back(&one);
  }
  return apart.is_sound() ? std::optional(apart) : std::nullopt;
}

/// "rank 2 was in the data loader (train.py:13) while ranks 0,1,3 were waiting in all_reduce
/// (train.py:88)".
FactValue rank_stuck(const Job& job, const Instance&) {
  // In a library that no row knows somebody may wait as well as work: an idle server does.
  const auto is_unclear = [](const RankStacks& one) {
    if (one.refused) return false;
    const MainStack& last = one.stacks.back();
    return last.stands == Stands::Unclear && last.is_in_library;
  };
  const std::vector<RankStacks>& all = rank_stacks(job);
  if (all.size() < 2 || steps_went_on(job) || std::ranges::any_of(all, is_unclear)) {
    return unknown();
  }
  auto apart = apart_from_call(job);
  if (!apart) apart = apart_from_line(job);
  if (!apart) return unknown();
  FactValue value = yes("");
  std::map<std::string, Members> odd;
  for (const RankStacks* one : apart->odd) {
    odd[last_words(*one)].push_back(one);
    if (one->refused) {
      value.evidence.push_back(*one->refused);
    } else {
      const MainStack& last = one->stacks.back();
      value.evidence.push_back(last.frames[last.telling_place].shown);
      if (last.telling_place != last.own_place) value.evidence.push_back(last.own().shown);
    }
    const bool has_rank = one->process >= 0 && nth_process(job, one->process).rank >= 0;
    blame(has_rank || one->rank < 0 ? one->process : -1, one->rank, value);
  }
  std::vector<std::string> words;
  for (const auto& [place, who] : odd) {
    words.push_back(
        fmt::format("{} {} {}", stacks_phrase(who), who.size() == 1 ? "was" : "were", place));
  }
  std::map<std::string, size_t> others;
  for (const RankStacks* one : apart->others) ++others[last_words(*one)];
  const auto most =
      std::ranges::max_element(others, {}, [](const auto& other) { return other.second; });
  value.what = fmt::format("{} while {} {} {}{}", few_of(words, kMostNamed, ", "),
                           stacks_phrase(apart->others), apart->others.size() == 1 ? "was" : "were",
                           most->first, others.size() > 1 ? " and elsewhere" : "");
  return value;
}

constexpr std::array kStackFacts = {
    // Where the main threads stood as their stacks show it: a sentence.
    job_fact("job.rank_stacks", stacks_told),
    // Few had not come to where all others waited.
    comparing_fact("job.rank_stuck_by_stacks", rank_stuck),
};

}  // namespace

std::string stacks_summary(const Job& job) {
  const auto places = by_place(job);
  if (places.empty()) return {};
  Members all;
  for (const RankStacks& one : rank_stacks(job)) all.push_back(&one);
  if (all.size() == 1)
    return fmt::format("the stack of {} alone accuses nobody", stacks_phrase(all));
  if (places.size() == 1) {
    return fmt::format("the stacks of {} are alike and accuse nobody: {}", stacks_phrase(all),
                       places.front().first);
  }
  return fmt::format("the stacks of {} differ, as those of a job at work do, and accuse nobody",
                     stacks_phrase(all));
}

std::span<const Fact> stack_facts() { return kStackFacts; }

}  // namespace ncclog

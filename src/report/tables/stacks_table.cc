// show stacks: where did the ranks stand? Their stacks as one tree, the branches of the fewest first.
//
//   ranks    frame                        what                            at
//   2        at train.py:25                                               logs/rank2.log:31
//   2        in train_epoch (train.py:13)                                 logs/rank2.log:30
//   2        in get (queue.py:180)        in the data loader (train.py:13)
//   0,1,3    at train.py:25

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "diagnose/outcome/rank_stacks.h"
#include "report/tables/tables.h"

namespace ncclog {
namespace {

using Members = std::vector<const RankStacks*>;

/// Stacks that are alike in their outermost frames.
struct Branch {
  Members who;
  size_t depth = 0;   ///< So many frames are alike: the next one is behind them.
  size_t indent = 0;  ///< Branches above.
};

/// The frame behind the outermost `depth` ones; nullptr: there is none.
const StackFrame* frame_at(const RankStacks& one, size_t depth) {
  const auto& frames = one.stacks.back().frames;
  return depth < frames.size() ? &frames[frames.size() - 1 - depth] : nullptr;
}

/// The branches behind the frames that are alike, those of the fewest ranks first.
std::vector<Branch> branches_of(const Branch& above) {
  std::map<std::tuple<std::string_view, std::string_view, int>, Branch> next;
  for (const RankStacks* one : above.who) {
    const StackFrame* const frame = frame_at(*one, above.depth);
    if (frame == nullptr) continue;
    next[{frame->file, frame->function, frame->line}].who.push_back(one);
  }
  std::vector<Branch> branches;
  const bool is_split = next.size() > 1;
  for (auto& [place, branch] : next) {
    branch.depth = above.depth + 1;
    branch.indent = above.indent + (is_split ? 1 : 0);
    branches.push_back(std::move(branch));
  }
  std::ranges::stable_sort(branches, {}, [](const Branch& branch) { return branch.who.size(); });
  return branches;
}

std::string ranks_of(const Members& who) {
  std::string words = stacks_phrase(who, SIZE_MAX);
  for (const std::string_view word : {"ranks ", "rank "}) {
    if (words.starts_with(word)) return words.substr(word.size());
  }
  return words;
}

}  // namespace

Table stacks_table(const Job& job) {
  Table table = table_of("stacks");
  Branch root;
  for (const RankStacks& one : rank_stacks(job)) {
    if (one.refused) {
      table.add(ranks_of({&one}), "", "not answering", place_name(job, one.refused->where));
    } else {
      root.who.push_back(&one);
    }
  }
  std::vector<Branch> open = branches_of(root);
  std::ranges::reverse(open);
  while (!open.empty()) {
    const Branch branch = std::move(open.back());
    open.pop_back();
    const StackFrame& frame = *frame_at(*branch.who.front(), branch.depth - 1);
    const auto end = std::ranges::find_if(
        branch.who, [&](const RankStacks* one) { return frame_at(*one, branch.depth) == nullptr; });
    table.add(ranks_of(branch.who), std::string(2 * branch.indent, ' ') + frame.words(),
              end == branch.who.end() ? "" : (*end)->stacks.back().words,
              place_name(job, frame.shown.where));
    std::vector<Branch> next = branches_of(branch);
    std::ranges::reverse(next);
    std::ranges::move(next, std::back_inserter(open));
  }
  if (table.rows.empty()) {
    table.notes.push_back(
        "No stack of a main thread was found; py-spy dump --pid PID prints one, faulthandler "
        "others.");
  }
  return table;
}

}  // namespace ncclog

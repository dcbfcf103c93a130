#include "model/call_tape.h"

#include <algorithm>
#include <limits>

namespace ncclog {
namespace {

/// Calls that must agree before a distance is taken for a repetition: shorter ones are found inside
/// every iteration and break at its end.
constexpr uint64_t kContext = 4;
/// Earlier calls that are looked at for one.
constexpr int kMaxSteps = 64;
/// Of a later tape's entry: nobody has asked yet for its number here.
constexpr int kUnasked = -2;

CallTape::Entry entry_of(int segment, const CallSignature& call) {
  CallTape::Entry entry{segment, call};
  if (is_point_to_point(call.op)) entry.call.count = -1;
  return entry;
}

}  // namespace

/// Enters the next call into the window.
void CallTape::remember(uint16_t id) {
  if (kept_ == recent_.size() && kept_ < kWindow) {
    recent_.resize(std::max<size_t>(16, 2 * recent_.size()));
    back_.resize(recent_.size());
  }
  recent_[kept_ & (recent_.size() - 1)] = id;
  ++kept_;
}

/// Notes for the calls in the window how far back their likes stand: only where a repetition ends
/// does anybody ask.
void CallTape::link() {
  const size_t mask = recent_.size() - 1;
  linked_ = std::max(linked_, kept_ - std::min<uint64_t>(kept_, kWindow));
  for (; linked_ < kept_; ++linked_) {
    uint64_t& last = last_[recent_[linked_ & mask]];
    const uint64_t apart = last == 0 ? kWindow : linked_ + 1 - last;
    back_[linked_ & mask] = static_cast<uint16_t>(apart < kWindow ? apart : 0);
    last = linked_ + 1;
  }
}

/// Appends a call; false if there is no room for it.
bool CallTape::append(uint16_t id) {
  if (!runs_.empty()) {
    Run& run = runs_.back();
    if (run.distance > 0 && recent(run.distance) == id &&
        run.copied < std::numeric_limits<uint32_t>::max()) {
      ++run.copied;
      remember(id);
      return true;
    }
  }
  if (runs_.size() == kMaxRuns + kSpareRuns) return false;
  remember(id);
  link();
  runs_.push_back({id, matching_distance(), 0});
  return true;
}

void CallTape::add(int segment, const CallSignature& call) {
  if (is_full()) {
    ++total_;
    return;
  }
  const Entry entry = entry_of(segment, call);
  const uint16_t distance = runs_.empty() ? 0 : runs_.back().distance;
  const bool foreseen = distance > 0 && entries_[recent(distance)] == entry;
  const int id = foreseen ? recent(distance) : find_or_add(entry);
  if (id >= 0) append(static_cast<uint16_t>(id));
  ++total_;
}

void CallTape::add_unforeseen(int id) {
  if (!is_full() && id >= 0) append(static_cast<uint16_t>(id));
  ++total_;
}

int CallTape::id_of(int segment, const CallSignature& call) const {
  if (index_.empty()) return -1;
  return index_[slot_of(entry_of(segment, call))] - 1;
}

void CallTape::merge(const CallTape& later, const std::vector<int>& segments) {
  const uint64_t sum = total_ + later.total_;
  if (!is_full()) {
    std::vector<int> ids(later.entries_.size(), kUnasked);
    for (const Run& run : later.runs_) {
      int& id = ids[run.id];
      if (id == kUnasked) {
        Entry entry = later.entries_[run.id];
        if (entry.segment >= 0) entry.segment = segments[static_cast<size_t>(entry.segment)];
        id = find_or_add(entry);
      }
      if (id < 0 || !append(static_cast<uint16_t>(id)) || !repeat(run.distance, run.copied)) break;
    }
  }
  total_ = sum;
}

/// Appends `count` calls, each the same as the one `distance` before it; false if there is no room.
bool CallTape::repeat(uint16_t distance, uint32_t count) {
  for (; count > 0; --count) {
    Run& run = runs_.back();
    // What this tape foresees is what comes, to the end.
    if (run.distance == distance && run.copied <= std::numeric_limits<uint32_t>::max() - count) {
      run.copied += count;
      remember_repeats(distance, count);
      return true;
    }
    if (!append(recent(distance))) return false;
  }
  return true;
}

/// Enters so many repeated calls into the window; only the last of them stay in it.
void CallTape::remember_repeats(uint16_t distance, uint64_t count) {
  // The first ones let the window grow to its full size, the last ones fill it.
  for (; count > 0 && kept_ < kWindow; --count) remember(recent(distance));
  if (count > kWindow) {
    const uint64_t skipped = (count - kWindow) / distance * distance;
    std::vector<uint16_t> pattern;
    for (uint16_t back = distance; back > 0; --back) pattern.push_back(recent(back));
    kept_ += skipped;
    count -= skipped;
    for (size_t i = 0; i < distance; ++i) {
      recent_[(kept_ - distance + i) & (recent_.size() - 1)] = pattern[i];
    }
  }
  for (; count > 0; --count) remember(recent(distance));
}

void CallTape::renumber(const std::vector<int>& segments) {
  for (Entry& entry : entries_) {
    if (entry.segment >= 0) entry.segment = segments[static_cast<size_t>(entry.segment)];
  }
  index_.clear();
  grow_index();
}

void CallTape::finish() {
  if (runs_.size() > kMaxRuns) {
    runs_.resize(kMaxRuns);
    kept_ = 0;
    for (const Run& run : runs_) kept_ += uint64_t{1} + run.copied;
  }
  // The kinds stand in the order in which they first came, so those of the prefix come first.
  size_t kinds = 0;
  for (const Run& run : runs_) kinds = std::max(kinds, run.id + size_t{1});
  entries_.resize(kinds);
  for (auto* unused : {&index_, &recent_, &back_}) *unused = {};
  last_ = {};
}

std::vector<uint16_t> CallTape::calls(size_t most) const {
  std::vector<uint16_t> calls;
  most = std::min<uint64_t>(most, kept_);
  calls.reserve(most);
  for (const Run& run : runs_) {
    if (calls.size() == most) break;
    calls.push_back(run.id);
    const size_t end = std::min<uint64_t>(most, calls.size() + run.copied);
    while (calls.size() < end) calls.push_back(calls[calls.size() - run.distance]);
  }
  return calls;
}

std::map<size_t, uint64_t> CallTape::repeats() const {
  std::map<size_t, uint64_t> repeats;
  for (const Run& run : runs_) {
    if (run.copied > 0) repeats[run.distance] += run.copied;
  }
  return repeats;
}

size_t CallTape::slot_of(const Entry& entry) const {
  const size_t mask = index_.size() - 1;
  const auto segment = static_cast<uint64_t>(static_cast<int64_t>(entry.segment));
  size_t slot = (hash_of(entry.call) + segment * 0x9e3779b97f4a7c15U) & mask;
  while (index_[slot] != 0 && entries_[index_[slot] - size_t{1}] != entry) slot = (slot + 1) & mask;
  return slot;
}

void CallTape::grow_index() {
  index_.assign(std::max<size_t>(16, 2 * index_.size()), 0);
  while (index_.size() < 2 * entries_.size() + 2) index_.assign(2 * index_.size(), 0);
  for (size_t i = 0; i < entries_.size(); ++i) {
    index_[slot_of(entries_[i])] = static_cast<uint16_t>(i + 1);
  }
}

/// Index of the entry; -1 if it is new and there is no room.
int CallTape::find_or_add(const Entry& entry) {
  if (index_.size() < 2 * entries_.size() + 2) grow_index();
  const size_t slot = slot_of(entry);
  if (index_[slot] != 0) return index_[slot] - 1;
  if (entries_.size() == kMaxKinds) return -1;
  entries_.push_back(entry);
  last_.push_back(0);
  index_[slot] = static_cast<uint16_t>(entries_.size());
  return index_[slot] - 1;
}

/// Distance to the last place where the last kContext calls stood before; 0 if there is none.
uint16_t CallTape::matching_distance() const {
  const size_t mask = recent_.size() - 1;
  uint64_t distance = 0;
  for (int step = 0; step < kMaxSteps; ++step) {
    const uint16_t apart = back_[(kept_ - 1 - distance) & mask];
    distance += apart;
    // The window must hold the context, and the call behind it when it is asked for.
    if (apart == 0 || distance + kContext >= kWindow || distance + kContext > kept_) return 0;
    uint64_t same = 1;
    while (same < kContext &&
           recent_[(kept_ - 1 - same) & mask] == recent_[(kept_ - 1 - same - distance) & mask]) {
      ++same;
    }
    if (same == kContext) return static_cast<uint16_t>(distance);
  }
  return 0;
}

}  // namespace ncclog

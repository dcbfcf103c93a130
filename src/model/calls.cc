#include "model/calls.h"

#include <bit>
#include <limits>

#include "log/known_messages.h"
#include "log/messages.h"

namespace ncclog {
namespace {

/// The finaliser of splitmix64: every input bit reaches every output bit.
uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

PrintedCall call_of_line(const Message& message) {
  using Call = CollectiveCall;
  const auto call = read_members<Call, &Call::op, &Call::op_count, &Call::count, &Call::datatype,
                                 &Call::redop, &Call::root, &Call::comm, &Call::nranks>(message);
  return {call.comm.value,
          call.nranks,
          false,
          {call.op, call.count, call.datatype, call.redop, call.root},
          call.op_count.value};
}

/// The trace of some functions gives their own name, their COLL line that of another one.
PrintedCall call_of_trace(const Message& message) {
  const auto call = read_message<CallTrace>(message);
  const Operation renamed = operation_of(call.op, AliasSource::Trace);
  const std::string_view op = renamed == Operation::Unknown ? call.op : name_of(renamed);
  return {call.comm.value, -1, true, {op, call.count, call.datatype, call.redop, call.root}};
}

constexpr uint64_t power(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent > 0; exponent >>= 1, base *= base) {
    if (exponent & 1U) result *= base;
  }
  return result;
}

/// Newton's iteration doubles the number of right bits; an odd number is its own inverse modulo 8.
constexpr uint64_t inverse(uint64_t odd) {
  uint64_t result = odd;
  for (int i = 0; i < 5; ++i) result *= 2 - odd * result;
  return result;
}

constexpr uint64_t kBack = inverse(kSequenceBase);
static_assert(kSequenceBase * kBack == 1);

void add_volume(CallVolumes& volumes, const CallSignature& call, uint64_t calls) {
  const auto count = static_cast<uint64_t>(std::max<int64_t>(0, call.count));
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  const uint64_t elements = count > kMost / calls ? kMost : count * calls;
  volumes.add(VolumeKey{call.op, call.datatype}, CallVolume{calls, elements});
}

constexpr int kInt8 = 0;

/// What Send and Recv of one message share. NCCL turns both into bytes (taskAppend in
/// enqueue.cc), so that 8 float32 meet 16 bfloat16.
CallSignature size_of_message(int64_t elements, int datatype) {
  const int64_t bytes = datatype_bytes(datatype).value_or(0);
  const bool is_known =
      bytes > 0 && elements >= 0 && elements <= std::numeric_limits<int64_t>::max() / bytes;
  if (!is_known) return {.count = elements, .datatype = datatype};
  return {.count = elements * bytes, .datatype = kInt8};
}

// The call log.

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

Operation OpName::operation() const {
  constexpr auto kNames = [] {
    std::array<OpName, std::size(kOperations)> names;
    std::ranges::transform(kOperations, names.begin(), &OperationTraits::name);
    return names;
  }();
  const auto* found = std::ranges::find(kNames, *this);
  return found == kNames.end() ? Operation::Unknown
                               : static_cast<Operation>(found - kNames.begin());
}

bool is_point_to_point(const OpName& op) { return traits_of(op.operation()).is_point_to_point(); }

CallSignature comparable(const CallSignature& call) {
  CallSignature same = call;
  same.redop = std::min(call.redop, kUserRedop);
  return same;
}

uint64_t hash_of(const CallSignature& call) {
  const auto words = std::bit_cast<std::array<uint64_t, 2>>(call.op);
  uint64_t hash = mixed(words[0] + 0x9e3779b97f4a7c15U);
  for (const uint64_t word :
       {words[1], static_cast<uint64_t>(call.count), static_cast<uint64_t>(call.datatype),
        static_cast<uint64_t>(call.redop), static_cast<uint64_t>(call.root)}) {
    hash = mixed(hash + word + 0x9e3779b97f4a7c15U);
  }
  return hash;
}

std::optional<PrintedCall> read_call(const Event& event) {
  if (event.fate != LineFate::Recognised) return std::nullopt;
  const uint16_t kind = event.message.kind->index;
  if (kind == kKindIndex<CollectiveCall>) return call_of_line(event.message);
  if (kind == kKindIndex<CallTrace>) return call_of_trace(event.message);
  return std::nullopt;
}

uint64_t extended_hash(uint64_t hash, const CallSignature& call) {
  return hash * kSequenceBase + hash_of(comparable(call));
}

uint64_t joined_hash(uint64_t first, uint64_t second, uint64_t length) {
  return first * power(kSequenceBase, length) + second;
}

bool operator==(const CallSequence& a, const CallSequence& b) {
  if (a.size_ != b.size_ || a.hash_ != b.hash_ || a.kept_.size() != b.kept_.size()) return false;
  for (uint64_t i = a.kept_from(); i < a.size_; ++i) {
    if (*a.call(i) != *b.call(i)) return false;
  }
  return true;
}

void CallSequence::thin_out() {
  if (checkpoints_.size() <= kMaxCheckpoints) return;
  size_t kept = 0;
  for (size_t i = 0; i < checkpoints_.size(); i += 2) checkpoints_[kept++] = checkpoints_[i];
  checkpoints_.resize(kept);
  stride_ *= 2;
}

void CallSequence::add_checkpoint(SourceRef where) {
  checkpoints_.push_back({size_, hash_, where});
  thin_out();
  next_checkpoint_ = checkpoints_.back().index + stride_;
}

void CallSequence::merge(const CallSequence& later) {
  for (const CallCheckpoint& point : later.checkpoints_) {
    checkpoints_.push_back(
        {size_ + point.index, joined_hash(hash_, point.hash, point.index), point.where});
  }
  stride_ = std::max(stride_, later.stride_);
  // Every second one goes, so that they stay spread over the whole sequence.
  while (checkpoints_.size() > kMaxCheckpoints) thin_out();
  if (!checkpoints_.empty()) next_checkpoint_ = checkpoints_.back().index + stride_;
  hash_ = joined_hash(hash_, later.hash_, later.size_);
  // The later stretch alone fills the ring: nothing of the earlier one stays in it.
  if (later.kept_from() > 0) {
    size_ += later.size_;
    kept_ = later.kept_;
    oldest_ = later.oldest_;
    return;
  }
  for (uint64_t i = 0; i < later.size_; ++i) append(*later.call(i));
}

const PlacedCall* CallSequence::call(uint64_t index) const {
  if (index < kept_from() || index >= size_) return nullptr;
  return &kept_[(oldest_ + index - kept_from()) % kept_.size()];
}

std::optional<uint64_t> CallSequence::prefix_hash(uint64_t length) const {
  if (length > size_) return std::nullopt;
  if (length >= kept_from()) {
    uint64_t hash = hash_;
    for (uint64_t i = size_; i > length; --i) {
      hash = (hash - hash_of(comparable(call(i - 1)->call))) * kBack;
    }
    return hash;
  }
  const auto point =
      std::lower_bound(checkpoints_.begin(), checkpoints_.end(), length,
                       [](const CallCheckpoint& at, uint64_t index) { return at.index < index; });
  if (point == checkpoints_.end() || point->index != length) return std::nullopt;
  return point->hash;
}

CallVolume& CallVolume::operator+=(const CallVolume& more) {
  calls += more.calls;
  const uint64_t sum = elements + more.elements;
  elements = sum < elements ? std::numeric_limits<uint64_t>::max() : sum;
  return *this;
}

void PeerMessages::add(int64_t elements, int datatype) {
  hash = extended_hash(hash, size_of_message(elements, datatype));
  ++count;
}

void PeerMessages::merge(const PeerMessages& later) {
  hash = joined_hash(hash, later.hash, later.count);
  count += later.count;
}

void CollectiveCalls::add_message(const CallSignature& call) {
  const Operation operation = call.op.operation();
  if (!traits_of(operation).is_message()) return;
  PeerTotals* const peer = peers.find_or_add(call.root);
  if (peer == nullptr) {
    ++peers.other;
  } else {
    (operation == Operation::Send ? peer->sent : peer->received).add(call.count, call.datatype);
  }
}

void CollectiveCalls::add(SourceRef where, std::string_view stamp, const CallSignature& call) {
  stamp = stamp.substr(0, kMaxStampBytes);
  if (total++ == 0) {
    first = where;
    first_stamp = stamp;
  }
  last = where;
  last_stamp.assign(stamp);
  last_call = call;
  by_signature.add(call, 1);
  add_volume(volumes, call, 1);
  if (is_point_to_point(call.op)) {
    add_message(call);
  } else {
    collectives.add(where, call);
  }
}

void CollectiveCalls::add_uncounted(uint64_t count, SourceRef where, std::string_view stamp,
                                    const CallSignature& call) {
  total += count;
  by_signature.add(call, count);
  add_volume(volumes, call, count);
  if (where < last) return;
  last = where;
  last_stamp.assign(stamp.substr(0, kMaxStampBytes));
  last_call = call;
}

void CollectiveCalls::merge(const CollectiveCalls& later) {
  if (later.total == 0) return;
  if (total == 0) {
    first = later.first;
    first_stamp = later.first_stamp;
    first_op_count = later.first_op_count;
  }
  total += later.total;
  last = later.last;
  last_stamp = later.last_stamp;
  last_call = later.last_call;
  by_signature.merge(later.by_signature);
  volumes.merge(later.volumes);
  collectives.merge(later.collectives);
  peers.merge(later.peers);
}

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
  if (goes_on(id)) {
    ++runs_.back().copied;
    remember(id);
    return true;
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
  const auto known = index_.find(entry_of(segment, call));
  return known == index_.end() ? -1 : known->second;
}

void CallTape::merge(const CallTape& later, const std::vector<int>& segments) {
  const uint64_t sum = total_ + later.total_;
  if (!is_full()) {
    std::vector<int> ids(later.entries_.size(), kUnasked);
    for (const Run& run : later.runs_) {
      int& id = ids[run.id];
      if (id == kUnasked) {
        Entry entry = later.entries_[run.id];
        if (entry.segment >= 0) entry.segment = segments[entry.segment];
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
    if (entry.segment >= 0) entry.segment = segments[entry.segment];
  }
  index_.clear();
  for (size_t i = 0; i < entries_.size(); ++i) {
    index_.try_emplace(entries_[i], static_cast<uint16_t>(i));
  }
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
  for (auto* unused : {&recent_, &back_}) *unused = {};
  index_ = {};
  last_ = {};
}

std::vector<uint16_t> CallTape::calls() const {
  std::vector<uint16_t> calls;
  calls.reserve(kept_);
  for (const Run& run : runs_) {
    calls.push_back(run.id);
    const size_t end = calls.size() + run.copied;
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

/// Index of the entry; -1 if it is new and there is no room.
int CallTape::find_or_add(const Entry& entry) {
  if (const auto known = index_.find(entry); known != index_.end()) return known->second;
  if (entries_.size() == kMaxKinds) return -1;
  index_.emplace(entry, static_cast<uint16_t>(entries_.size()));
  entries_.push_back(entry);
  last_.push_back(0);
  return static_cast<int>(entries_.size()) - 1;
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

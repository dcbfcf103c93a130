#include "model/call_sequence.h"

#include <algorithm>

namespace ncclog {
namespace {

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

}  // namespace

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
  while (checkpoints_.size() > kMaxCheckpoints) thin_out();
  if (!checkpoints_.empty()) next_checkpoint_ = checkpoints_.back().index + stride_;
  hash_ = joined_hash(hash_, later.hash_, later.size_);
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

}  // namespace ncclog

// Values that cost little where they are as they were made, or as another one is.
//
//   thousands of ranks that print no collectives            Rare: a pointer each, and no call log
//   2,500 hosts with the same paths between their devices   SharedVector: the paths once, and 2,500
//                                                           pointers

#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace ncclog {

/// A T in the room of a pointer until it is changed. Copies are deep. What was never changed
/// reads as T{}.
template <typename T>
class Rare {
 public:
  Rare() = default;
  Rare(const Rare& other) : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
  Rare(Rare&&) = default;
  Rare& operator=(const Rare& other) { return *this = Rare(other); }
  Rare& operator=(Rare&&) = default;

  const T& operator*() const {
    static const T kUnchanged{};
    return value_ ? *value_ : kUnchanged;
  }
  const T* operator->() const { return &**this; }

  /// Valid as long as this.
  T& change() {
    if (!value_) value_ = std::make_unique<T>();
    return *value_;
  }

  /// False: nothing has changed it.
  explicit operator bool() const { return value_ != nullptr; }

  bool operator==(const Rare& other) const { return **this == *other; }

 private:
  std::unique_ptr<T> value_;
};

/// Copies share their elements. Those of several threads may be read and copied side by side.
template <typename T>
class SharedVector {
 public:
  const T* begin() const { return all_ == nullptr ? nullptr : all_->data(); }
  const T* end() const { return begin() + size(); }
  size_t size() const { return all_ == nullptr ? 0 : all_->size(); }
  bool empty() const { return size() == 0; }
  const T& operator[](size_t place) const { return (*all_)[place]; }

  /// To be changed: copies do not change with it. Valid until this is copied.
  std::vector<T>& change() {
    if (all_ == nullptr) {
      all_ = std::make_shared<std::vector<T>>();
    } else if (all_.use_count() > 1) {
      all_ = std::make_shared<std::vector<T>>(*all_);
    }
    return *all_;
  }

  bool operator==(const SharedVector& other) const {
    return all_ == other.all_ || std::equal(begin(), end(), other.begin(), other.end());
  }
  bool operator==(const std::vector<T>& other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
  }

 private:
  std::shared_ptr<std::vector<T>> all_;  ///< nullptr: there are none.
};

}  // namespace ncclog

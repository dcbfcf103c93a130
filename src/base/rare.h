// A value that most of its owners leave as it was made.
//
//   thousands of ranks that print no collectives   a pointer each, and no call log

#pragma once

#include <memory>

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

}  // namespace ncclog

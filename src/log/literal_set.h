// Which of many short texts stand in a line?
//
//   {"NCCL", "%|", ", skipped=", "[\x02\x01\x01\x01"}      the last one: "[E717", a digit may be
//   any "… step=10, skipped=0, lr=…"                           stands at the comma
//
// Vectorscan looks for all of them at once. Its tables take some milliseconds to make, so they are
// made when so much was searched that they pay. Until then, and on processors for which Vectorscan
// has no code, texts are looked for one by one.

#pragma once

#include <bitset>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ncclog {

/// In a literal: any of the ten digits.
inline constexpr char kAnyDigit = '\x01';
/// In a literal: a severity of PyTorch's loggers, one of "EWIFV".
inline constexpr char kAnySeverity = '\x02';
/// In a literal: anything but a blank.
inline constexpr char kNonBlank = '\x03';

/// The pairs of neighbouring bytes of a text: they rule out most of what does not stand in it without
/// a search, which pays where many texts are looked for in one.
class BytePairs {
 public:
  explicit BytePairs(std::string_view text);

  /// False: `part` stands nowhere in the text. True proves nothing.
  bool may_hold(std::string_view part) const;

 private:
  static constexpr size_t kSlots = 4096;

  static size_t slot_of(char first, char second) {
    return ((static_cast<size_t>(static_cast<unsigned char>(first)) << 5U) ^
            static_cast<unsigned char>(second)) %
           kSlots;
  }

  std::bitset<kSlots> seen_;
};

/// A set of literals. Copies share their tables. Any number of threads may search at once.
class LiteralSet {
 public:
  /// Bytes to be searched from which on tables pay.
  static constexpr size_t kWorthTables = size_t{32} << 10;

  /// Each literal must hold a byte that stands for itself; they keep their places as numbers. Tables
  /// are made when `worth` bytes were searched.
  explicit LiteralSet(std::vector<std::string> literals, size_t worth = kWorthTables);

  /// Calls `visit(number, end)` for each place where a literal stands in `text`, in any order, until
  /// it answers true; whether it did. `end` is the place behind the literal. `visit` must search no
  /// other set.
  template <typename Visit>
  bool any_of(std::string_view text, Visit visit) const {
    return search(
        text,
        [](void* visitor, size_t number, size_t end) {
          return (*static_cast<Visit*>(visitor))(number, end);
        },
        &visit);
  }

 private:
  struct Tables;
  using Visitor = bool (*)(void* visitor, size_t number, size_t end);

  bool search(std::string_view text, Visitor visit, void* visitor) const;

  std::vector<std::string> literals_;
  /// By literal: where its longest row of bytes that stand for themselves begins, and its size.
  std::vector<std::pair<size_t, size_t>> rows_;
  std::shared_ptr<Tables> tables_;
};

}  // namespace ncclog

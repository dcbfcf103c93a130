// One description of a value for both directions: what a PartWriter takes is what a PartReader
// gives.
//
//   carry(writer, marker)   step, total, wording → three numbers
//   carry(reader, marker)   three numbers → step, total, wording
//
// Plain structs are their members (part/carry_shard.h); containers are their size and their elements.
// Classes that keep something private have a carry of their own (part/carry_shard.h). Wherever one
// is declared, it is found by the type of `io`.
//
// An `io` is a PartWriter or a PartReader (part/part_stream.h):
//   io.number(n)    a whole number, as 64 bits
//   io.text(s)      any bytes
//   io.size(n)      a number of elements; a reader gives none where that many cannot follow
//   io.place(where) a line of the input that is carried
//   io.fail()       of a reader: the bytes are none that a writer wrote

#pragma once

#include <array>
#include <bit>
#include <bitset>
#include <concepts>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/compact.h"
#include "base/fields.h"
#include "base/line.h"
#include "model/bounded_map.h"

namespace ncclog {

/// The number of values of an enum that a part may hold: one behind its last. Each has a row, since
/// tables are indexed by some of them.
template <typename Enum>
extern const uint64_t kEnumSize;

/// True of what is, or derives from, a BoundedMap and has no members of its own.
template <typename T>
concept IsBoundedMap = requires(T map) {
  { T::kLimit } -> std::convertible_to<size_t>;
  map.all;
  map.other;
}
&&sizeof(T) == sizeof(std::declval<T>().all) + sizeof(uint64_t);

/// Several values, in their order.
template <typename Io, typename... Values>
void carry_each(Io& io, Values&... values) {
  (carry(io, values), ...);
}

template <typename Io, typename Number>
requires std::integral<Number> || std::is_enum_v<Number>
void carry(Io& io, Number& value) {
  auto bits = static_cast<uint64_t>(value);
  io.number(bits);
  if constexpr (Io::kReads) {
    if constexpr (std::is_enum_v<Number>) {
      if (bits >= kEnumSize<Number>) return io.fail();
    } else {
      if (static_cast<uint64_t>(static_cast<Number>(bits)) != bits) return io.fail();
    }
    value = static_cast<Number>(bits);
  }
}

template <typename Io>
void carry(Io& io, double& value) {
  auto bits = std::bit_cast<uint64_t>(value);
  io.number(bits);
  value = std::bit_cast<double>(bits);
}

template <typename Io>
void carry(Io& io, std::string& value) {
  io.text(value);
}

template <typename Io>
void carry(Io& io, SourceRef& where) {
  io.place(where);
}

template <typename Io, size_t kSize>
void carry(Io& io, std::bitset<kSize>& bits) {
  static_assert(kSize <= 64);
  uint64_t number = bits.to_ullong();
  carry(io, number);
  bits = number;
}

template <typename Io, IsBoundedMap Map>
void carry(Io& io, Map& map) {
  carry_each(io, map.all, map.other);
  if constexpr (Io::kReads) {
    if (map.all.size() > Map::kLimit) io.fail();
  }
}

template <typename Io, typename T>
requires std::is_aggregate_v<T> &&(!IsBoundedMap<T>)void carry(Io& io, T& value) {
  std::apply([&io](auto&... fields) { carry_each(io, fields...); },
             fields_of(FieldsOf<T>(), value));
}

template <typename Io, typename T>
void carry(Io& io, SharedVector<T>& row) {
  if constexpr (Io::kReads) {
    carry(io, row.change());
  } else {
    std::vector<T> all(row.begin(), row.end());  // change() would leave a copy in each.
    carry(io, all);
  }
}

/// The elements of a row that grows at its end.
template <typename Io, typename Row>
void carry_row(Io& io, Row& row) {
  size_t count = row.size();
  io.size(count);
  if constexpr (Io::kReads) {
    row.clear();
    for (size_t i = 0; i < count && !io.failed(); ++i) carry(io, row.emplace_back());
  } else {
    for (auto& one : row) carry(io, one);
  }
}

template <typename Io, typename T>
void carry(Io& io, std::vector<T>& row) {
  carry_row(io, row);
}

template <typename Io, typename T>
void carry(Io& io, std::deque<T>& row) {
  carry_row(io, row);
}

/// `carry_key` carries a key; some are numbers of units or of inputs.
template <typename Io, typename Map, typename CarryKey>
void carry_map(Io& io, Map& map, CarryKey carry_key) {
  size_t count = map.size();
  io.size(count);
  if constexpr (Io::kReads) {
    map.clear();
    for (size_t i = 0; i < count && !io.failed(); ++i) {
      typename Map::key_type key{};
      typename Map::mapped_type value{};
      carry_key(key);
      carry(io, value);
      map.insert_or_assign(map.end(), std::move(key), std::move(value));
    }
  } else {
    for (auto& [key, value] : map) {
      typename Map::key_type copy = key;
      carry_key(copy);
      carry(io, value);
    }
  }
}

template <typename Io, typename Key, typename Value, typename Less>
void carry(Io& io, std::map<Key, Value, Less>& map) {
  carry_map(io, map, [&](Key& key) { carry(io, key); });
}

template <typename Io, typename T>
void carry(Io& io, std::optional<T>& value) {
  bool is_there = value.has_value();
  carry(io, is_there);
  if constexpr (Io::kReads) value = is_there ? std::optional<T>(std::in_place) : std::nullopt;
  if (value) carry(io, *value);
}

template <typename Io, typename T>
void carry(Io& io, Rare<T>& value) {
  auto is_there = static_cast<bool>(value);
  carry(io, is_there);
  if (is_there) carry(io, value.change());
}

template <typename Io, typename A, typename B>
void carry(Io& io, std::pair<A, B>& pair) {
  carry_each(io, pair.first, pair.second);
}

template <typename Io, typename T, size_t kSize>
void carry(Io& io, std::array<T, kSize>& row) {
  for (T& one : row) carry(io, one);
}

}  // namespace ncclog

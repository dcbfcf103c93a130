// The members of a plain struct, listed once for whatever writes and reads all of them.
//
//   NCCLOG_FIELDS(Marker, step, total, wording)
//   fields_of(FieldsOf<Marker>(), marker)  →  std::tuple<int64_t&, int64_t&, uint16_t&>
//
// C++20 cannot list members itself, but refuses a list that is not of all of them: a new member cannot
// be forgotten.

#pragma once

#include <tuple>

namespace ncclog {

/// Names a struct among overloads.
template <typename T>
struct FieldsOf {};

}  // namespace ncclog

/// All members of a struct in their order. Stands in namespace ncclog.
#define NCCLOG_FIELDS(Struct, ...)               \
  auto fields_of(FieldsOf<Struct>, auto& self) { \
    auto& [__VA_ARGS__] = self;                  \
    return std::tie(__VA_ARGS__);                \
  }

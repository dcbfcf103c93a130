// Does an object of a JSON text hold one key twice?
//
//   {"count": 8, "op": "Send", "count": 9}     the second "count", at byte 27
//   {"a": {"count": 8}, "b": {"count": 9}}     no: these are two objects
//
// Parsers keep one of the two values, and which one differs: so neither can be believed.
// "c\u006funt" is the same key as "count".

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace ncclog {

/// A key that stands in its object before.
struct RepeatedKey {
  std::string key;  ///< What it means, escapes undone; valid UTF-8 where the text is.
  size_t at = 0;    ///< Byte of the second one's opening quote, from 0.
};

/// The first repeated key of the first object to end that has one; nullopt: there is none. `text`
/// has to be JSON. Takes no more time for deep objects than for flat ones.
std::optional<RepeatedKey> find_repeated_key(std::string_view text);

}  // namespace ncclog

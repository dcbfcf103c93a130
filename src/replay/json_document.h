// Text of a replay's files to a JSON value and back, and where in it something is wrong.
//
//   plan.json:14:3                         the text is no JSON there
//   plan.json: ranks[1].calls[3].op        what stands there makes no sense
//
// Files are written for people, too: what is flat, a call for example, is one line.

#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace ncclog {

/// Keys in the order in which they are written.
using WrittenJson = nlohmann::ordered_json;
using ReadJson = nlohmann::json;

/// Longer texts are refused: no plan and no outcome that fits this machine is nearly as long.
inline constexpr size_t kMaxReplayText = size_t{32} << 20;

/// A value and the way to it. Refers to what it was made of.
struct JsonPlace {
  const ReadJson& value;
  std::string_view source;           ///< Of the text, for people.
  const JsonPlace* above = nullptr;  ///< nullptr: the whole document.
  std::string_view key = {};         ///< In the object above.
  size_t index = 0;                  ///< In the list above, if that is one.

  JsonPlace at(std::string_view name, const ReadJson& member) const;
  JsonPlace at(size_t item) const;
};

/// "ranks[1].calls[3].op"; empty for the whole document.
std::string path_of(const JsonPlace& place);

/// Throws Error at that place.
[[noreturn]] void refuse(const JsonPlace& place, const std::string& what,
                         const std::string& hint = {});

/// Throws Error: what stands there is not `wanted` ("a text").
[[noreturn]] void refuse_type(const JsonPlace& place, std::string_view wanted);

/// Throws Error with line and column if `text` is no JSON, not UTF-8, longer than kMaxReplayText or
/// has an object with one key twice; `source` is its name for people. Depth does not matter.
ReadJson parse_json_document(std::string_view text, const std::string& source);

/// Throws Error unless the document is an object whose "schema" is `schema`; `noun` is what people
/// call it: "replay plan".
void check_schema(const JsonPlace& document, std::string_view schema, std::string_view noun);

/// Over several lines, with a line end. Texts have to be valid UTF-8.
std::string write_json_document(const WrittenJson& document);

}  // namespace ncclog

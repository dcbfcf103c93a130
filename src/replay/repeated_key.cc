#include "replay/repeated_key.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace ncclog {
namespace {

/// Where the string that begins at `begin` ends: behind its closing quote.
size_t end_of_string(std::string_view text, size_t begin) {
  size_t at = begin + 1;
  while (text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return at + 1;
}

/// A string followed by a colon is a key, wherever it stands.
bool is_key(std::string_view text, size_t end) {
  const size_t next = text.find_first_not_of(" \t\r\n", end);
  return next != text.npos && text[next] == ':';
}

/// A key of an object that is open.
struct OpenKey {
  std::string_view raw;  ///< With its quotes.
  size_t at = 0;

  std::string meaning() const {
    if (raw.find('\\') == raw.npos) return std::string(raw.substr(1, raw.size() - 2));
    return nlohmann::json::parse(raw).get<std::string>();
  }
};

/// Of the keys of one object, the first that stands there a second time.
std::optional<RepeatedKey> repeated_among(const OpenKey* begin, const OpenKey* end) {
  std::vector<std::pair<std::string, size_t>> keys;
  for (const OpenKey* key = begin; key != end; ++key) keys.emplace_back(key->meaning(), key->at);
  std::sort(keys.begin(), keys.end());
  std::optional<RepeatedKey> first;
  for (size_t k = 1; k < keys.size(); ++k) {
    const auto& [key, at] = keys[k];
    if (key == keys[k - 1].first && (!first || at < first->at)) first = RepeatedKey{key, at};
  }
  return first;
}

}  // namespace

std::optional<RepeatedKey> find_repeated_key(std::string_view text) {
  std::vector<OpenKey> keys;    // Of all open objects, the outermost first.
  std::vector<size_t> objects;  // Where in `keys` those of each open object begin.
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '{') objects.push_back(keys.size());
    if (text[at] == '}') {
      const size_t begin = objects.back();
      if (auto found = repeated_among(keys.data() + begin, keys.data() + keys.size())) return found;
      keys.resize(begin);
      objects.pop_back();
    }
    if (text[at] != '"') continue;
    const size_t end = end_of_string(text, at);
    if (is_key(text, end)) keys.push_back({text.substr(at, end - at), at});
    at = end - 1;
  }
  return std::nullopt;
}

}  // namespace ncclog

#include "layering/type_names.h"

#include <re2/re2.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "support/paths.h"

namespace ncclog::testing {
namespace {

/// `text` with blanks for comments and for what stands in quotes; line ends stay.
std::string code_of(std::string_view text) {
  std::string code(text);
  const auto blank = [&](size_t from, size_t end) {
    for (size_t i = from; i < std::min(end, code.size()); ++i) {
      if (code[i] != '\n') code[i] = ' ';
    }
    return end;
  };
  for (size_t i = 0; i < text.size();) {
    if (text.substr(i).starts_with("//")) {
      i = blank(i, std::min(text.find('\n', i), text.size()));
    } else if (text.substr(i).starts_with("R\"(")) {
      i = blank(i, std::min(text.find(")\"", i), text.size() - 2) + 2);
    } else if (text[i] == '"' || (text[i] == '\'' && (i == 0 || !is_word(text[i - 1])))) {
      size_t end = i + 1;  // A ' behind a digit parts thousands.
      while (end < text.size() && text[end] != text[i]) end += text[end] == '\\' ? 2 : 1;
      i = blank(i, end + 1);
    } else {
      ++i;
    }
  }
  return code;
}

/// What braces hold.
struct Scope {
  bool is_namespace = false;
  std::string name;  ///< Of a namespace; empty: it has none.
};

/// "ncclog::type::" inside of those; empty where a name is the file's, a function's or a type's own.
std::string outside_prefix(const std::vector<Scope>& scopes) {
  std::string prefix;
  for (const Scope& scope : scopes) {
    if (!scope.is_namespace || scope.name.empty()) return {};
    prefix += scope.name + "::";
  }
  return prefix;
}

}  // namespace

std::vector<DefinedType> types_defined_in(std::string_view text) {
  static const re2::RE2 kTokens(
      R"((\bnamespace\b\s*[\w:]*\s*\{|\busing\s+\w+\s*=|\{|\}|)"
      R"(\b(?:struct|class|union|enum(?:\s+(?:class|struct))?)\s+\w+(?:\s+final)?\s*(?::[^:{;()][^{;()]*)?\{))");
  static const re2::RE2 kNamespace(R"(namespace\s*([\w:]*)\s*\{)");
  static const re2::RE2 kType(
      R"((?:struct|class|union|enum(?:\s+(?:class|struct))?|using)\s+(\w+).*)", [] {
        re2::RE2::Options options;
        options.set_dot_nl(true);
        return options;
      }());
  const std::string code = code_of(text);
  re2::StringPiece rest(code);
  re2::StringPiece token;
  std::vector<Scope> scopes;
  std::vector<DefinedType> found;
  while (re2::RE2::FindAndConsume(&rest, kTokens, &token)) {
    std::string name;
    if (token == "}") {
      if (!scopes.empty()) scopes.pop_back();
    } else if (token == "{") {
      scopes.emplace_back();
    } else if (re2::RE2::FullMatch(token, kNamespace, &name)) {
      scopes.push_back({true, name});
    } else if (re2::RE2::FullMatch(token, kType, &name)) {
      const std::string prefix = outside_prefix(scopes);
      if (!prefix.empty()) {
        const auto line = 1 + std::count(code.data(), token.data(), '\n');
        found.push_back({prefix + name, static_cast<int>(line), token.starts_with("using")});
      }
      if (token.ends_with("{")) scopes.emplace_back();
    }
  }
  return found;
}

std::vector<std::string> clashing_types(const std::filesystem::path& source_root) {
  std::map<std::string, std::map<std::string, int>> places;  // By name: files with lines.
  for (const auto& entry : std::filesystem::recursive_directory_iterator(source_root)) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".h" && extension != ".cc" && extension != ".cu") continue;
    const std::string path = entry.path().lexically_relative(source_root).generic_string();
    for (const DefinedType& type : types_defined_in(read_file(entry.path()))) {
      if (type.is_alias && extension != ".h") continue;  // Nothing is linked by its name.
      places[type.name].try_emplace(path, type.line);
    }
  }
  std::vector<std::string> clashes;
  for (const auto& [name, files] : places) {
    if (files.size() < 2) continue;
    std::vector<std::string> texts;
    for (const auto& [file, line] : files) texts.push_back(file + ":" + std::to_string(line));
    clashes.push_back(name + ": " + join(texts, ", "));
  }
  return clashes;
}

}  // namespace ncclog::testing

#include "layering/operation_lists.h"

#include <algorithm>
#include <set>

#include "base/collectives.h"
#include "base/text.h"
#include "support/paths.h"

namespace ncclog::testing {
namespace {

/// What stands in quotes, outside of comments.
std::vector<std::string_view> quoted_texts(std::string_view source) {
  std::vector<std::string_view> texts;
  for (size_t i = 0; i < source.size();) {
    if (source.substr(i).starts_with("//")) {
      i = std::min(source.find('\n', i), source.size());
    } else if (source.substr(i).starts_with("'\"'")) {
      i += 3;
    } else if (source[i] == '"') {
      size_t end = i + 1;
      while (end < source.size() && source[end] != '"') end += source[end] == '\\' ? 2 : 1;
      texts.push_back(source.substr(i + 1, std::min(end, source.size()) - i - 1));
      i = end + 1;
    } else {
      ++i;
    }
  }
  return texts;
}

Operation operation_by_any_name(std::string_view name) {
  if (const Operation known = operation_of(name); known != Operation::Unknown) return known;
  const auto* found = std::ranges::find(kOperationAliases, name, &OperationAlias::text);
  return found == std::end(kOperationAliases) ? Operation::Unknown : found->operation;
}

/// Those of "AllGather|Reduce"; none if anything else stands there.
std::set<Operation> operations_in(std::string_view text) {
  std::set<Operation> operations;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find_first_of("|,; ", begin), text.size());
    const std::string_view name = text.substr(begin, end - begin);
    begin = end + 1;
    if (name.empty()) continue;
    operations.insert(operation_by_any_name(name));
  }
  return operations.contains(Operation::Unknown) ? std::set<Operation>() : operations;
}

}  // namespace

std::vector<std::string> quoted_operations(std::string_view source) {
  std::set<Operation> all;
  for (const std::string_view text : quoted_texts(source)) all.merge(operations_in(text));
  std::vector<std::string> names;
  for (const Operation operation : all) names.emplace_back(name_of(operation));
  return names;
}

std::vector<std::string> operation_lists(const std::filesystem::path& source_root) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(source_root)) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".cc" && extension != ".h" && extension != ".cu") continue;
    const std::vector<std::string> names = quoted_operations(read_file(entry.path()));
    if (names.size() < 2) continue;
    found.push_back(entry.path().lexically_relative(source_root).generic_string() + ": " +
                    join(names, ", "));
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace ncclog::testing

#include "support/describe_document.h"

#include <fmt/format.h>

#include <variant>

namespace ncclog::testing {
namespace {

constexpr int kDeepest = 20;

std::string describe(const ParsedDocument& document, ValueId id, int depth);

struct Describer {
  const ParsedDocument& document;
  int depth;

  std::string operator()(std::monostate) const { return "None"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const { return fmt::format("{}", value); }
  std::string operator()(std::string_view value) const { return fmt::format("\"{}\"", value); }
  std::string operator()(const ListValue& list) const {
    std::string text;
    for (const ValueId item : list.items) {
      text += (text.empty() ? "" : ", ") + describe(document, item, depth + 1);
    }
    return "[" + text + "]";
  }
  std::string operator()(const DictValue& dict) const {
    std::string text;
    for (const auto& [key, value] : dict.members) {
      text += (text.empty() ? "" : ", ") + describe(document, key, depth + 1) + ": " +
              describe(document, value, depth + 1);
    }
    return "{" + text + "}";
  }
};

std::string describe(const ParsedDocument& document, ValueId id, int depth) {
  if (depth > kDeepest) return "…";
  return std::visit(Describer{document, depth}, document.values.at(id));
}

}  // namespace

std::string describe_document(const ParsedDocument& document) {
  if (!document.problem.empty()) return document.problem;
  return describe(document, document.root, 0);
}

}  // namespace ncclog::testing

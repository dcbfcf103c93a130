#include "log/known_messages.h"

#include <memory>

#include "log/build_messages.h"

namespace ncclog {
namespace {

constinit const WordingTable* current = &kBuiltInMessages;

}  // namespace

const WordingTable& all_wordings() { return *current; }

const Kind* find_kind(std::string_view name) {
  for (const Kind& kind : all_kinds()) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

void add_messages(std::span<const KindText> kinds) {
  // Kept to the end: messages, rules and reports view into it.
  static std::vector<std::unique_ptr<OwnedWordingTable>> tables;
  auto table = std::make_unique<OwnedWordingTable>();
  build_messages(all_kinds(), kinds, *table);
  current = &table->table;
  tables.push_back(std::move(table));
}

}  // namespace ncclog

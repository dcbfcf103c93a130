#include "log/known_messages.h"

#include <memory>
#include <vector>

#include "base/fnv.h"
#include "log/build_messages.h"

namespace ncclog {
namespace {

constinit const WordingTable* current = &kBuiltInMessages;
constinit uint64_t added_hash = 0;

void hash_text(std::string_view text) {
  added_hash = fnv_text(added_hash == 0 ? kFnvBasis : added_hash, text);
}

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
  tables.push_back(std::move(table));
  current = &tables.back()->table;
  for (const KindText& kind : kinds) {
    hash_text(kind.name + " " + kind.replaces + " " + std::string(to_string(kind.library)) + " " +
              std::string(to_string(kind.subsystem)));
    for (const FieldText& field : kind.fields) {
      hash_text(field.name);
      hash_text({"TIH" + static_cast<size_t>(field.type), 1});
    }
    for (const WordingText& wording : kind.wordings) {
      hash_text(wording.text);
      hash_text(wording.recogniser);
      hash_text(wording.quotable ? "quotable" : "");
      hash_text(wording.general ? "general" : "");
      hash_text(to_string(wording.severity));
      hash_text(to_string(wording.origin));
      hash_text(wording.meaning);
    }
  }
}

uint64_t added_messages_hash() { return added_hash; }

}  // namespace ncclog

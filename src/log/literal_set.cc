#include "log/literal_set.h"

#include <fmt/format.h>
#include <hs.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "base/text.h"

namespace ncclog {
namespace {

constexpr std::string_view kSeverities = "EWIFV";

constexpr bool is_class(char wanted) { return wanted > 0 && wanted <= kNonBlank; }

bool fits(char c, char wanted) {
  if (wanted == kAnyDigit) return is_digit(c);
  if (wanted == kAnySeverity) return kSeverities.find(c) != kSeverities.npos;
  return wanted == kNonBlank ? !is_blank(c) : c == wanted;
}

/// Where the literal stands in `text` first, from `begin` on.
size_t place_of(std::string_view literal, std::string_view text, size_t begin) {
  if (std::ranges::none_of(literal, is_class)) return text.find(literal, begin);
  const auto found = std::ranges::search(text.substr(begin), literal, fits);
  return found.empty() ? text.npos : static_cast<size_t>(found.begin() - text.begin());
}

/// As a regular expression.
std::string expression_of(std::string_view literal) {
  std::string expression;
  for (const char c : literal) {
    if (c == kAnyDigit) {
      expression += "[0-9]";
    } else if (c == kAnySeverity) {
      expression += fmt::format("[{}]", kSeverities);
    } else if (c == kNonBlank) {
      expression += "[^ \\t]";
    } else {
      expression += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return expression;
}

/// Vectorscan's working memory of a thread, large enough for all sets that it has searched.
struct Scratch {
  hs_scratch_t* memory = nullptr;
  std::vector<uint64_t> sets;  ///< By Tables::id.

  ~Scratch() { hs_free_scratch(memory); }
};

}  // namespace

struct LiteralSet::Tables {
  explicit Tables(size_t worth_making) : worth(worth_making) {}
  ~Tables() { hs_free_database(database); }

  void make(const std::vector<std::string>& literals);
  hs_scratch_t* scratch() const;

  const size_t worth;
  std::atomic<size_t> searched = 0;  ///< Bytes, roughly: threads may overwrite each other's.
  std::once_flag once;
  hs_database_t* database = nullptr;  ///< Once it is made; stays so where that is impossible.
  uint64_t id = 0;
};

void LiteralSet::Tables::make(const std::vector<std::string>& literals) {
  static std::atomic<uint64_t> sets = 0;
  std::vector<std::string> expressions;
  std::vector<const char*> pointers;
  std::vector<unsigned> numbers;
  for (const std::string& literal : literals) expressions.push_back(expression_of(literal));
  for (const std::string& expression : expressions) {
    numbers.push_back(static_cast<unsigned>(pointers.size()));
    pointers.push_back(expression.c_str());
  }
  id = ++sets;
  hs_compile_error_t* error = nullptr;
  hs_compile_multi(pointers.data(), nullptr, numbers.data(), static_cast<unsigned>(pointers.size()),
                   HS_MODE_BLOCK, nullptr, &database, &error);
  hs_free_compile_error(error);
}

/// nullptr if there is none.
hs_scratch_t* LiteralSet::Tables::scratch() const {
  thread_local Scratch scratch;
  if (std::ranges::find(scratch.sets, id) == scratch.sets.end()) {
    if (hs_alloc_scratch(database, &scratch.memory) != HS_SUCCESS) return nullptr;
    scratch.sets.push_back(id);
  }
  return scratch.memory;
}

LiteralSet::LiteralSet(std::vector<std::string> literals, size_t worth)
    : literals_(std::move(literals)), tables_(std::make_shared<Tables>(worth)) {}

bool LiteralSet::search(std::string_view text, Visitor visit, void* visitor) const {
  Tables& tables = *tables_;
  const size_t searched = tables.searched.load(std::memory_order_relaxed);
  if (searched < tables.worth) {
    tables.searched.store(searched + text.size() + 1, std::memory_order_relaxed);
  } else {
    std::call_once(tables.once, [&] { tables.make(literals_); });
  }
  struct Visiting {
    Visitor visit;
    void* visitor;
  } visiting{visit, visitor};
  const auto receive = [](unsigned number, unsigned long long, unsigned long long end, unsigned,
                          void* context) {
    const auto& [visit_one, by] = *static_cast<Visiting*>(context);
    return visit_one(by, number, end) ? 1 : 0;
  };
  hs_scratch_t* scratch =
      searched < tables.worth || tables.database == nullptr ? nullptr : tables.scratch();
  if (scratch != nullptr) {
    const hs_error_t end = hs_scan(tables.database, text.data(), static_cast<unsigned>(text.size()),
                                   0, scratch, receive, &visiting);
    if (end == HS_SUCCESS || end == HS_SCAN_TERMINATED) return end == HS_SCAN_TERMINATED;
  }
  for (size_t i = 0; i < literals_.size(); ++i) {
    const std::string_view literal = literals_[i];
    for (size_t at = place_of(literal, text, 0); at != text.npos;
         at = place_of(literal, text, at + 1)) {
      if (visit(visitor, i, at + literal.size())) return true;
    }
  }
  return false;
}

}  // namespace ncclog

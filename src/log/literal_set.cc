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

constexpr std::string_view kClasses("\x01\x02\x03", 3);

bool fits(char c, char wanted) {
  if (wanted == kAnyDigit) return is_digit(c);
  if (wanted == kAnySeverity) return kSeverities.find(c) != kSeverities.npos;
  return wanted == kNonBlank ? !is_blank(c) : c == wanted;
}

/// Whether the literal stands in `text` at `begin`.
bool is_at(std::string_view literal, std::string_view text, size_t begin) {
  return begin <= text.size() && literal.size() <= text.size() - begin &&
         std::equal(literal.begin(), literal.end(), text.begin() + static_cast<ptrdiff_t>(begin),
                    [](char wanted, char c) { return fits(c, wanted); });
}

/// Its longest row of bytes that stand for themselves.
std::string_view longest_row(std::string_view literal) {
  std::string_view longest;
  for (size_t at = 0, end = 0; at < literal.size(); at = end + 1) {
    end = std::min(literal.find_first_of(kClasses, at), literal.size());
    if (end - at > longest.size()) longest = literal.substr(at, end - at);
  }
  return longest;
}

/// Where the literal stands in `text` first, from `begin` on; `row` is its longest.
size_t place_of(std::string_view literal, std::string_view row, std::string_view text,
                size_t begin) {
  const auto before = static_cast<size_t>(row.data() - literal.data());
  for (size_t at = text.find(row, begin + before); at != text.npos; at = text.find(row, at + 1)) {
    if (is_at(literal, text, at - before)) return at - before;
  }
  return text.npos;
}

/// What is looked for in place of a literal, because classes take long to prepare.
struct Part {
  std::string expression;
  size_t literal = 0;  ///< Its number.
  size_t end = 0;      ///< Bytes of the literal up to the end of this part.
};

/// The bytes of the literal up to its second class, once for each byte that the first one stands
/// for; bytes that are no blank are left out where it begins.
void add_parts(std::vector<Part>& parts, std::string_view literal, size_t number) {
  const size_t begin = literal.find_first_not_of(kNonBlank);
  const size_t first = std::min(literal.find_first_of(kClasses, begin), literal.size());
  size_t end = first;
  std::string_view bytes = " ";  // Any, for one part.
  if (first < literal.size() && literal[first] != kNonBlank) {
    end = std::min(literal.find_first_of(kClasses, first + 1), literal.size());
    bytes = literal[first] == kAnyDigit ? "0123456789" : kSeverities;
  }
  for (const char byte : bytes) {
    Part& part = parts.emplace_back(Part{.literal = number, .end = end});
    for (size_t i = begin; i < end; ++i) {
      part.expression +=
          fmt::format("\\x{:02x}", static_cast<unsigned char>(i == first ? byte : literal[i]));
    }
  }
}

/// Vectorscan's working memory of a thread, large enough for all sets that it has searched.
struct Scratch {
  hs_scratch_t* memory = nullptr;
  std::vector<uint64_t> sets;  ///< By Tables::id.

  ~Scratch() { hs_free_scratch(memory); }
};

}  // namespace

BytePairs::BytePairs(std::string_view text) {
  for (size_t i = 1; i < text.size(); ++i) seen_.set(slot_of(text[i - 1], text[i]));
}

bool BytePairs::may_hold(std::string_view part) const {
  for (size_t i = 1; i < part.size(); ++i) {
    if (!seen_.test(slot_of(part[i - 1], part[i]))) return false;
  }
  return true;
}

struct LiteralSet::Tables {
  explicit Tables(size_t worth_making) : worth(worth_making) {}
  ~Tables() { hs_free_database(database); }

  void make(const std::vector<std::string>& literals);
  hs_scratch_t* scratch() const;

  const size_t worth;
  std::atomic<size_t> searched = 0;  ///< Bytes, roughly: threads may overwrite each other's.
  std::once_flag once;
  std::vector<Part> parts;
  hs_database_t* database = nullptr;  ///< Once it is made; stays so where that is impossible.
  uint64_t id = 0;
};

void LiteralSet::Tables::make(const std::vector<std::string>& literals) {
  static std::atomic<uint64_t> sets = 0;
  std::vector<const char*> pointers;
  std::vector<unsigned> numbers;
  for (size_t i = 0; i < literals.size(); ++i) add_parts(parts, literals[i], i);
  for (const Part& part : parts) {
    numbers.push_back(static_cast<unsigned>(pointers.size()));
    pointers.push_back(part.expression.c_str());
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
    : literals_(std::move(literals)), tables_(std::make_shared<Tables>(worth)) {
  for (const std::string& literal : literals_) {
    const std::string_view row = longest_row(literal);
    rows_.emplace_back(row.data() - literal.data(), row.size());
  }
}

bool LiteralSet::search(std::string_view text, Visitor visit, void* visitor) const {
  Tables& tables = *tables_;
  const size_t searched = tables.searched.load(std::memory_order_relaxed);
  if (searched < tables.worth) {
    tables.searched.store(searched + text.size() + 1, std::memory_order_relaxed);
  } else {
    std::call_once(tables.once, [&] { tables.make(literals_); });
  }
  auto look_at = [&](unsigned number, size_t part_end) {
    const Part& part = tables.parts[number];
    const std::string_view literal = literals_[part.literal];
    const size_t begin = part_end - part.end;
    const bool is_there = part_end >= part.end && is_at(literal, text, begin);
    return is_there && visit(visitor, part.literal, begin + literal.size());
  };
  const auto receive = [](unsigned number, unsigned long long, unsigned long long end, unsigned,
                          void* context) {
    return (*static_cast<decltype(look_at)*>(context))(number, end) ? 1 : 0;
  };
  hs_scratch_t* scratch =
      searched < tables.worth || tables.database == nullptr ? nullptr : tables.scratch();
  if (scratch != nullptr) {
    const hs_error_t end = hs_scan(tables.database, text.data(), static_cast<unsigned>(text.size()),
                                   0, scratch, receive, &look_at);
    if (end == HS_SUCCESS || end == HS_SCAN_TERMINATED) return end == HS_SCAN_TERMINATED;
  }
  const BytePairs pairs(text);
  for (size_t i = 0; i < literals_.size(); ++i) {
    const std::string_view literal = literals_[i];
    const std::string_view row = literal.substr(rows_[i].first, rows_[i].second);
    if (!pairs.may_hold(row)) continue;
    for (size_t at = place_of(literal, row, text, 0); at != text.npos;
         at = place_of(literal, row, text, at + 1)) {
      if (visit(visitor, i, at + literal.size())) return true;
    }
  }
  return false;
}

}  // namespace ncclog

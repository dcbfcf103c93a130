#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <deque>
#include <iterator>
#include <map>
#include <utility>
#include <variant>
#include <vector>

#include "base/text.h"
#include "import/document.h"

namespace ncclog {
namespace {

/// Place of a value in PickleMachine::values_.
using ValueId = uint32_t;

/// A list or a tuple.
using ListValue = std::vector<ValueId>;

/// Keys and values in the order of the file; a key may stand in it twice.
using DictValue = std::vector<std::pair<ValueId, ValueId>>;

/// monostate: None, or a whole number that does not fit 64 bits. Texts lie in the bytes that are
/// read, or were decoded.
using Value =
    std::variant<std::monostate, bool, int64_t, double, std::string_view, ListValue, DictValue>;

// Texts as Python's protocol 0 writes them, in one line with escapes.
//
//   S'it\'s'      → it's
//   Vcaf\u00e9    → café

/// Exactly `digits` hexadecimal digits at the start of `text`.
std::optional<uint64_t> hex_digits(std::string_view text, size_t digits) {
  text = text.substr(0, digits);
  const bool is_hex = text.size() == digits && std::ranges::all_of(text, is_hex_digit);
  return is_hex ? parse_hex(text) : std::nullopt;
}

/// Letters that stand for one character after a backslash; 0 for others.
char simple_escape(char letter) {
  constexpr std::string_view kLetters = "\\'\"abfnrtv";
  constexpr std::string_view kMeant = "\\'\"\a\b\f\n\r\t\v";
  const size_t at = kLetters.find(letter);
  return at == kLetters.npos ? '\0' : kMeant[at];
}

/// The argument of STRING: quoted, with the escapes of Python 2's repr. nullopt if the quotes are
/// missing or an escape is none.
std::optional<std::string> decode_python_string(std::string_view quoted) {
  quoted = trim(quoted);
  const bool has_quotes = quoted.size() >= 2 && quoted.front() == quoted.back() &&
                          (quoted.front() == '\'' || quoted.front() == '"');
  if (!has_quotes) return std::nullopt;
  std::string_view rest = quoted.substr(1, quoted.size() - 2);
  std::string out;
  while (!rest.empty()) {
    if (rest.front() != '\\') {
      out += rest.front();
      rest.remove_prefix(1);
      continue;
    }
    if (rest.size() < 2) return std::nullopt;
    if (rest[1] == 'x') {
      const auto byte = hex_digits(rest.substr(2), 2);
      if (!byte) return std::nullopt;
      out += static_cast<char>(*byte);
      rest.remove_prefix(4);
      continue;
    }
    const char meant = simple_escape(rest[1]);
    if (meant == '\0') return std::nullopt;
    out += meant;
    rest.remove_prefix(2);
  }
  return out;
}

/// The argument of UNICODE as UTF-8: Latin-1 with \uXXXX and \UXXXXXXXX. nullopt if such an escape
/// is cut or names no character.
std::optional<std::string> decode_raw_unicode(std::string_view escaped) {
  std::string out;
  while (!escaped.empty()) {
    const bool is_short = escaped.starts_with("\\u");
    if (!is_short && !escaped.starts_with("\\U")) {
      append_utf8(out, static_cast<uint8_t>(escaped.front()));
      escaped.remove_prefix(1);
      continue;
    }
    const size_t digits = is_short ? 4 : 8;
    const auto code = hex_digits(escaped.substr(2), digits);
    if (!code || *code > 0x10FFFF) return std::nullopt;
    append_utf8(out, static_cast<uint32_t>(*code));
    escaped.remove_prefix(2 + digits);
  }
  return out;
}

uint64_t little_endian(std::string_view bytes) {
  uint64_t number = 0;
  for (size_t i = bytes.size(); i > 0; --i) {
    number = (number << 8) | static_cast<uint8_t>(bytes[i - 1]);
  }
  return number;
}

/// A two's complement number of any length; monostate if it does not fit 64 bits.
Value signed_number(std::string_view bytes) {
  if (bytes.empty()) return int64_t{0};
  const bool negative = static_cast<uint8_t>(bytes.back()) >= 0x80;
  for (; bytes.size() > sizeof(int64_t); bytes.remove_suffix(1)) {
    if (bytes.back() != (negative ? '\xff' : '\0')) return {};
  }
  uint64_t number = little_endian(bytes);
  if (bytes.size() < sizeof(int64_t)) {
    if (negative) number |= ~uint64_t{0} << (bytes.size() * 8);
  } else if ((static_cast<uint8_t>(bytes.back()) >= 0x80) != negative) {
    return {};
  }
  return static_cast<int64_t>(number);
}

double big_endian_double(std::string_view bytes) {
  uint64_t bits = 0;
  for (const char byte : bytes) bits = (bits << 8) | static_cast<uint8_t>(byte);
  return std::bit_cast<double>(bits);
}

/// The stack machine. Invariants: marks_ are places in stack_, in rising order; every id on the
/// stack, in the memo and in containers is a place in values_; once there is a problem nothing is
/// carried out any more.
class PickleMachine {
 public:
  explicit PickleMachine(std::string_view bytes) : bytes_(bytes) {}

  ParsedDocument run() {
    while (!done_ && document_.problem.empty()) step();
    if (document_.problem.empty() && !write_out(stack_.back(), 0, document_.value)) {
      document_.value = nullptr;
      fail("it refers to the same parts too often");
    }
    return std::move(document_);
  }

  /// Bytes up to where it stopped.
  size_t used() const { return at_; }

  // What opcodes do, each a row of kOps.

  void fail(std::string problem) {
    if (document_.problem.empty()) document_.problem = std::move(problem);
  }

  /// "BINGET at byte 14" and what is wrong with it.
  void fail_op(std::string_view wrong) {
    fail(fmt::format("{} at byte {} {}", op_name_, op_at_, wrong));
  }

  /// The next `count` bytes; nullopt, with a problem, if they are not there.
  std::optional<std::string_view> take(uint64_t count) {
    if (!document_.problem.empty()) return std::nullopt;
    const size_t left = bytes_.size() - at_;
    if (count > left) {
      fail_op(fmt::format("announces {} bytes, but {} follow", count, left));
      return std::nullopt;
    }
    const std::string_view bytes = bytes_.substr(at_, count);
    at_ += count;
    return bytes;
  }

  /// An unsigned number of `width` bytes: a length or a place in the memo.
  uint64_t length(size_t width) {
    const auto bytes = take(width);
    return bytes ? little_endian(*bytes) : 0;
  }

  /// The rest of the line, as protocol 0 writes its arguments.
  std::string_view line() {
    const size_t end = bytes_.find('\n', at_);
    if (end == bytes_.npos) {
      fail_op("has no end");
      return {};
    }
    const std::string_view text = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return text;
  }

  uint64_t memo_index() {
    const auto index = parse_int(line());
    if (!index || *index < 0) fail_op("names no place");
    return static_cast<uint64_t>(index.value_or(0));
  }

  void check_protocol() {
    const auto version = take(1);
    if (version && static_cast<uint8_t>(version->front()) > 5) {
      fail(fmt::format("pickle protocol {} is not known", static_cast<uint8_t>(version->front())));
    }
  }

  void check_frame() {
    const uint64_t size = length(8);
    const size_t begin = at_;
    if (take(size)) at_ = begin;  // What it holds are opcodes like others.
  }

  void stop() { done_ = need(1); }

  void mark() {
    if (marks_.size() == kMaxNesting) {
      return fail(fmt::format("the pickle nests deeper than {} at byte {}", kMaxNesting, op_at_));
    }
    marks_.push_back(stack_.size());
  }

  /// How many ids lie above the last mark.
  size_t reachable() const { return stack_.size() - (marks_.empty() ? 0 : marks_.back()); }

  bool need(size_t count) {
    if (reachable() >= count) return true;
    fail_op("finds nothing on the stack");
    return false;
  }

  std::vector<ValueId> pop(size_t count) {
    if (!need(count)) return {};
    std::vector<ValueId> ids(stack_.end() - static_cast<ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    return ids;
  }

  std::vector<ValueId> pop_mark() {
    if (marks_.empty()) {
      fail_op("has no MARK before it");
      return {};
    }
    std::vector<ValueId> ids = pop(reachable());
    marks_.pop_back();
    return ids;
  }

  void pop_one() {
    if (reachable() == 0 && !marks_.empty()) {
      marks_.pop_back();
    } else {
      pop(1);
    }
  }

  void push(Value value) {
    if (!document_.problem.empty()) return;
    if (values_.size() == kMaxValues) {
      return fail(fmt::format("the pickle holds more than {} values", kMaxValues));
    }
    stack_.push_back(static_cast<ValueId>(values_.size()));
    values_.push_back(std::move(value));
  }

  void push_signed(uint64_t width) {
    if (const auto bytes = take(width)) push(signed_number(*bytes));
  }

  void push_unsigned(size_t width) { push(static_cast<int64_t>(length(width))); }

  void push_double() {
    if (const auto bytes = take(sizeof(double))) push(big_endian_double(*bytes));
  }

  void push_text(uint64_t size) {
    if (const auto bytes = take(size)) push(*bytes);
  }

  /// The rest of the line, as `decode` reads it.
  void push_decoded(std::optional<std::string> (*decode)(std::string_view)) {
    std::optional<std::string> text = decode(line());
    if (!document_.problem.empty()) return;
    if (!text) return fail_op("is malformed");
    push(std::string_view(decoded_.emplace_back(std::move(*text))));
  }

  void push_int_line() {
    const std::string_view text = trim(line());
    // Protocol 0 and 1 write truth values this way.
    if (text == "00" || text == "01") return push(text == "01");
    push_number(text);
  }

  void push_long_line() {
    std::string_view text = trim(line());
    if (text.ends_with('L')) text.remove_suffix(1);
    push_number(text);
  }

  void push_number(std::string_view text) {
    const auto number = parse_int(text);
    push(number ? Value(*number) : Value());
  }

  void push_float_line() {
    const auto number = parse_decimal(trim(line()));
    push(number ? Value(*number) : Value());
  }

  void push_dict() {
    const std::vector<ValueId> ids = pop_mark();
    push(DictValue{});
    if (document_.problem.empty()) set_items(ids);
  }

  void duplicate() {
    if (need(1)) stack_.push_back(stack_.back());
  }

  void memoize() { put(memo_.size()); }

  void append(const std::vector<ValueId>& ids) {
    if (!need(1)) return;
    auto* list = std::get_if<ListValue>(&values_[stack_.back()]);
    if (list == nullptr) return fail_op("needs a list");
    list->insert(list->end(), ids.begin(), ids.end());
  }

  void set_items(const std::vector<ValueId>& ids) {
    if (!need(1)) return;
    auto* dict = std::get_if<DictValue>(&values_[stack_.back()]);
    if (dict == nullptr) return fail_op("needs a dict");
    if (ids.size() % 2 != 0) return fail_op("has a key without value");
    for (size_t i = 0; i < ids.size(); i += 2) dict->emplace_back(ids[i], ids[i + 1]);
  }

  void put(uint64_t index) {
    if (document_.problem.empty() && need(1)) memo_[index] = stack_.back();
  }

  void get(uint64_t index) {
    if (!document_.problem.empty()) return;
    const auto found = memo_.find(index);
    if (found == memo_.end()) {
      return fail_op(fmt::format("asks for memo {}, which is not set", index));
    }
    stack_.push_back(found->second);
  }

 private:
  void step();

  /// The tree that a value stands for; false if that takes too many steps, or it has no end.
  bool write_out(ValueId id, size_t depth, nlohmann::json& out) {
    const Value& value = values_[id];
    const auto* text = std::get_if<std::string_view>(&value);
    const size_t steps = sizeof(nlohmann::json) + (text == nullptr ? 0 : text->size());
    if (depth > kMaxNesting || steps > steps_left_) return false;
    steps_left_ -= steps;
    if (const auto* list = std::get_if<ListValue>(&value)) {
      out = nlohmann::json::array();
      return std::ranges::all_of(
          *list, [&](ValueId item) { return write_out(item, depth + 1, out.emplace_back()); });
    }
    if (const auto* dict = std::get_if<DictValue>(&value)) {
      out = nlohmann::json::object();
      return std::ranges::all_of(*dict, [&](const auto& pair) {
        nlohmann::json key;
        if (!write_out(pair.first, depth + 1, key)) return false;
        const std::string name(key.is_number_integer() ? key.dump() : text_of(key));
        return write_out(pair.second, depth + 1, out[name]);
      });
    }
    if (const auto* truth = std::get_if<bool>(&value)) out = *truth;
    if (const auto* number = std::get_if<int64_t>(&value)) out = *number;
    if (const auto* real = std::get_if<double>(&value)) out = *real;
    if (text != nullptr) out = *text;
    return true;
  }

  std::string_view bytes_;
  size_t at_ = 0;     ///< Of the next byte.
  size_t op_at_ = 0;  ///< Of the opcode being carried out.
  std::string_view op_name_;
  bool done_ = false;
  ParsedDocument document_;
  std::vector<Value> values_;
  std::deque<std::string> decoded_;  ///< Texts that the file writes with escapes.
  /// Bytes that the tree may take. Honest files take about five a byte.
  size_t steps_left_ = 65536 + 32 * bytes_.size();
  std::vector<ValueId> stack_;
  std::vector<size_t> marks_;
  std::map<uint64_t, ValueId> memo_;  ///< Not hashed: the file chooses the keys.
};

/// An opcode of Python's pickletools.py, protocols 0 to 5 (Python 3.8 and later); the numbers are
/// fixed for all time.
struct OpRow {
  uint8_t code;
  std::string_view name;                ///< As pickletools writes it.
  void (*carry_out)(PickleMachine& m);  ///< nullptr: refused.
  std::string_view refusal = {};        ///< What makes it unfit for plain data.
};

constexpr std::string_view kImports = "imports a name";
constexpr std::string_view kBuilds = "builds an object";
constexpr std::string_view kOutside = "refers to an object outside the file";
constexpr std::string_view kSet = "builds a set";

constexpr OpRow kOps[] = {
    {'(', "MARK", [](PickleMachine& m) { m.mark(); }},
    {'.', "STOP", [](PickleMachine& m) { m.stop(); }},
    {'0', "POP", [](PickleMachine& m) { m.pop_one(); }},
    {'1', "POP_MARK", [](PickleMachine& m) { m.pop_mark(); }},
    {'2', "DUP", [](PickleMachine& m) { m.duplicate(); }},
    {'F', "FLOAT", [](PickleMachine& m) { m.push_float_line(); }},
    {'I', "INT", [](PickleMachine& m) { m.push_int_line(); }},
    {'J', "BININT", [](PickleMachine& m) { m.push_signed(4); }},
    {'K', "BININT1", [](PickleMachine& m) { m.push_unsigned(1); }},
    {'L', "LONG", [](PickleMachine& m) { m.push_long_line(); }},
    {'M', "BININT2", [](PickleMachine& m) { m.push_unsigned(2); }},
    {'N', "NONE", [](PickleMachine& m) { m.push(std::monostate()); }},
    {'P', "PERSID", nullptr, kOutside},
    {'Q', "BINPERSID", nullptr, kOutside},
    {'R', "REDUCE", nullptr, "calls a function"},
    {'S', "STRING", [](PickleMachine& m) { m.push_decoded(decode_python_string); }},
    {'T', "BINSTRING", [](PickleMachine& m) { m.push_text(m.length(4)); }},
    {'U', "SHORT_BINSTRING", [](PickleMachine& m) { m.push_text(m.length(1)); }},
    {'V', "UNICODE", [](PickleMachine& m) { m.push_decoded(decode_raw_unicode); }},
    {'X', "BINUNICODE", [](PickleMachine& m) { m.push_text(m.length(4)); }},
    {'a', "APPEND", [](PickleMachine& m) { m.append(m.pop(1)); }},
    {'b', "BUILD", nullptr, kBuilds},
    {'c', "GLOBAL", nullptr, kImports},
    {'d', "DICT", [](PickleMachine& m) { m.push_dict(); }},
    {'}', "EMPTY_DICT", [](PickleMachine& m) { m.push(DictValue{}); }},
    {'e', "APPENDS", [](PickleMachine& m) { m.append(m.pop_mark()); }},
    {'g', "GET", [](PickleMachine& m) { m.get(m.memo_index()); }},
    {'h', "BINGET", [](PickleMachine& m) { m.get(m.length(1)); }},
    {'i', "INST", nullptr, kBuilds},
    {'j', "LONG_BINGET", [](PickleMachine& m) { m.get(m.length(4)); }},
    {'l', "LIST", [](PickleMachine& m) { m.push(m.pop_mark()); }},
    {']', "EMPTY_LIST", [](PickleMachine& m) { m.push(ListValue{}); }},
    {'o', "OBJ", nullptr, kBuilds},
    {'p', "PUT", [](PickleMachine& m) { m.put(m.memo_index()); }},
    {'q', "BINPUT", [](PickleMachine& m) { m.put(m.length(1)); }},
    {'r', "LONG_BINPUT", [](PickleMachine& m) { m.put(m.length(4)); }},
    {'s', "SETITEM", [](PickleMachine& m) { m.set_items(m.pop(2)); }},
    {'t', "TUPLE", [](PickleMachine& m) { m.push(m.pop_mark()); }},
    {')', "EMPTY_TUPLE", [](PickleMachine& m) { m.push(ListValue{}); }},
    {'u', "SETITEMS", [](PickleMachine& m) { m.set_items(m.pop_mark()); }},
    {'G', "BINFLOAT", [](PickleMachine& m) { m.push_double(); }},
    {'B', "BINBYTES", [](PickleMachine& m) { m.push_text(m.length(4)); }},
    {'C', "SHORT_BINBYTES", [](PickleMachine& m) { m.push_text(m.length(1)); }},
    {0x80, "PROTO", [](PickleMachine& m) { m.check_protocol(); }},
    {0x81, "NEWOBJ", nullptr, kBuilds},
    {0x82, "EXT1", nullptr, kImports},
    {0x83, "EXT2", nullptr, kImports},
    {0x84, "EXT4", nullptr, kImports},
    {0x85, "TUPLE1", [](PickleMachine& m) { m.push(m.pop(1)); }},
    {0x86, "TUPLE2", [](PickleMachine& m) { m.push(m.pop(2)); }},
    {0x87, "TUPLE3", [](PickleMachine& m) { m.push(m.pop(3)); }},
    {0x88, "NEWTRUE", [](PickleMachine& m) { m.push(true); }},
    {0x89, "NEWFALSE", [](PickleMachine& m) { m.push(false); }},
    {0x8a, "LONG1", [](PickleMachine& m) { m.push_signed(m.length(1)); }},
    {0x8b, "LONG4", [](PickleMachine& m) { m.push_signed(m.length(4)); }},
    {0x8c, "SHORT_BINUNICODE", [](PickleMachine& m) { m.push_text(m.length(1)); }},
    {0x8d, "BINUNICODE8", [](PickleMachine& m) { m.push_text(m.length(8)); }},
    {0x8e, "BINBYTES8", [](PickleMachine& m) { m.push_text(m.length(8)); }},
    {0x8f, "EMPTY_SET", nullptr, kSet},
    {0x90, "ADDITEMS", nullptr, kSet},
    {0x91, "FROZENSET", nullptr, kSet},
    {0x92, "NEWOBJ_EX", nullptr, kBuilds},
    {0x93, "STACK_GLOBAL", nullptr, kImports},
    {0x94, "MEMOIZE", [](PickleMachine& m) { m.memoize(); }},
    {0x95, "FRAME", [](PickleMachine& m) { m.check_frame(); }},
    {0x96, "BYTEARRAY8", [](PickleMachine& m) { m.push_text(m.length(8)); }},
    {0x97, "NEXT_BUFFER", nullptr, kOutside},
    {0x98, "READONLY_BUFFER", nullptr, kOutside},
};

void PickleMachine::step() {
  op_at_ = at_;
  if (at_ == bytes_.size()) {
    return fail(fmt::format("the pickle ends after {} bytes without its end marker", at_));
  }
  const auto code = static_cast<uint8_t>(bytes_[at_++]);
  const auto* const op = std::ranges::find(kOps, code, &OpRow::code);
  if (op == std::end(kOps)) {
    return fail(fmt::format("byte {} ({:#04x}) is no pickle opcode", op_at_, code));
  }
  op_name_ = op->name;
  if (!op->refusal.empty()) {
    return fail_op(fmt::format("{}, which plain data never does", op->refusal));
  }
  op->carry_out(*this);
}

}  // namespace

ParsedDocument read_pickle(std::string_view bytes, size_t* used) {
  PickleMachine machine(bytes);
  ParsedDocument document = machine.run();
  if (used != nullptr) *used = machine.used();
  return document;
}

}  // namespace ncclog

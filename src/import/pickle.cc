#include "import/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <iterator>
#include <map>
#include <span>

#include "base/text.h"

namespace ncclog {
namespace {

struct OpRow {
  uint8_t code;
  std::string_view name;
  std::string_view refusal = {};
};

constexpr std::string_view kImports = "imports a name";
constexpr std::string_view kBuilds = "builds an object";
constexpr std::string_view kOutside = "refers to an object outside the file";
constexpr std::string_view kSet = "builds a set";

constexpr OpRow kOps[] = {
    {'(', "MARK"},
    {'.', "STOP"},
    {'0', "POP"},
    {'1', "POP_MARK"},
    {'2', "DUP"},
    {'F', "FLOAT"},
    {'I', "INT"},
    {'J', "BININT"},
    {'K', "BININT1"},
    {'L', "LONG"},
    {'M', "BININT2"},
    {'N', "NONE"},
    {'P', "PERSID", kOutside},
    {'Q', "BINPERSID", kOutside},
    {'R', "REDUCE", "calls a function"},
    {'S', "STRING"},
    {'T', "BINSTRING"},
    {'U', "SHORT_BINSTRING"},
    {'V', "UNICODE"},
    {'X', "BINUNICODE"},
    {'a', "APPEND"},
    {'b', "BUILD", kBuilds},
    {'c', "GLOBAL", kImports},
    {'d', "DICT"},
    {'}', "EMPTY_DICT"},
    {'e', "APPENDS"},
    {'g', "GET"},
    {'h', "BINGET"},
    {'i', "INST", kBuilds},
    {'j', "LONG_BINGET"},
    {'l', "LIST"},
    {']', "EMPTY_LIST"},
    {'o', "OBJ", kBuilds},
    {'p', "PUT"},
    {'q', "BINPUT"},
    {'r', "LONG_BINPUT"},
    {'s', "SETITEM"},
    {'t', "TUPLE"},
    {')', "EMPTY_TUPLE"},
    {'u', "SETITEMS"},
    {'G', "BINFLOAT"},
    {'B', "BINBYTES"},
    {'C', "SHORT_BINBYTES"},
    {0x80, "PROTO"},
    {0x81, "NEWOBJ", kBuilds},
    {0x82, "EXT1", kImports},
    {0x83, "EXT2", kImports},
    {0x84, "EXT4", kImports},
    {0x85, "TUPLE1"},
    {0x86, "TUPLE2"},
    {0x87, "TUPLE3"},
    {0x88, "NEWTRUE"},
    {0x89, "NEWFALSE"},
    {0x8a, "LONG1"},
    {0x8b, "LONG4"},
    {0x8c, "SHORT_BINUNICODE"},
    {0x8d, "BINUNICODE8"},
    {0x8e, "BINBYTES8"},
    {0x8f, "EMPTY_SET", kSet},
    {0x90, "ADDITEMS", kSet},
    {0x91, "FROZENSET", kSet},
    {0x92, "NEWOBJ_EX", kBuilds},
    {0x93, "STACK_GLOBAL", kImports},
    {0x94, "MEMOIZE"},
    {0x95, "FRAME"},
    {0x96, "BYTEARRAY8"},
    {0x97, "NEXT_BUFFER", kOutside},
    {0x98, "READONLY_BUFFER", kOutside},
};

const OpRow* find_op(uint8_t code) {
  const auto* found = std::find_if(std::begin(kOps), std::end(kOps),
                                   [code](const OpRow& row) { return row.code == code; });
  return found == std::end(kOps) ? nullptr : found;
}

}  // namespace

std::string_view pickle_op_name(uint8_t code) {
  const OpRow* row = find_op(code);
  return row == nullptr ? std::string_view() : row->name;
}

std::string_view pickle_op_refusal(uint8_t code) {
  const OpRow* row = find_op(code);
  return row == nullptr ? std::string_view() : row->refusal;
}

namespace {

void append_utf8(uint32_t code, std::string& out) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

/// Exactly `digits` hexadecimal digits at the start of `text`.
std::optional<uint32_t> hex_digits(std::string_view text, size_t digits) {
  if (text.size() < digits) return std::nullopt;
  uint32_t code = 0;
  for (const char c : text.substr(0, digits)) {
    if (!is_hex_digit(c)) return std::nullopt;
    code = code * 16 + static_cast<uint32_t>(is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
  }
  return code;
}

/// Letters that stand for one character after a backslash; 0 for others.
char simple_escape(char letter) {
  constexpr std::string_view kLetters = "\\'\"abfnrtv";
  constexpr std::string_view kMeant = "\\'\"\a\b\f\n\r\t\v";
  const size_t at = kLetters.find(letter);
  return at == kLetters.npos ? '\0' : kMeant[at];
}

}  // namespace

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

std::optional<std::string> decode_raw_unicode(std::string_view escaped) {
  std::string out;
  while (!escaped.empty()) {
    const bool is_short = escaped.starts_with("\\u");
    if (!is_short && !escaped.starts_with("\\U")) {
      append_utf8(static_cast<uint8_t>(escaped.front()), out);
      escaped.remove_prefix(1);
      continue;
    }
    const size_t digits = is_short ? 4 : 8;
    const auto code = hex_digits(escaped.substr(2), digits);
    if (!code || *code > 0x10FFFF) return std::nullopt;
    append_utf8(*code, out);
    escaped.remove_prefix(2 + digits);
  }
  return out;
}

namespace {

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
/// stack, in the memo and in containers is a place in document_.values; once there is a problem
/// nothing is carried out any more.
class PickleMachine {
 public:
  explicit PickleMachine(std::string_view bytes) : bytes_(bytes) {}

  ParsedDocument run() {
    while (!done_ && document_.problem.empty()) step();
    return std::move(document_);
  }

 private:
  void step() {
    op_at_ = at_;
    if (at_ == bytes_.size()) {
      return fail(fmt::format("the pickle ends after {} bytes without its end marker", at_));
    }
    code_ = static_cast<uint8_t>(bytes_[at_++]);
    if (const std::string_view refusal = pickle_op_refusal(code_); !refusal.empty()) {
      return fail(fmt::format("{} at byte {} {}, which plain data never does",
                              pickle_op_name(code_), op_at_, refusal));
    }
    carry_out(static_cast<PickleOp>(code_));
  }

  void carry_out(PickleOp op) {
    switch (op) {
      case PickleOp::Proto:
        return check_protocol();
      case PickleOp::Frame:
        return check_frame();
      case PickleOp::Stop:
        return stop();
      case PickleOp::Mark:
        return mark();
      case PickleOp::Pop:
        return pop_one();
      case PickleOp::PopMark:
        pop_mark();
        return;
      case PickleOp::Dup:
        if (need(1)) push_id(stack_.back());
        return;
      case PickleOp::None:
        return push(std::monostate());
      case PickleOp::NewTrue:
        return push(true);
      case PickleOp::NewFalse:
        return push(false);
      case PickleOp::BinInt:
        return push_signed(4);
      case PickleOp::BinInt1:
        return push_unsigned(1);
      case PickleOp::BinInt2:
        return push_unsigned(2);
      case PickleOp::Long1:
        return push_signed(length(1));
      case PickleOp::Long4:
        return push_signed(length(4));
      case PickleOp::Int:
        return push_int_line();
      case PickleOp::Long:
        return push_long_line();
      case PickleOp::Float:
        return push_float_line();
      case PickleOp::BinFloat:
        if (const auto bytes = take(sizeof(double))) push(big_endian_double(*bytes));
        return;
      case PickleOp::String:
        return push_decoded(decode_python_string(line()));
      case PickleOp::Unicode:
        return push_decoded(decode_raw_unicode(line()));
      case PickleOp::ShortBinString:
      case PickleOp::ShortBinBytes:
      case PickleOp::ShortBinUnicode:
        return push_text(length(1));
      case PickleOp::BinString:
      case PickleOp::BinBytes:
      case PickleOp::BinUnicode:
        return push_text(length(4));
      case PickleOp::BinUnicode8:
      case PickleOp::BinBytes8:
      case PickleOp::ByteArray8:
        return push_text(length(8));
      case PickleOp::EmptyList:
      case PickleOp::EmptyTuple:
        return push(ListValue{});
      case PickleOp::EmptyDict:
        return push(DictValue{});
      case PickleOp::Tuple1:
        return push_list(1);
      case PickleOp::Tuple2:
        return push_list(2);
      case PickleOp::Tuple3:
        return push_list(3);
      case PickleOp::List:
      case PickleOp::Tuple:
        return push(ListValue{pop_mark()});
      case PickleOp::Dict:
        push(DictValue{});
        return dict_from_mark();
      case PickleOp::Append:
        return append(pop(1));
      case PickleOp::Appends:
        return append(pop_mark());
      case PickleOp::SetItem:
        return set_items(pop(2));
      case PickleOp::SetItems:
        return set_items(pop_mark());
      case PickleOp::Get:
        return get(memo_index());
      case PickleOp::BinGet:
        return get(length(1));
      case PickleOp::LongBinGet:
        return get(length(4));
      case PickleOp::Put:
        return put(memo_index());
      case PickleOp::BinPut:
        return put(length(1));
      case PickleOp::LongBinPut:
        return put(length(4));
      case PickleOp::Memoize:
        return put(memo_.size());
    }
    fail(fmt::format("byte {} ({:#04x}) is no pickle opcode", op_at_, code_));
  }

  void fail(std::string problem) {
    if (document_.problem.empty()) document_.problem = std::move(problem);
  }

  /// The next `count` bytes; nullopt, with a problem, if they are not there.
  std::optional<std::string_view> take(uint64_t count) {
    if (!document_.problem.empty()) return std::nullopt;
    const size_t left = bytes_.size() - at_;
    if (count > left) {
      fail(fmt::format("{} at byte {} announces {} bytes, but {} follow", pickle_op_name(code_),
                       op_at_, count, left));
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
      fail(fmt::format("{} at byte {} has no end", pickle_op_name(code_), op_at_));
      return {};
    }
    const std::string_view text = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return text;
  }

  uint64_t memo_index() {
    const auto index = parse_int(line());
    if (!index || *index < 0)
      fail(fmt::format("{} at byte {} names no place", pickle_op_name(code_), op_at_));
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
    if (document_.problem.empty() && size > bytes_.size() - at_) {
      fail(fmt::format("FRAME at byte {} announces {} bytes, but {} follow", op_at_, size,
                       bytes_.size() - at_));
    }
  }

  void stop() {
    if (!need(1)) return;
    document_.root = stack_.back();
    done_ = true;
  }

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
    fail(fmt::format("{} at byte {} finds nothing on the stack", pickle_op_name(code_), op_at_));
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
      fail(fmt::format("{} at byte {} has no MARK before it", pickle_op_name(code_), op_at_));
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

  void push_id(ValueId id) { stack_.push_back(id); }

  void push(Value value) {
    if (!document_.problem.empty()) return;
    if (document_.values.size() == kMaxValues) {
      return fail(fmt::format("the pickle holds more than {} values", kMaxValues));
    }
    push_id(static_cast<ValueId>(document_.values.size()));
    document_.values.push_back(std::move(value));
  }

  void push_signed(uint64_t width) {
    if (const auto bytes = take(width)) push(signed_number(*bytes));
  }

  void push_unsigned(size_t width) {
    if (const auto bytes = take(width)) push(static_cast<int64_t>(little_endian(*bytes)));
  }

  void push_text(uint64_t size) {
    if (const auto bytes = take(size)) push(*bytes);
  }

  void push_decoded(std::optional<std::string> text) {
    if (!document_.problem.empty()) return;
    if (!text)
      return fail(fmt::format("{} at byte {} is malformed", pickle_op_name(code_), op_at_));
    push(std::string_view(document_.decoded.emplace_back(std::move(*text))));
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
    const std::string_view text = trim(line());
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    push(error == std::errc() && end == text.data() + text.size() ? Value(number) : Value());
  }

  void push_list(size_t count) { push(ListValue{pop(count)}); }

  void dict_from_mark() {
    if (!document_.problem.empty()) return;
    const ValueId dict = stack_.back();
    stack_.pop_back();
    const std::vector<ValueId> ids = pop_mark();
    push_id(dict);
    set_items(ids);
  }

  void append(const std::vector<ValueId>& ids) {
    if (!need(1)) return;
    auto* list = std::get_if<ListValue>(&document_.values[stack_.back()]);
    if (list == nullptr) return fail_target("list");
    list->items.insert(list->items.end(), ids.begin(), ids.end());
  }

  void set_items(const std::vector<ValueId>& ids) {
    if (!need(1)) return;
    auto* dict = std::get_if<DictValue>(&document_.values[stack_.back()]);
    if (dict == nullptr) return fail_target("dict");
    if (ids.size() % 2 != 0) {
      return fail(
          fmt::format("{} at byte {} has a key without value", pickle_op_name(code_), op_at_));
    }
    for (size_t i = 0; i < ids.size(); i += 2) dict->members.emplace_back(ids[i], ids[i + 1]);
  }

  void fail_target(std::string_view kind) {
    fail(fmt::format("{} at byte {} needs a {}", pickle_op_name(code_), op_at_, kind));
  }

  void put(uint64_t index) {
    if (document_.problem.empty() && need(1)) memo_[index] = stack_.back();
  }

  void get(uint64_t index) {
    if (!document_.problem.empty()) return;
    const auto found = memo_.find(index);
    if (found == memo_.end()) {
      return fail(fmt::format("{} at byte {} asks for memo {}, which is not set",
                              pickle_op_name(code_), op_at_, index));
    }
    push_id(found->second);
  }

  std::string_view bytes_;
  size_t at_ = 0;     ///< Of the next byte.
  size_t op_at_ = 0;  ///< Of the opcode being carried out.
  uint8_t code_ = 0;  ///< That opcode.
  bool done_ = false;
  ParsedDocument document_;
  std::vector<ValueId> stack_;
  std::vector<size_t> marks_;
  std::map<uint64_t, ValueId> memo_;  ///< Not hashed: the file chooses the keys.
};

}  // namespace

ParsedDocument read_pickle(std::string_view bytes) { return PickleMachine(bytes).run(); }

}  // namespace ncclog

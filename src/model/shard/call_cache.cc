#include "model/shard/call_cache.h"

#include <cstring>
#include <experimental/simd>
#include <limits>

#include "base/text.h"
#include "log/messages.h"

namespace ncclog {
namespace {

namespace stdx = std::experimental;

constexpr size_t kMaxStamp = 64;
constexpr size_t kMaxHead = 160;
constexpr size_t kMaxOperation = 32;
constexpr size_t kMinTail = 64;  ///< "count", "datatype", "op", "root", "comm", "nranks", "stream".
constexpr size_t kMaxTail = 192;
constexpr size_t kMaxOperations = 32;
constexpr std::string_view kOpCount = ": opCount ";

constexpr std::string_view kInfoAnchor = "] NCCL INFO ";
constexpr std::string_view kSend = " sendbuff ";
constexpr std::string_view kReceive = " recvbuff ";
constexpr std::string_view kCount = " count ";
constexpr std::string_view kComm = " comm ";
constexpr std::string_view kNil = "(nil)";

/// What stands before the tail: numbers have 16 digits at most.
constexpr size_t kMaxNumbers = 3 * 18 + kSend.size() + kReceive.size();
static_assert(kMaxStamp + kMaxHead + kInfoAnchor.size() + kMaxOperation + kMaxNumbers + kMaxTail <=
              CallCache::kMaxLineBytes);

inline uint64_t load(const char* text) {
  uint64_t word = 0;
  std::memcpy(&word, text, sizeof(word));
  return word;
}

/// Of a literal the length is known here, so that comparing it is two or three instructions.
[[gnu::always_inline]] inline bool starts_with(const char* text, std::string_view literal) {
  return std::memcmp(text, literal.data(), literal.size()) == 0;
}

/// The same for a few words of text; at least eight bytes.
[[gnu::always_inline]] inline bool starts_with_words(const char* text, std::string_view words) {
  const size_t last = words.size() - sizeof(uint64_t);
  for (size_t at = 0; at < last; at += sizeof(uint64_t)) {
    if (load(text + at) != load(words.data() + at)) return false;
  }
  return load(text + last) == load(words.data() + last);
}

/// How many hexadecimal digits begin `text`, up to 16. 16 bytes are read.
[[gnu::always_inline]] inline size_t hex_digits(const char* text) {
  using Bytes = stdx::native_simd<uint8_t>;
  static_assert(Bytes::size() >= 16);
  const Bytes bytes(reinterpret_cast<const uint8_t*>(text), stdx::element_aligned);
  const auto is_hex = bytes - uint8_t{'0'} < uint8_t{10} || bytes - uint8_t{'a'} < uint8_t{6};
  const size_t length =
      stdx::all_of(is_hex) ? Bytes::size() : static_cast<size_t>(stdx::find_first_set(!is_hex));
  return std::min<size_t>(length, 16);
}

/// Where the digits of opCount and of the buffers stand in "1a sendbuff 0x7f3e recvbuff 0x7f9e", as
/// CachedCall::digits.
std::string mark_digits(std::string_view numbers) {
  constexpr size_t kStep = stdx::native_simd<uint8_t>::size();
  std::string marks((numbers.size() + kStep - 1) / kStep * kStep, '\0');
  size_t word = 0;
  for (size_t at = 0; at < numbers.size(); ++at) {
    if (numbers[at] == ' ') ++word;
    const bool is_prefix = numbers.substr(at).starts_with("0x");
    if (word % 2 == 0 && is_hex_digit(numbers[at]) && !is_prefix) marks[at] = '\xff';
  }
  return marks;
}

/// True if the line at `text` differs from the call's sample in digits of opCount and buffers only.
[[gnu::always_inline]] inline bool is_like(const char* text, const CachedCall& call) {
  using Bytes = stdx::native_simd<uint8_t>;
  static_assert(Bytes::size() <= kMinTail, "the last bytes that are looked at are the line's own");
  const auto load_bytes = [](const char* from) {
    return Bytes(reinterpret_cast<const uint8_t*>(from), stdx::element_aligned);
  };
  const char* const known = call.sample.data();
  if (std::memcmp(text, known, call.numbers) != 0) return false;
  Bytes wrong = 0;
  for (size_t i = 0; i < call.digits.size(); i += Bytes::size()) {
    const Bytes bytes = load_bytes(text + call.numbers + i);
    const auto is_hex = bytes - uint8_t{'0'} < uint8_t{10} || bytes - uint8_t{'a'} < uint8_t{6};
    Bytes may_differ = load_bytes(call.digits.data() + i);
    stdx::where(!is_hex, may_differ) = 0;
    wrong |= (bytes ^ load_bytes(known + call.numbers + i)) & ~may_differ;
  }
  const size_t rest = call.numbers + call.digits.size();
  return stdx::all_of(wrong == 0) &&
         std::memcmp(text + rest, known + rest, call.sample.size() - rest) == 0;
}

/// Behind the pointer at `text`; nullptr if none stands there.
[[gnu::always_inline]] inline const char* behind_pointer(const char* text) {
  if (text[0] == '0' && text[1] == 'x') {
    const size_t digits = hex_digits(text + 2);
    return digits > 0 ? text + 2 + digits : nullptr;
  }
  return starts_with(text, kNil) ? text + kNil.size() : nullptr;
}

/// Behind "1a sendbuff 0x7f3e recvbuff 0x7f9e"; nullptr if `text` begins with anything else.
inline const char* behind_buffers(const char* text) {
  const size_t op_count = hex_digits(text);
  if (op_count == 0 || !starts_with(text + op_count, kSend)) return nullptr;
  const char* send = behind_pointer(text + op_count + kSend.size());
  if (send == nullptr || !starts_with(send, kReceive)) return nullptr;
  return behind_pointer(send + kReceive.size());
}

/// Reads " count 1024" or the like into `number`; behind it. nullptr if it is none, or too long to
/// be sure that it fits.
template <typename Number>
[[gnu::always_inline]] inline const char* behind_number(const char* text, std::string_view name,
                                                        Number& number) {
  constexpr size_t kMost = std::numeric_limits<Number>::digits10;
  if (!starts_with(text, name)) return nullptr;
  text += name.size();
  number = 0;
  size_t digits = 0;
  for (; digits <= kMost && is_digit(text[digits]); ++digits) {
    number = number * 10 + (text[digits] - '0');
  }
  return digits == 0 || digits > kMost ? nullptr : text + digits;
}

/// Reads " count 1024 datatype 7 op 0 root 0" into `call`; behind it. nullptr if that is not what
/// stands there.
inline const char* behind_numbers(const char* tail, CallSignature& call) {
  tail = behind_number(tail, kCount, call.count);
  if (tail != nullptr) tail = behind_number(tail, " datatype ", call.datatype);
  if (tail != nullptr) tail = behind_number(tail, " op ", call.redop);
  return tail == nullptr ? nullptr : behind_number(tail, " root ", call.root);
}

/// The "]" before " NCCL INFO "; nullptr if there is none where heads end. `guess` is where it
/// stood the last time.
const char* end_of_head(const char* line, size_t guess) {
  if (starts_with(line + guess, kInfoAnchor)) return line + guess;
  const char* const end = line + kMaxHead;
  for (const char* at = line; at < end; ++at) {
    at = static_cast<const char*>(std::memchr(at, ']', static_cast<size_t>(end - at)));
    if (at == nullptr || starts_with(at, kInfoAnchor)) return at;
  }
  return nullptr;
}

[[gnu::always_inline]] inline uint64_t hash_of_head(std::string_view text) {
  constexpr uint64_t kMix = 0x9e3779b97f4a7c15U;
  uint64_t hash = text.size();
  for (size_t at = 0; at + 8 < text.size(); at += 8) hash = (hash ^ load(text.data() + at)) * kMix;
  hash = (hash ^ load(text.data() + text.size() - 8)) * kMix;
  return hash ^ (hash >> 32);
}

/// Of the numbers at the beginning of a tail. Those that differ only behind are few.
[[gnu::always_inline]] inline uint64_t hash_of_tail(size_t operation, const char* tail) {
  constexpr std::array<uint64_t, 6> kMix = {0x9e3779b97f4a7c15U, 0xbf58476d1ce4e5b9U,
                                            0x94d049bb133111ebU, 0xd6e8feb86659fd93U,
                                            0xff51afd7ed558ccdU, 0xc4ceb9fe1a85ec53U};
  uint64_t hash = operation * 0x9fb21c651e98df25U;
  for (size_t i = 0; i < kMix.size(); ++i) hash += load(tail + kCount.size() + 8 * i) * kMix[i];
  return hash ^ (hash >> 32);
}

/// True if only digits differ.
bool has_shape(const char* text, std::string_view shape) {
  if (starts_with(text, shape)) return true;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (text[i] != shape[i] && !(is_digit(text[i]) && is_digit(shape[i]))) return false;
  }
  return true;
}

bool is_printable_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

bool is_usual_call(const Event& event) {
  const Header& header = event.header;
  const bool is_call =
      event.fate == LineFate::Recognised && event.message.kind->index == kKindIndex<CollectiveCall>;
  return is_call && header.level == Level::Info && !header.host.empty() && header.pid >= 0 &&
         header.file.empty() && !header.torn && !header.anchored_twice && header.repeated == 0 &&
         header.unexplained.empty() && header.prefix.progress_title.empty();
}

size_t CallCache::find(std::string_view bytes, CachedCallLine& line) {
  if (bytes.size() < kMaxLineBytes || calls_.empty()) return 0;
  if (!stamp_.empty() && !has_shape(bytes.data(), stamp_)) return 0;
  const char* const begin = bytes.data() + stamp_.size();
  const char* const close = end_of_head(begin, head_size_);
  if (close == nullptr) return 0;
  head_size_ = static_cast<size_t>(close - begin);
  const std::string_view head(begin, static_cast<size_t>(close + 1 - begin));
  if (head.size() < sizeof(uint64_t)) return 0;
  CachedCall* call = foresee(head);
  if (call == nullptr) return find_unforeseen(head, bytes, line);
  const size_t length = stamp_.size() + call->sample.size();
  line = {call, bytes.substr(0, length - 1), stamp_.size()};
  return length;
}

/// The call that the line behind the head is about, if it comes behind the last one of its process
/// as it did before.
CachedCall* CallCache::foresee(std::string_view text) {
  // The sample shows whether it is that head.
  CachedHead* head = head_places_.find(hash_of_head(text), [](const CachedHead&) { return true; });
  if (head == nullptr || head->last == nullptr) return nullptr;
  auto& [first, second] = head->last->next;
  if (first == nullptr) return nullptr;
  if (!is_like(text.data(), *first)) {
    if (second == nullptr || !is_like(text.data(), *second)) return nullptr;
    std::swap(first, second);
  }
  head->last = first;
  return first;
}

size_t CallCache::find_unforeseen(std::string_view text, std::string_view bytes,
                                  CachedCallLine& line) {
  // `text` ends with the "]" with which the anchor begins.
  const char* const message = text.data() + text.size() - 1 + kInfoAnchor.size();
  const Operation* operation = operation_at(message);
  CachedHead* head = operation == nullptr ? nullptr : head_at(text);
  if (head == nullptr) return 0;
  const char* const numbers = message + operation->text.size();
  const char* const tail = behind_buffers(numbers);
  if (tail == nullptr) return 0;
  const auto place = static_cast<size_t>(operation - operations_.data());
  CachedCall* call = call_at(*head, place, tail);
  const bool is_known = call != nullptr;
  const size_t rest = is_known ? call->tail.size() : find_shape(*head, place, tail, call);
  if (rest == 0) return 0;
  const size_t length = static_cast<size_t>(tail - bytes.data()) + rest;
  line = {call, bytes.substr(0, length - 1), stamp_.size()};
  if (is_known) {
    note(*head, *call, bytes.substr(stamp_.size(), length - stamp_.size()),
         static_cast<size_t>(numbers - text.data()), static_cast<size_t>(tail - text.data()));
  }
  return length;
}

/// Foresees from now on what the line shows.
void CallCache::note(CachedHead& head, CachedCall& call, std::string_view line, size_t numbers,
                     size_t tail) {
  if (call.sample.empty()) {
    if (samples_ == kMaxSamples) return;
    ++samples_;
  }
  if (head.last != nullptr && head.last->next[0] != &call) {
    head.last->next = {&call, head.last->next[0]};
  }
  head.last = &call;
  call.sample = line;
  call.numbers = numbers;
  call.digits = mark_digits(line.substr(numbers, tail - numbers));
}

CachedHead* CallCache::head_at(std::string_view text) {
  return head_places_.find(hash_of_head(text), [&](const CachedHead& head) {
    return head.text.size() == text.size() && starts_with_words(text.data(), head.text);
  });
}

CachedHead* CallCache::find_or_add_head(std::string_view text, size_t prefix,
                                        const Header& header) {
  if (text.size() < sizeof(uint64_t)) return nullptr;
  if (CachedHead* head = head_at(text); head != nullptr) return head;
  if (heads_.size() == kMaxHeads) return nullptr;
  CachedHead& head = heads_.emplace_back(
      CachedHead{std::string(text), std::string(header.host), header.pid, prefix});
  head_places_.add(hash_of_head(text), head);
  return &head;
}

const CallCache::Operation* CallCache::operation_at(const char* text) const {
  const uint64_t word = load(text);
  for (const Operation& operation : operations_) {
    if (operation.word == word && starts_with_words(text, operation.text)) return &operation;
  }
  return nullptr;
}

/// Place of the operation; kMaxOperations if there is no room for it.
size_t CallCache::find_or_add_operation(std::string_view text) {
  const auto known =
      std::ranges::find_if(operations_, [&](const Operation& one) { return one.text == text; });
  const auto place = static_cast<size_t>(known - operations_.begin());
  if (place == operations_.size() && place < kMaxOperations) {
    operations_.push_back({std::string(text), load(text.data())});
  }
  return place;
}

CachedCall* CallCache::call_at(const CachedHead& head, size_t operation, const char* tail) const {
  return head.calls.find(hash_of_tail(operation, tail), [&](const CachedCall& call) {
    return call.operation == operation && starts_with(tail, call.tail);
  });
}

void CallCache::learn(std::string_view text, const Event& event) {
  if (!is_usual_call(event) || text.size() + 1 > kMaxLineBytes || !is_printable_ascii(text)) return;
  const Header& header = event.header;
  const bool is_stamped = !header.prefix.time.empty();
  // The digits of a prefix that holds a time are not looked at again; they must name nobody.
  if (is_stamped && (header.prefix.rank >= 0 || header.prefix.local_rank >= 0)) return;
  const std::string_view stamp = text.substr(0, is_stamped ? header.prefix.length : 0);
  if (stamp.size() > kMaxStamp) return;
  // What is looked at may reach behind the line.
  std::array<char, kMaxLineBytes + sizeof(uint64_t)* 8> line = {};
  text.copy(line.data(), text.size());
  line[text.size()] = '\n';
  const char* const begin = line.data() + stamp.size();
  const char* const close = end_of_head(begin, 0);
  if (close == nullptr) return;
  const char* const message = close + kInfoAnchor.size();
  if (message - line.data() != header.message.data() - text.data()) return;
  const std::string_view operation =
      header.message.substr(0, header.message.find(kOpCount) + kOpCount.size());
  if (operation.size() < kOpCount.size() || operation.size() > kMaxOperation) return;
  const char* const tail = behind_buffers(message + operation.size());
  if (tail == nullptr || !starts_with(tail, kCount)) return;
  const std::string_view rest(tail, static_cast<size_t>(line.data() + text.size() + 1 - tail));
  if (rest.size() < kMinTail || rest.size() > kMaxTail) return;
  const size_t prefix = static_cast<size_t>(header.host.data() - text.data()) - stamp.size();
  CachedHead* head =
      find_or_add_head({begin, static_cast<size_t>(close + 1 - begin)}, prefix, header);
  if (head != nullptr) add(*head, operation, rest, event);
  stamp_ = stamp;
}

void CallCache::add(CachedHead& head, std::string_view operation_text, std::string_view tail,
                    const Event& event) {
  const size_t operation = find_or_add_operation(operation_text);
  if (operation == kMaxOperations || calls_.size() == kMaxCalls) return;
  const bool is_known = call_at(head, operation, tail.data()) != nullptr;
  if (!is_known && head.calls.size() < kMaxCallsOfHead) {
    add_call(head, operation, tail, *read_call(event));
  }
}

CachedCall& CallCache::add_call(CachedHead& head, size_t operation, std::string_view tail,
                                const PrintedCall& call) {
  const size_t comm = std::min(tail.find(kComm), tail.size());
  CachedCall& added =
      calls_.emplace_back(CachedCall{&head, operation, std::string(tail), call, comm});
  head.calls.add(hash_of_tail(operation, tail.data()), added);
  const auto has_shape_of = [&](const CachedCall* shape) {
    return shape->operation == operation &&
           std::string_view(shape->tail).substr(shape->comm) == tail.substr(comm);
  };
  if (head.shapes.size() < kMaxShapesOfHead && std::ranges::none_of(head.shapes, has_shape_of)) {
    head.shapes.push_back(&added);
  }
  return added;
}

/// Finds a call from whose line the one with that tail differs in numbers alone, and makes `call`
/// what the line says; the length of the tail, 0 if there is none. Learns it while there is room.
size_t CallCache::find_shape(CachedHead& head, size_t operation, const char* tail,
                             CachedCall*& call) {
  CallSignature said;
  const char* const end = behind_numbers(tail, said);
  if (end == nullptr) return 0;
  for (CachedCall* shape : head.shapes) {
    if (shape->operation != operation) continue;
    const std::string_view text = std::string_view(shape->tail).substr(shape->comm);
    if (!starts_with(end, text)) continue;
    const size_t length = static_cast<size_t>(end - tail) + text.size();
    if (length < kMinTail || length > kMaxTail) return 0;
    said.op = shape->call.call.op;
    PrintedCall read = shape->call;
    read.call = said;
    if (head.calls.size() < kMaxCallsOfHead && calls_.size() < kMaxCalls) {
      call = &add_call(head, operation, {tail, length}, read);
    } else {
      call = &others_.emplace_back(CachedCall{.head = &head, .call = read, .shape = shape});
    }
    return length;
  }
  return 0;
}

}  // namespace ncclog

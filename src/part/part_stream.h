// A part's values as a row of frames, each an array of CBOR (RFC 8949) behind its length.
//
//   length  [kind, texts …, numbers …]
//
//   Texts      texts that later frames name by their numbers, in order of first use
//   Heads      what stands before kept lines, with its level
//   Messages   the messages of kept lines, with hash and wording
//   others     what carry() made of a value; its texts are numbers
//
// Ranks print the same few texts, so each stands once in a part, and what a frame holds besides is
// small numbers that pack well. The last frame counts the others and holds their checksum.

#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/line.h"
#include "model/record_lists.h"
#include "model/records.h"

namespace ncclog {

/// What a frame holds. Numbers in files: never reused.
enum class FrameKind : uint8_t {
  Header,
  Texts,
  Heads,
  Messages,
  Input,
  Speaker,
  Request,
  Reply,
  End,
};

/// Writes frames. `out` must outlive it; whether it could write is for its owner to ask.
class PartWriter {
 public:
  static constexpr bool kReads = false;

  explicit PartWriter(std::ostream& out) : out_(out) {}
  PartWriter(const PartWriter&) = delete;
  PartWriter& operator=(const PartWriter&) = delete;

  // What carry() asks of it.
  void number(uint64_t number) { numbers_.push_back(number); }
  void text(const std::string& text);
  void size(size_t count) { numbers_.push_back(count); }
  void unit(uint64_t number) { numbers_.push_back(number); }
  void input(uint64_t number) { numbers_.push_back(number); }
  void place(const SourceRef& where);
  void head(const boost::intrusive_ptr<const LineHead>& head);
  void message(const boost::intrusive_ptr<const RecordText>& message);
  bool is_pattern(uint16_t) const { return true; }

  /// Writes what was carried since the last frame.
  void end_frame(FrameKind kind);

  /// Writes the last frame.
  void finish();

 private:
  void write_frame(FrameKind kind, std::vector<std::string>& texts, std::vector<uint64_t>& numbers);

  std::ostream& out_;
  std::vector<uint64_t> numbers_;
  std::unordered_map<std::string, uint64_t> texts_;
  std::vector<std::string> new_texts_;
  /// By pointer; what they point to is held, so that no other takes its place.
  std::unordered_map<boost::intrusive_ptr<const LineHead>, uint64_t> heads_;
  std::vector<boost::intrusive_ptr<const LineHead>> new_heads_;
  std::unordered_map<boost::intrusive_ptr<const RecordText>, uint64_t> messages_;
  std::unordered_map<std::string, uint64_t> messages_by_text_;
  std::vector<boost::intrusive_ptr<const RecordText>> new_messages_;
  uint64_t frames_ = 0;
  uint64_t checksum_ = 0;
};

/// The frames that came before, as later ones name their parts.
struct PartTables {
  std::vector<std::string> texts;
  std::vector<boost::intrusive_ptr<const LineHead>> heads;
  std::vector<boost::intrusive_ptr<const RecordText>> messages;
};

/// Where what a frame holds stands in the run that reads it.
struct PartPlace {
  uint64_t units = 0;       ///< Of the input that was scanned, which numbers them from 1.
  uint64_t first_unit = 1;  ///< Index of the first of them.
  uint64_t input = 1;       ///< Index of the input.
};

/// Takes values out of a frame. Once it has failed, what it gives means nothing.
class PartReader {
 public:
  static constexpr bool kReads = true;

  /// `frame` as FrameReader gives it; `patterns` of the line matcher. `tables` and `trie` must
  /// outlive it; a frame without speakers needs no trie.
  PartReader(std::string_view frame, const PartTables& tables, size_t patterns,
             const PartPlace& place, SharedTrie* trie = nullptr);

  // What carry() asks of it.
  void number(uint64_t& number);
  void text(std::string& text);
  void size(size_t& count);
  void unit(uint64_t& number);
  void input(uint64_t& number);
  void place(SourceRef& where);
  void head(boost::intrusive_ptr<const LineHead>& head);
  void message(boost::intrusive_ptr<const RecordText>& message);
  SharedTrie& trie() { return *trie_; }
  bool is_pattern(uint16_t key) const { return key < patterns_; }
  /// More elements than the frame has numbers cannot follow.
  int most_elements() const { return static_cast<int>(numbers_.size()); }
  bool failed() const { return failed_; }
  void fail() { failed_ = true; }

  /// Whether all was taken out of it, and nothing failed.
  bool is_done() const { return !failed_ && at_ == numbers_.size(); }

 private:
  std::vector<uint64_t> numbers_;
  size_t at_ = 0;
  const PartTables& tables_;
  size_t patterns_;
  PartPlace place_;
  SharedTrie* trie_;
  bool failed_ = false;
};

/// Reads the frames of a part one by one and keeps its tables.
class FrameReader {
 public:
  /// Writes at most `capacity` > 0 bytes to `buffer` and returns how many; 0 at the end.
  using ReadBytes = std::function<size_t(char* buffer, size_t capacity)>;

  explicit FrameReader(ReadBytes read) : read_(std::move(read)) {}

  /// The next frame that is none of a table. False: it was the last, or is_damaged().
  bool next(FrameKind& kind, std::string& frame);

  /// The part ends early or holds what no writer wrote.
  bool is_damaged() const { return is_damaged_; }

  /// Grows as frames come.
  const PartTables& tables() const { return tables_; }

  /// A part may hold no larger frame.
  static constexpr size_t kMaxFrameBytes = size_t{32} << 20;

 private:
  bool read_exactly(std::string& bytes, size_t count);
  bool read_frame(std::string& frame);
  bool add_table(FrameKind kind, const std::string& frame);

  ReadBytes read_;
  PartTables tables_;
  TextCache shared_;
  uint64_t frames_ = 0;
  uint64_t checksum_ = 0;
  bool is_damaged_ = false;
};

}  // namespace ncclog

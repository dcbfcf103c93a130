// How do lists of records that are being read come to share what they have alike?
//
//   rank 0   version 2.28.3 ─ comm 0x5a rank 0 ─ Using network IB
//   rank 1   the same       ─ comm 0x6b rank 1 ─ the same          its own: one text, three numbers
//   rank 2   the same       ─ comm 0x7c rank 2 ─ Channel 00/02 : …  another kind: nodes of its own
//
// A list that is being read is a place in a trie of records (TrieNode), and beside it only what is
// its own. For most lines nothing is noted but their number. Once it is settled it refers to the
// layout of its node, and gives up its place.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "model/record_lists.h"
#include "model/records.h"

namespace ncclog {

/// A record, as lists have it after those of the nodes before it.
struct TrieNode {
  TrieNode* before = nullptr;   ///< nullptr: nothing has come.
  TrieNode* alike = nullptr;    ///< The last one before it of the same key; nullptr: none.
  TrieNode* next = nullptr;     ///< The newest node after it; nullptr: none.
  TrieNode* sibling = nullptr;  ///< The next older node after the same one; nullptr: none.
  boost::intrusive_ptr<const RecordText> text;
  /// Of lists that were settled here.
  std::vector<boost::intrusive_ptr<const RecordLayout>> layouts;
  uint32_t number = 0;  ///< How many records stand before it.
  uint32_t head = 0;    ///< Into the heads of each list.
  uint16_t key = 0;
  uint16_t kept = 0;   ///< How many of its key there are, with this one.
  uint16_t entry = 0;  ///< How many other keys came before its own.
  Level level = Level::None;
  bool varies = false;  ///< Some list has another text here.
};

/// The nodes of lists, which one thread adds to.
class LineTrie {
 public:
  LineTrie();
  LineTrie(const LineTrie&) = delete;
  LineTrie& operator=(const LineTrie&) = delete;

  uint64_t number() const { return number_; }  ///< No other trie of the program has it.
  TrieNode* root() { return &nodes_.front(); }

  /// The node after `node` with the key, head, level and text of `wanted`. Or one with another text,
  /// where few lists hold the wanted one or many texts stand there already: `wanted` keeps its text
  /// then, which is the list's own. If there is none, it is made of `wanted`.
  TrieNode* node_after(TrieNode* node, TrieNode& wanted);

  /// Whether no more should be added: another trie is to be begun.
  bool is_full() const { return nodes_.size() >= kMostNodes || places_ >= kMostPlaces; }

  /// Notes a layout for lists that are settled at its node, if there is room.
  void note_layout(const boost::intrusive_ptr<const RecordLayout>& layout);

 private:
  static constexpr size_t kMostNodes = 16384;
  static constexpr size_t kMostPlaces = size_t{1} << 19;  ///< Of layouts: some 10 MB.

  uint64_t number_;
  std::deque<TrieNode> nodes_;
  size_t places_ = 0;
};

/// Records as they come, at nodes where other lists may have been before.
struct RecordLists::Builder {
  struct List {
    uint16_t key = 0;
    bool full = false;
    uint64_t more = 0;         ///< Lines that are not kept.
    TrieNode* last = nullptr;  ///< The last record.
  };

  SharedTrie trie;
  TrieNode* node = nullptr;  ///< Of the last record.
  std::vector<List> lists;   ///< In the order in which their keys came.
  SettledRecords::Own own;
  std::vector<uint64_t> hashes;  ///< Of the texts, in the same order as the lines of `own`.
  size_t before_opened = 0;      ///< So many of the records are older.
  /// Places in `lists` where those with a key of that remainder were found last.
  std::array<uint8_t, 64> found{};

  /// Adds a line that others added here; false: nobody did, or it may have to be counted only.
  bool follow(uint16_t key, const Record& known, uint64_t hash, size_t most) {
    constexpr int kMostLooked = 64;
    if (known.rest == nullptr) return false;
    const auto is_it = [&](const TrieNode& child) {
      return child.text.get() == known.rest && child.key == key && child.head < own.heads.size() &&
             own.heads[child.head].get() == known.head;
    };
    TrieNode* next = node->next;
    for (int looked = 1; next != nullptr && !is_it(*next); ++looked) {
      next = looked < kMostLooked ? next->sibling : nullptr;
    }
    if (next == nullptr || next->kept > most) return false;
    for (const TrieNode* other = next->alike; other != nullptr; other = other->alike) {
      if (other->varies) return false;
    }
    return go_to(next, known.where, hash);
  }

  /// Counts a line that is not to be kept; false if it is.
  bool count(uint16_t key, uint64_t hash, size_t most);
  void add(uint16_t key, OwnedRecord&& record);
  List* find(uint16_t key);
  boost::intrusive_ptr<const RecordLayout> layout() const;
  std::vector<RecordLayout::Entry> entries() const;

 private:
  /// False: that list is full, and nothing was done.
  bool go_to(TrieNode* next, SourceRef where, uint64_t hash) {
    if (next->entry == lists.size()) lists.push_back({.key = next->key});
    List& list = lists[next->entry];
    if (list.full) return false;
    node = list.last = next;
    hashes.push_back(hash);
    own.lines.push_back(where);
    return true;
  }
  bool holds(const List& list, uint64_t hash) const;
};

template <typename Make>
void RecordLists::add(SharedTrie& trie, uint16_t key, const Record& known, uint64_t hash,
                      Make&& make, size_t most) {
  Builder& builder = open(trie);
  if (!builder.follow(key, known, hash, most) && !builder.count(key, hash, most)) {
    builder.add(key, make());
  }
}

inline RecordLists::Builder& RecordLists::open(SharedTrie& trie) {
  return builder_ != nullptr ? *builder_ : open_slowly(trie);
}

/// A list that is settled is taken apart again when more records come, so there have to be as many
/// new ones as there were.
inline void RecordLists::settle_many() {
  constexpr size_t kMany = 32;
  if (builder_ == nullptr) return;
  if (builder_->own.lines.size() >= 2 * builder_->before_opened + kMany) settle();
}

}  // namespace ncclog

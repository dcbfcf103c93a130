// Why are kept lines no flat vector of {kind, process, line, text}, with the texts interned?
//
// An init of 20,000 ranks may take 200 MB, and takes 191 MB. Of it 1.5 million lines are kept, 75 a
// rank, in 8.6 MB: 5.7 bytes each, of which 4 are the number of the line. Flat, 16 bytes each make
// 24 MB, 206 MB in all, before the vector grows and before anything is there that knows which
// messages a rank has printed already.

#include "model/record_rows.h"

#include <algorithm>
#include <cstring>

namespace ncclog {

using Entry = RecordRow::Entry;

const Entry* RecordRow::find(const std::vector<Entry>& entries, uint16_t key) {
  const auto entry = std::ranges::lower_bound(entries, key, {}, &Entry::key);
  return entry == entries.end() || entry->key != key ? nullptr : &*entry;
}

// Steps.

RecordTree::RecordTree() {
  static std::atomic<uint64_t> trees = 0;
  number_ = ++trees;
  steps_.emplace_back();
}

RecordStep* RecordTree::step_after(RecordStep* step, RecordStep& wanted) {
  // A text that few lists hold names a rank or its host. One that many hold begins steps of its own,
  // as do those of ranks at the same place in each host.
  constexpr unsigned kFew = 128;
  constexpr size_t kMostAlike = 16;
  RecordStep* like = nullptr;
  size_t likes = 0;
  constexpr size_t kMostLooked = 256;  // Hostile lists go on in thousands of ways.
  size_t looked = 0;
  for (RecordStep* known = step->next; known != nullptr && looked++ < kMostLooked;
       known = known->sibling) {
    const bool is_like =
        known->key == wanted.key && known->head == wanted.head && known->level == wanted.level;
    if (!is_like) continue;
    if (known->text == wanted.text) return known;
    if (likes++ == 0) like = known;
  }
  if (like != nullptr && (likes >= kMostAlike || wanted.text->use_count() <= kFew)) {
    like->varies = true;
    return like;
  }
  RecordStep& made = steps_.emplace_back(std::move(wanted));
  made.before = step;
  made.number = step->before == nullptr ? 0 : step->number + 1;
  made.kept = static_cast<uint16_t>(made.alike == nullptr ? 1 : made.alike->kept + 1);
  made.sibling = std::exchange(step->next, &made);
  return &made;
}

void RecordTree::note_row(const boost::intrusive_ptr<const RecordRow>& row) {
  if (is_full()) return;
  row->step->rows.push_back(row);
  places_ += row->texts.size();
}

// Settled records.

RowRecords* RowRecords::allocate(size_t bytes) {
  return new (::operator new(sizeof(RowRecords) + bytes)) RowRecords;
}

size_t RowRecords::bytes() const {
  const size_t lines = size() * (is_short_ ? sizeof(uint32_t) : sizeof(Line));
  return (size_t{heads_} + texts_ + units_) * sizeof(uint64_t) +
         (size_t{texts_} + (is_short_ ? 0 : texts_ % 2)) * sizeof(uint32_t) + lines;
}

namespace {

/// The place of an element of that value, which is added unless it is one of the last ones.
size_t place_of(std::vector<uint64_t>& all, uint64_t value) {
  constexpr size_t kLast = 8;
  for (size_t place = all.size(); place > 0 && place + kLast > all.size(); --place) {
    if (all[place - 1] == value) return place - 1;
  }
  all.push_back(value);
  return all.size() - 1;
}

}  // namespace

std::unique_ptr<RowRecords> RowRecords::make(boost::intrusive_ptr<const RecordRow> row, Own& own) {
  const uint64_t unit = own.lines.front().unit;
  const bool is_short = std::ranges::all_of(own.lines, [unit](SourceRef line) {
    return line.unit == unit && line.line == static_cast<uint32_t>(line.line);
  });
  std::vector<uint64_t> units;
  std::vector<Line> lines;
  for (const SourceRef line : own.lines) {
    if (!is_short) lines.push_back({place_of(units, line.unit), line.line});
  }
  if (is_short) units.push_back(unit);
  const size_t texts = own.texts.size();
  const size_t bytes = (own.heads.size() + texts + units.size()) * sizeof(uint64_t) +
                       (texts + (is_short ? 0 : texts % 2)) * sizeof(uint32_t) +
                       own.lines.size() * (is_short ? sizeof(uint32_t) : sizeof(Line));
  std::unique_ptr<RowRecords> made(allocate(bytes));
  made->heads_ = static_cast<uint32_t>(own.heads.size());
  made->texts_ = static_cast<uint32_t>(texts);
  made->units_ = static_cast<uint32_t>(units.size());
  made->is_short_ = is_short;
  for (auto& [number, text] : own.texts) number = row->places[number];
  std::ranges::sort(own.texts, {}, [](const auto& text) { return text.first; });
  auto* at = reinterpret_cast<char*>(made.get() + 1);
  const auto put = [&at](const auto& value) {
    std::memcpy(at, &value, sizeof(value));
    at += sizeof(value);
  };
  for (auto& head : own.heads) put(head.detach());
  for (auto& [place, text] : own.texts) put(text.detach());
  for (const uint64_t number : units) put(number);
  for (const auto& [place, text] : own.texts) {
    row->varies[place].store(true, std::memory_order_relaxed);
    put(place);
  }
  if (!is_short && texts % 2 != 0) put(uint32_t{0});
  for (size_t i = 0; i < own.lines.size(); ++i) {
    char* const to = at + row->places[i] * (is_short ? sizeof(uint32_t) : sizeof(Line));
    if (is_short) {
      const auto line = static_cast<uint32_t>(own.lines[i].line);
      std::memcpy(to, &line, sizeof(line));
    } else {
      std::memcpy(to, &lines[i], sizeof(Line));
    }
  }
  made->row_ = std::move(row);
  own.heads.clear();
  own.lines.clear();
  own.texts.clear();
  return made;
}

void RowRecords::give_back(Own& own) const {
  own.heads.assign(heads().begin(), heads().end());
  std::vector<uint32_t> numbers(row_->places.size());
  for (uint32_t number = 0; number < numbers.size(); ++number) {
    numbers[row_->places[number]] = number;
    own.lines.push_back(where(row_->places[number]));
  }
  for (size_t i = 0; i < texts_; ++i) own.texts.emplace_back(numbers[places()[i]], texts()[i]);
  std::ranges::sort(own.texts, {}, [](const auto& text) { return text.first; });
}

std::unique_ptr<RowRecords> RowRecords::copy() const {
  std::unique_ptr<RowRecords> made(allocate(bytes()));
  made->row_ = row_;
  made->process_ = process_;
  made->heads_ = heads_;
  made->texts_ = texts_;
  made->units_ = units_;
  made->is_short_ = is_short_;
  std::memcpy(static_cast<void*>(made.get() + 1), this + 1, bytes());
  for (size_t i = 0; i < heads_; ++i) {
    if (heads()[i] != nullptr) intrusive_ptr_add_ref(heads()[i]);
  }
  for (size_t i = 0; i < texts_; ++i) intrusive_ptr_add_ref(texts()[i]);
  return made;
}

RowRecords::~RowRecords() {
  for (size_t i = 0; i < heads_; ++i) {
    if (heads()[i] != nullptr) intrusive_ptr_release(heads()[i]);
  }
  for (size_t i = 0; i < texts_; ++i) intrusive_ptr_release(texts()[i]);
}

const RecordText* RowRecords::own_text(size_t place) const {
  const std::span own(places(), texts_);
  const auto found = std::ranges::lower_bound(own, place);
  if (found == own.end() || *found != place) return row_->texts[place].get();
  return texts()[found - own.begin()];
}

}  // namespace ncclog

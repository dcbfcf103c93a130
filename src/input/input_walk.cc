#include "input/input_walk.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <locale.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <unordered_set>

#include "input/find_inputs.h"

namespace ncclog {
namespace {

// The files in an archive, one after the other, as they stand in it.
//
//   logs.tar.gz   ./node1/nccl.txt        -> "node1/nccl.txt", readable
//                 ./node1/latest -> x     -> "node1/latest", skipped: a link
//                 ./.cache/a              -> left out, as find_inputs leaves out hidden files
//
// tar, zip and 7z, unpacked in memory by libarchive. An archive is read once and forwards; only zip
// and 7z files jump, to their table of contents and back. Nothing is ever written, so a name that
// leaves the archive ("/etc/x", "../x") is a name like any other.
//
// Bounded whatever the archive holds: entries, bytes of their names, and bytes they expand to.

constexpr size_t kArchiveBlockBytes = size_t{128} << 10;
constexpr size_t kMaxNameBytes = 4096;
constexpr size_t kMaxAllNameBytes = size_t{16} << 20;
constexpr std::string_view kZipEnd = "PK\x05\x06";
constexpr std::string_view kNoName = "(no name)";

/// libarchive translates names to the thread's locale and drops those it cannot translate; in this
/// one every name can be. Where the C library does not have it, names may be missing.
class Utf8Locale {
 public:
  Utf8Locale() : ours_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {
    if (ours_ != nullptr) before_ = uselocale(ours_);
  }
  ~Utf8Locale() {
    if (ours_ == nullptr) return;
    uselocale(before_);
    freelocale(ours_);
  }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

 private:
  locale_t ours_;
  locale_t before_ = nullptr;
};

std::string clean_name(std::string_view name) {
  while (name.starts_with('/') || name.starts_with("./")) {
    name.remove_prefix(name.starts_with('/') ? 1 : 2);
  }
  return std::string(name.empty() ? kNoName : name.substr(0, kMaxNameBytes));
}

std::string name_of(archive_entry* entry) {
  const char* name = archive_entry_pathname(entry);
  if (name == nullptr) name = archive_entry_pathname_utf8(entry);
  return clean_name(name == nullptr ? "" : name);
}

/// A part of the path starts with a dot and is not a step.
bool is_hidden(std::string_view name) {
  while (!name.empty()) {
    const std::string_view part = name.substr(0, name.find('/'));
    if (part.starts_with('.') && part != "." && part != "..") return true;
    name.remove_prefix(std::min(part.size() + 1, name.size()));
  }
  return false;
}

bool is_folder(archive_entry* entry) { return archive_entry_filetype(entry) == AE_IFDIR; }

/// Why an entry has no bytes that can be read; empty if it has some.
std::string_view reason_to_skip(archive_entry* entry) {
  const auto type = archive_entry_filetype(entry);
  if (type == AE_IFLNK || archive_entry_hardlink(entry) != nullptr) {
    return "A link; links in archives are not followed.";
  }
  if (type != AE_IFREG && type != 0) return "A device or pipe, not a file.";
  if (archive_entry_is_data_encrypted(entry) != 0) return "Encrypted; unpack it to have it read.";
  return {};
}

std::string_view format_of(std::string_view head) {
  if (head.starts_with("PK")) return "zip";
  return head.starts_with("7z") ? "7z" : "tar";
}

/// An archive, and one in it. More is for mischief.
constexpr size_t kMaxDepth = 2;

/// `archive`: "tar", "zip", "7z"; empty: a file is none.
std::string format_of(std::string_view archive, Compression compression) {
  const std::string_view packed = to_string(compression);
  if (compression == Compression::None) return std::string(archive.empty() ? "plain" : archive);
  return archive.empty() ? std::string(packed) : fmt::format("{}+{}", archive, packed);
}

}  // namespace

/// Reads one archive. Invariants: what `read` delivers belongs to the member that `next` gave last;
/// `unpacked_` <= `most_bytes_` while not `is_over_`; after `is_over_` libarchive is not asked
/// any more.
class ArchiveReader {
 public:
  /// Of an archive that is `walked_input` of what an InputWalk met and that `bytes` start with. At
  /// most `most_bytes` of it are unpacked, and `most_entries` files, folders and links looked at;
  /// what follows is left out and reported to be.
  ArchiveReader(ByteSource&& bytes, uint64_t most_bytes, uint64_t most_entries, size_t walked_input)
      : walked(walked_input),
        bytes_(std::move(bytes)),
        most_bytes_(most_bytes),
        most_entries_(most_entries) {
    const Utf8Locale utf8;
    archive_read_support_format_tar(reading_);
    archive_read_support_format_zip(reading_);
    archive_read_support_format_7zip(reading_);
    archive_read_set_callback_data(reading_, this);
    archive_read_set_read_callback(reading_, give_block);
    if (bytes_.can_seek()) archive_read_set_seek_callback(reading_, seek);
    is_open_ = archive_read_open1(reading_) >= ARCHIVE_WARN;
    if (!is_open_) end_at(ARCHIVE_FATAL);
  }

  ~ArchiveReader() { archive_read_free(reading_); }
  ArchiveReader(const ArchiveReader&) = delete;
  ArchiveReader& operator=(const ArchiveReader&) = delete;

  /// Moves on to the next member; false when there is none, or none that can be found. Folders and
  /// hidden files are left out. Links, devices, encrypted files and second ones of a name are given
  /// with a reason to skip them.
  bool next() {
    const Utf8Locale utf8;
    while (archive_entry* entry = next_entry()) {
      name_ = name_of(entry);
      if (is_folder(entry) || is_hidden(name_)) continue;
      name_bytes_ += name_.size();
      skip_ = reason_to_skip(entry);
      // Unpacked, the last one would stay; but the first one's lines cannot be taken back.
      if (skip_.empty() && !names_.insert(name_).second) {
        skip_ = "Another file of this name came before it and was read.";
      }
      is_member_over_ = false;
      read_error_.clear();
      data_size_ = 0;
      return true;
    }
    return false;
  }

  const size_t walked;  ///< Into what was met: of the archive.

  /// As it lies on the disk or in another archive.
  const ByteSource& bytes() const { return bytes_; }

  /// The member's, without "./" and "/" in front; any bytes, at most 4096 of them.
  const std::string& name() const { return name_; }

  /// Why the member cannot be read, in one sentence; empty: it can. Static.
  std::string_view skip() const { return skip_; }

  /// At most `capacity` > 0 bytes of the member; 0 at its end.
  size_t read(char* buffer, size_t capacity) {
    while (!is_member_over_ && data_size_ == 0 && fetch()) {
    }
    if (is_member_over_) return 0;
    const uint64_t room = most_bytes_ - unpacked_;
    if (room == 0) {
      stop_member("the archive expands past the limit");
      return 0;
    }
    const size_t count = std::min<uint64_t>({capacity, room, data_size_});
    std::memcpy(buffer, data_, count);
    data_ += count;
    data_size_ -= count;
    unpacked_ += count;
    return count;
  }

  /// Why `read` ended before the member did; empty if it did not. Without a full stop.
  const std::string& read_error() const { return read_error_; }

  /// "tar", "zip", "7z".
  std::string_view format() const { return format_of(bytes_.head()); }

  /// How reading the archive ended. Final once `next` has returned false.
  SourceState state() const { return state_; }

  /// One sentence on what is missing; empty if nothing is.
  const std::string& note() const { return note_; }

 private:
  size_t next_block() {
    const size_t count = bytes_.read(block_.data(), block_.size());
    position_ += count;
    if (has_end_ || !is_zip_) return count;
    const std::string_view now(block_.data(), count);
    constexpr size_t kRest = kZipEnd.size() - 1;
    last_bytes_ += now.substr(0, kRest);
    has_end_ = now.find(kZipEnd) != now.npos || last_bytes_.find(kZipEnd) != last_bytes_.npos;
    if (count > kRest) last_bytes_ = now.substr(count - kRest);
    last_bytes_.erase(0, last_bytes_.size() - std::min(last_bytes_.size(), kRest));
    return count;
  }

  /// libarchive is content when the list of files begins, or when the bytes end where it could.
  bool ends_as_zip() {
    while (!has_end_ && next_block() > 0) {
    }
    return has_end_;
  }

  static la_ssize_t give_block(archive*, void* self, const void** buffer) {
    auto& reader = *static_cast<ArchiveReader*>(self);
    *buffer = reader.block_.data();
    return static_cast<la_ssize_t>(reader.next_block());
  }

  static la_int64_t seek(archive*, void* self, la_int64_t offset, int whence) {
    auto& reader = *static_cast<ArchiveReader*>(self);
    const auto size = static_cast<la_int64_t>(reader.bytes_.regular_size());
    la_int64_t base = 0;
    if (whence == SEEK_CUR) base = static_cast<la_int64_t>(reader.position_);
    if (whence == SEEK_END) base = size;
    // No sum of a hostile offset and a file's size may overflow.
    const la_int64_t wanted = base + std::clamp(offset, -base, size - base);
    reader.position_ = static_cast<uint64_t>(wanted);
    reader.bytes_.seek(reader.position_);
    return wanted;
  }

  archive_entry* next_entry() {
    drain();
    if (is_over_) return nullptr;
    archive_entry* entry = nullptr;
    const int result = archive_read_next_header(reading_, &entry);
    if (result == ARCHIVE_EOF || result < ARCHIVE_WARN) {
      end_at(result);
      return nullptr;
    }
    if (++entries_ > most_entries_ || name_bytes_ > kMaxAllNameBytes) {
      end(SourceState::SizeLimit,
          fmt::format("Holds more than {} files; the others were left out.", entries_ - 1));
      return nullptr;
    }
    return entry;
  }

  /// The next piece of the member. Not by archive_read_data: when the archive ends early, it drops
  /// what it has.
  bool fetch() {
    const void* piece = nullptr;
    la_int64_t offset = 0;  // Holes of sparse files are left out.
    data_size_ = 0;
    const int result = archive_read_data_block(reading_, &piece, &data_size_, &offset);
    data_ = static_cast<const char*>(piece);
    if (result == ARCHIVE_OK) return true;
    is_member_over_ = true;
    data_size_ = 0;
    if (result != ARCHIVE_EOF) read_error_ = "the archive ends early or is damaged";
    return false;
  }

  /// Where nothing can be sought, moving on means unpacking what is left, and that has its limit.
  void drain() {
    while (!is_member_over_ && !bytes_.can_seek() && fetch()) {
      unpacked_ += data_size_;
      if (unpacked_ > most_bytes_) stop_member({});
    }
    is_member_over_ = true;
  }

  void end(SourceState how, std::string why) {
    is_over_ = is_member_over_ = true;
    state_ = how;
    note_ = std::move(why);
  }

  /// What lies below the archive knows best why it ends early.
  void end_at(int result) {
    const bool is_whole = result == ARCHIVE_EOF && (!is_zip_ || ends_as_zip());
    if (bytes_.state() != SourceState::Good) return end(bytes_.state(), bytes_.note());
    if (is_whole) return end(SourceState::Good, bytes_.note());
    if (entries_ > 0) {
      return end(SourceState::Cut,
                 "The archive ends early or is damaged; what came before was read.");
    }
    // libarchive may be asked only about what it could open.
    const bool encrypted = is_open_ && archive_read_has_encrypted_entries(reading_) == 1;
    end(SourceState::Unreadable, encrypted ? "The archive's list of files is encrypted."
                                           : "The archive cannot be unpacked.");
  }

  void stop_member(std::string why) {
    end(SourceState::SizeLimit,
        fmt::format("Expands past the limit of {} bytes; read up to there.", most_bytes_));
    read_error_ = std::move(why);
  }

  ByteSource bytes_;
  uint64_t most_bytes_;
  uint64_t most_entries_;
  archive* reading_ = archive_read_new();
  std::vector<char> block_ = std::vector<char>(kArchiveBlockBytes);
  bool is_zip_ = format() == "zip";
  uint64_t position_ = 0;  ///< In `bytes_`, after `block_`; where they can be sought.
  uint64_t entries_ = 0;
  uint64_t unpacked_ = 0;
  std::string name_;
  std::string_view skip_;
  const char* data_ = nullptr;  ///< Of the member, libarchive's, till it is asked again.
  size_t data_size_ = 0;
  std::unordered_set<std::string> names_;  ///< Of the files so far.
  size_t name_bytes_ = 0;                  ///< Of all members so far.
  bool is_open_ = false;
  bool has_end_ = false;    ///< The record with which zip files end was met.
  std::string last_bytes_;  ///< Of the block before; such a record may begin in them.
  bool is_member_over_ = true;
  bool is_over_ = false;
  std::string read_error_;
  SourceState state_ = SourceState::Good;
  std::string note_;
};

InputWalk::InputWalk(const Unit& unit, std::string path, const ReadOptions& options)
    : unit_(unit), path_(std::move(path)), options_(options) {}

InputWalk::~InputWalk() = default;

UnitReader* InputWalk::next() {
  if (!is_started_) {
    is_started_ = true;
    UnitReader* reader = open(path_, open_unit(unit_, path_, options_));
    if (reader != nullptr) return reader;
  }
  close_current();
  while (!archives_.empty()) {
    if (UnitReader* reader = next_member(); reader != nullptr) return reader;
  }
  return nullptr;
}

/// The next member of the innermost archive, if it can be read. At its end it is closed.
UnitReader* InputWalk::next_member() {
  ArchiveReader& archive = *archives_.back();
  if (!archive.next()) {
    close_archive();
    return nullptr;
  }
  std::string path = fmt::format("{}!/{}", walked_[archive.walked].path, archive.name());
  if (archive.skip().empty()) {
    RawBytes bytes;
    bytes.read = [&archive](char* out, size_t capacity) { return archive.read(out, capacity); };
    bytes.error = [&archive] { return archive.read_error(); };
    return open(
        std::move(path),
        ByteSource(std::move(bytes), {.max_expanded = options_.max_expanded, .spent = expanded_}));
  }
  UnitResult& result = add(std::move(path)).result;
  result.status = InputStatus::Skipped;
  result.note = archive.skip();
  result.losses.add(Loss::InputSkipped);
  return nullptr;
}

WalkedInput& InputWalk::add(std::string path) {
  WalkedInput& input = walked_.emplace_back();
  const uint64_t place = walked_.size() - 1;
  input.number = unit_.index * kNumbersPerUnit + place;
  input.input_number = unit_.input * kNumbersPerUnit + place;
  input.path = std::move(path);
  input.is_member = place > 0;
  return input;
}

/// A reader for what `source` holds; nullptr if it is an archive, whose members come next.
UnitReader* InputWalk::open(std::string path, ByteSource&& source) {
  WalkedInput& input = add(std::move(path));
  const size_t place = walked_.size() - 1;
  const Compression compression = source.compression();
  const bool is_archive = unit_.whole && sniff_content(source.head()) == Content::Archive;
  if (is_archive && archives_.size() < kMaxDepth) {
    const uint64_t room = options_.max_expanded - std::min(options_.max_expanded, expanded_);
    const uint64_t entries = kMaxArchiveEntries - std::min<uint64_t>(kMaxArchiveEntries, place);
    archives_.push_back(std::make_unique<ArchiveReader>(std::move(source), room, entries, place));
    input.is_archive = true;
    input.format = format_of(archives_.back()->format(), compression);
    return nullptr;
  }
  input.format = format_of({}, compression);
  current_ = place;
  source_ = std::make_unique<ByteSource>(std::move(source));
  reader_ =
      std::make_unique<UnitReader>(archives_.empty() ? unit_ : Unit{}, *source_, options_.memory);
  return reader_.get();
}

void InputWalk::close_current() {
  if (reader_ == nullptr) return;
  walked_[current_].result = reader_->finish();
  expanded_ += source_->expanded();
  reader_.reset();
  source_.reset();
}

void InputWalk::close_archive() {
  const ArchiveReader& archive = *archives_.back();
  UnitResult& result = walked_[archive.walked].result;
  result.content = Content::Archive;
  result.compression = archive.bytes().compression();
  result.bytes_on_disk = archive.bytes().regular_size();
  result.note = archive.note();
  add_state(archive.state(), result);
  archives_.pop_back();
}

}  // namespace ncclog

#include "input/input_walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "input/input_format.h"

namespace ncclog {
namespace {

/// An archive, and one in it. More is for mischief.
constexpr size_t kMaxDepth = 2;

std::string format_of(Compression compression) {
  return compression == Compression::None ? "plain" : std::string(to_string(compression));
}

std::string format_of(std::string_view archive, Compression compression) {
  if (compression == Compression::None) return std::string(archive);
  return fmt::format("{}+{}", archive, to_string(compression));
}

RawBytes bytes_of(ArchiveReader& archive) {
  RawBytes bytes;
  bytes.read = [&archive](char* buffer, size_t capacity) { return archive.read(buffer, capacity); };
  bytes.error = [&archive] { return archive.read_error(); };
  return bytes;
}

}  // namespace

struct InputWalk::Level {
  ByteSource source;
  ArchiveReader archive;
  size_t walked;  ///< Into `walked_`: of the archive.

  Level(ByteSource&& bytes, const ArchiveLimits& limits, size_t place)
      : source(std::move(bytes)), archive(source, limits), walked(place) {}
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
  Level& level = *archives_.back();
  ArchiveMember member;
  if (!level.archive.next(member)) {
    close_archive();
    return nullptr;
  }
  std::string path = fmt::format("{}!/{}", walked_[level.walked].path, member.name);
  if (member.skip.empty()) {
    return open(std::move(path), ByteSource(bytes_of(level.archive), member_options()));
  }
  UnitResult& result = add(std::move(path)).result;
  result.status = InputStatus::Skipped;
  result.note = member.skip;
  result.losses.add(Loss::InputSkipped);
  return nullptr;
}

WalkedInput& InputWalk::add(std::string path) {
  WalkedInput& input = walked_.emplace_back();
  const uint64_t place = walked_.size() - 1;
  input.number = unit_.index * kNumbersPerUnit + place;
  input.input_number = unit_.input * kNumbersPerUnit + place;
  input.path = std::move(path);
  input.format = format_of(Compression::None);
  input.is_member = place > 0;
  return input;
}

SourceOptions InputWalk::member_options() const {
  SourceOptions options;
  options.max_expanded = options_.max_expanded;
  options.spent = expanded_;
  return options;
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
    archives_.push_back(
        std::make_unique<Level>(std::move(source), ArchiveLimits{room, entries}, place));
    input.is_archive = true;
    input.format = format_of(archives_.back()->archive.format(), compression);
    return nullptr;
  }
  input.format = format_of(compression);
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
  const Level& level = *archives_.back();
  UnitResult& result = walked_[level.walked].result;
  result.content = Content::Archive;
  result.compression = level.source.compression();
  result.bytes_on_disk = level.source.regular_size();
  result.note = level.archive.note();
  add_state(level.archive.state(), result);
  archives_.pop_back();
}

}  // namespace ncclog

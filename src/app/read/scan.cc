#include "app/read/scan.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "app/exit_status.h"
#include "app/read/read_document.h"
#include "base/error.h"
#include "input/byte_source.h"
#include "log/event.h"

namespace ncclog {
namespace {

/// How much of a file its stamp looks at.
constexpr size_t kStampBytes = size_t{64} << 10;

/// True if `now` may be what `then` was, grown.
bool has_grown(const FileStamp& then, const FileStamp& now) {
  return now.size > then.size && now.beginning == then.beginning && then.size >= kStampBytes;
}

const ScannedInput* find_input(const LoadedPart* part, const std::string& path) {
  if (part == nullptr) return nullptr;
  const auto found = std::ranges::find(part->inputs, path, &ScannedInput::path);
  return found == part->inputs.end() ? nullptr : &*found;
}

/// Takes over what an earlier scan says of units that are still the same: those have `walked`.
void keep_units(const LoadedPart& part, const ScannedInput& before, ScannedInput& now) {
  const std::vector<Unit>& then = before.units;
  const bool is_same = before.stamp == now.stamp && then == now.units;
  if (!is_same && !has_grown(before.stamp, now.stamp)) return;
  // All but its last unit are as they were: that one ended where the file did.
  const size_t most = is_same ? then.size() : std::max<size_t>(then.size(), 1) - 1;
  if (most == 0 || most > now.units.size()) return;
  if (!std::equal(then.begin(), then.begin() + static_cast<std::ptrdiff_t>(most),
                  now.units.begin())) {
    return;
  }
  ScannedInput read;
  const PartPlace place{.units = then.size(), .first_unit = 1, .input = 1};
  if (!read_shards(part, before, place, read)) return;
  now.before = std::move(read.before);
  if (is_same) now.last = std::move(read.last);
  read.walked.resize(most);
  now.walked = std::move(read.walked);
}

/// One input, cut into units, with what an earlier scan says of the first of them.
ScannedInput begin_scanning(const std::string& path, const ScanTask& task,
                            const ReadSettings& settings) {
  ScannedInput input;
  input.path = path;
  input.host = task.host;
  input.units = units_of_scan(path, settings.unit_bytes);
  const auto stamp = stamp_of(path);
  if (!stamp) return input;
  input.stamp = *stamp;
  const ScannedInput* const before = find_input(task.before, path);
  if (before != nullptr) keep_units(*task.before, *before, input);
  return input;
}

}  // namespace

std::optional<FileStamp> stamp_of(const std::string& path) {
  struct stat file = {};
  if (stat(path.c_str(), &file) != 0 || !S_ISREG(file.st_mode)) return std::nullopt;
  FileStamp stamp;
  stamp.size = static_cast<uint64_t>(file.st_size);
  stamp.changed = int64_t{file.st_mtim.tv_sec} * 1'000'000'000 + file.st_mtim.tv_nsec;
  const RawBytes bytes = open_file(path, 0, kStampBytes);
  stamp.beginning = message_hash(read_up_to(bytes, kStampBytes));
  return stamp;
}

std::vector<Unit> units_of_scan(const std::string& path, uint64_t unit_bytes) {
  std::vector<Unit> units =
      cut_units(std::span(&path, 1), {.unit_bytes = unit_bytes, .may_start_unit = may_start_unit});
  for (Unit& unit : units) {
    ++unit.index;
    unit.input = 1;
  }
  return units;
}

namespace {

/// A part is no log: what can be used of it is merged, not scanned.
Shard refuse_part(UnitReader& input, const LineMatcher& matcher) {
  std::string problem = "it is scanned already";
  read_part(input, matcher, problem);
  input.refuse(fmt::format("A part of a scan that cannot be used: {}.", problem));
  return Shard();
}

}  // namespace

ScanResult scan(const ScanTask& task, const ReadSettings& asked,
                const std::function<void(std::string_view bytes)>& write) {
  ReadSettings settings = asked;
  settings.read_part = [&](UnitReader& input) { return refuse_part(input, asked.matcher); };
  PartFile part(write, part_kin(settings.matcher), task.host);
  ScanResult result;
  // In turns: so many inputs are read side by side, and memory does not grow with their number.
  constexpr size_t kTogether = 256;
  for (size_t begin = 0; begin < task.inputs.size(); begin += kTogether) {
    const auto inputs = task.inputs.subspan(begin, std::min(kTogether, task.inputs.size() - begin));
    std::vector<ScannedInput> row;
    std::vector<UnitToRead> units;
    std::vector<size_t> owners;  ///< Of units: into row.
    for (const std::string& path : inputs) {
      const ScannedInput& one = row.emplace_back(begin_scanning(path, task, settings));
      for (size_t i = one.walked.size(); i < one.units.size(); ++i) {
        units.push_back({one.units[i], path});
        owners.push_back(row.size() - 1);
      }
    }
    read_units(units, inputs, settings,
               [&](uint32_t place, Shard&& shard, std::vector<WalkedInput>&& walked) {
                 ScannedInput& input = row[owners[place]];
                 input.before.merge(std::exchange(input.last, std::move(shard)));
                 result.read_bytes += units[place].unit.whole
                                          ? input.stamp.size
                                          : units[place].unit.end - units[place].unit.begin;
                 input.walked.push_back(std::move(walked));
               });
    for (ScannedInput& one : row) {
      ++result.inputs;
      result.partial += std::ranges::any_of(one.walked, [](const auto& unit) {
        return std::ranges::any_of(
            unit, [](const WalkedInput& input) { return is_partial(input.result.status); });
      });
      part.add(std::move(one));
    }
  }
  part.finish();
  return result;
}

LoadedPart scan_in_memory(std::span<const std::string> inputs, const ReadSettings& settings) {
  std::string bytes;
  scan({.inputs = inputs}, settings, [&](std::string_view more) { bytes += more; });
  RawBytes raw;
  size_t at = 0;
  raw.read = [&](char* buffer, size_t capacity) {
    const size_t count = bytes.copy(buffer, capacity, at);
    at += count;
    return count;
  };
  raw.error = [] { return std::string(); };
  ByteSource source(std::move(raw));
  UnitReader reader(Unit{}, source);
  std::string problem;
  auto part = read_part(reader, settings.matcher, problem);
  if (!part) throw Error(problem);
  return std::move(*part);
}

std::optional<LoadedPart> read_part(UnitReader& input, const LineMatcher& matcher,
                                    std::string& problem) {
  const auto read = [&input](char* buffer, size_t capacity) {
    return input.read(buffer, capacity);
  };
  std::string magic(kPartMagic.size(), '\0');
  size_t size = 0;
  for (size_t count = 1; count > 0 && size < magic.size(); size += count) {
    count = read(magic.data() + size, magic.size() - size);
  }
  if (magic != kPartMagic) {
    problem = "it was made by another version of ncclog";
    return std::nullopt;
  }
  return load_part(read, part_kin(matcher), matcher.patterns, problem);
}

LoadedPart read_part_file(const std::string& path, const LineMatcher& matcher) {
  ByteSource source(path);
  UnitReader reader(Unit{}, source);
  std::string problem = "it is no part of a scan";
  std::optional<LoadedPart> part;
  if (reader.content() == Content::Part) part = read_part(reader, matcher, problem);
  if (!part) throw Error(problem, path);
  return std::move(*part);
}

}  // namespace ncclog

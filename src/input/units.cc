#include "input/units.h"

#include <sys/stat.h>

#include <algorithm>
#include <optional>

#include "input/byte_source.h"
#include "input/find_inputs.h"
#include "input/input_format.h"
#include "input/line_reader.h"
#include "input/raw_file.h"

namespace ncclog {
namespace {

constexpr uint64_t kSearchBytes = uint64_t{1} << 20;

/// The size of a file that may be cut; 0 if it may not.
uint64_t cuttable_size(const std::string& path, uint64_t unit_bytes) {
  // Pipes are not even opened: what is read from them is gone for the unit itself.
  struct stat file {};
  if (path == kStdinPath || stat(path.c_str(), &file) != 0 || !S_ISREG(file.st_mode)) return 0;
  if (static_cast<uint64_t>(file.st_size) <= unit_bytes) return 0;
  const ByteSource source(path);
  const bool is_plain_log =
      source.compression() == Compression::None && sniff_content(source.head()) == Content::Text;
  return is_plain_log ? source.regular_size() : 0;
}

/// The first start of a line at or after `wanted` that may start a unit. `wanted` > 0.
std::optional<uint64_t> find_start(const std::string& path, uint64_t wanted,
                                   const CutOptions& options) {
  // From one byte before: if that is a line end, `wanted` itself is the start of a line.
  // A line of gigabytes is not worth reading here; each line that counts is seen as far as it is
  // kept.
  RawFile file(path, wanted - 1, wanted + kSearchBytes + kMaxLineBytes + 1);
  LineReader lines([&](char* to, size_t size) { return file.read(to, size); }, wanted - 1);
  uint64_t last_number = 1;
  for (Line line; lines.next(line) && line.offset < wanted + kSearchBytes;) {
    const bool starts_line = line.number != last_number;
    last_number = line.number;
    if (!starts_line) continue;
    if (!options.may_start_unit || options.may_start_unit(line.text)) return line.offset;
  }
  return std::nullopt;
}

/// Where the units of one file begin, 0 first.
std::vector<uint64_t> find_starts(const std::string& path, const CutOptions& options) {
  const uint64_t step = std::max<uint64_t>(1, options.unit_bytes);
  const uint64_t size = cuttable_size(path, step);
  std::vector<uint64_t> starts = {0};
  for (uint64_t wanted = step; wanted < size;) {
    const std::optional<uint64_t> start = find_start(path, wanted, options);
    if (start && *start < size) {
      starts.push_back(*start);
      wanted = *start;
    }
    wanted = step < size - wanted ? wanted + step : size;
  }
  if (starts.size() > 1) starts.push_back(size);
  return starts;
}

}  // namespace

std::vector<Unit> cut_units(std::span<const std::string> inputs, const CutOptions& options) {
  std::vector<Unit> units;
  for (uint32_t input = 0; input < inputs.size(); ++input) {
    const auto index = [&] { return static_cast<uint32_t>(units.size()); };
    const std::vector<uint64_t> starts = find_starts(inputs[input], options);
    if (starts.size() == 1) units.push_back({.index = index(), .input = input});
    for (size_t i = 0; i + 1 < starts.size(); ++i) {
      units.push_back({index(), input, starts[i], starts[i + 1], false});
    }
  }
  return units;
}

}  // namespace ncclog

#include "app/read_document.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "import/flight_recorder.h"

namespace ncclog {
namespace {

/// All bytes; nullopt if there are more than kMaxDocumentBytes.
std::optional<std::string> read_whole(UnitReader& input) {
  constexpr size_t kBlock = size_t{64} << 10;
  std::string bytes;
  for (size_t count = 1; count > 0;) {
    const size_t size = bytes.size();
    bytes.resize(size + kBlock);
    count = input.read(bytes.data() + size, kBlock);
    bytes.resize(size + count);
    if (bytes.size() > kMaxDocumentBytes) return std::nullopt;
  }
  return bytes;
}

/// Puts what the bytes say into `shard`; answers why it could not, a clause, or nothing.
std::string import_dump(std::string_view bytes, const WalkedInput& name, Shard& shard) {
  FlightRecorderImport import = import_flight_recorder(bytes, name.path);
  if (!import.problem.empty()) return std::move(import.problem);
  import.dump.where.unit = name.number;
  shard.add(std::move(import.dump));
  return {};
}

}  // namespace

Shard read_document(UnitReader& input, const WalkedInput& name) {
  Shard shard(name.number, name.input_number);
  const std::optional<std::string> bytes = read_whole(input);
  const std::string problem =
      bytes ? import_dump(*bytes, name, shard)
            : fmt::format("it is larger than {} MiB", kMaxDocumentBytes >> 20);
  if (!problem.empty()) {
    input.refuse(fmt::format("A Flight Recorder dump that cannot be read: {}.", problem));
  }
  return shard;
}

}  // namespace ncclog

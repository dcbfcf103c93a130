#include "app/read_document.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "import/flight_recorder.h"
#include "import/ras_json.h"
#include "import/topology_xml.h"

namespace ncclog {
namespace {

std::string import_dump(std::string_view bytes, const WalkedInput& name, Shard& shard) {
  FlightRecorderImport import = import_flight_recorder(bytes, name.path);
  if (!import.problem.empty()) return std::move(import.problem);
  import.dump.where.unit = name.number;
  shard.add(std::move(import.dump));
  return {};
}

std::string import_answer(std::string_view bytes, const WalkedInput& name, Shard& shard) {
  RasImport import = import_ras_json(bytes);
  if (!import.problem.empty()) return std::move(import.problem);
  import.report.where.unit = name.number;
  shard.add(std::move(import.report));
  return {};
}

std::string import_devices(std::string_view bytes, const WalkedInput& name, Shard& shard) {
  TopologyImport import = import_topology(bytes);
  if (!import.problem.empty()) return std::move(import.problem);
  TopologyFile file;
  file.where.unit = name.number;
  file.path = name.path;
  file.system = std::move(import.system);
  shard.add(std::move(file));
  return {};
}

/// How documents of one content are read.
struct Importer {
  std::string_view what;
  /// Puts what the bytes say into `shard`; answers why it could not, a clause, or nothing.
  std::string (*import)(std::string_view bytes, const WalkedInput& name, Shard& shard);
};

constexpr Importer kDump = {"A Flight Recorder dump", import_dump};
constexpr Importer kAnswer = {"An answer of NCCL's RAS service", import_answer};
constexpr Importer kDevices = {"A topology file", import_devices};

const Importer& importer_of(Content content) {
  if (content == Content::Ras) return kAnswer;
  return content == Content::Topology ? kDevices : kDump;
}

}  // namespace

std::optional<std::string> read_document_bytes(UnitReader& input) {
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

Shard read_document(UnitReader& input, const WalkedInput& name) {
  Shard shard(name.number, name.input_number);
  const std::optional<std::string> bytes = read_document_bytes(input);
  const Importer& importer = importer_of(input.content());
  const std::string problem =
      bytes ? importer.import(*bytes, name, shard)
            : fmt::format("it is larger than {} MiB", kMaxDocumentBytes >> 20);
  if (!problem.empty()) {
    input.refuse(fmt::format("{} that cannot be read: {}.", importer.what, problem));
  }
  return shard;
}

}  // namespace ncclog

#include "app/read/read_document.h"

#include <fmt/format.h>

#include <filesystem>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "import/import.h"
#include "input/byte_source.h"

namespace ncclog {
namespace {

/// Puts what a document says into `shard`; answers why it could not, a clause, or nothing.
std::string import_document(std::string_view bytes, Content content, const WalkedInput& name,
                            Shard& shard) {
  if (content == Content::Ras) {
    Imported<RasReport> import = import_ras_json(bytes);
    import.value.where.unit = name.number;
    if (import.problem.empty()) shard.add(std::move(import.value));
    return std::move(import.problem);
  }
  if (content == Content::NcclTests) {
    Imported<NcclTestsRun> import = import_nccl_tests(bytes);
    if (import.problem.empty()) shard.add(std::move(import.value), name.number);
    return std::move(import.problem);
  }
  if (content == Content::Inspector) {
    auto import = import_inspector(bytes);
    for (InspectedRank& rank : import.value) {
      rank.where.unit = name.number;
      shard.add(std::move(rank));
    }
    return std::move(import.problem);
  }
  if (content == Content::Topology) {
    Imported<SystemTopology> import = import_topology(bytes);
    HostTopology file;
    file.source = name.path;
    file.system = std::move(import.value);
    if (import.problem.empty()) shard.add(std::move(file));
    return std::move(import.problem);
  }
  if (content == Content::Lspci) {
    auto import = import_lspci(bytes, name.number);
    for (PciListing& listing : import.value) {
      listing.source = name.path;
      shard.add(std::move(listing));
    }
    return std::move(import.problem);
  }
  Imported<FlightRecorderDump> import = import_flight_recorder(bytes, name.path);
  import.value.where.unit = name.number;
  if (import.problem.empty()) shard.add(std::move(import.value));
  return std::move(import.problem);
}

}  // namespace

std::string read_file_up_to(const std::string& path, size_t most) {
  const std::string name = path == kStdinPath ? "standard input" : path;
  if (std::filesystem::is_directory(path)) throw Error("a folder, not a file", name);
  const RawBytes file = open_file(path);
  std::string bytes = read_up_to(file, most);
  if (!file.error().empty()) throw Error(file.error(), name, "check the path and who may read it");
  return bytes;
}

std::optional<std::string> read_document_bytes(UnitReader& input) {
  std::string bytes = read_up_to(input, kMaxDocumentBytes);
  return bytes.size() <= kMaxDocumentBytes ? std::optional(std::move(bytes)) : std::nullopt;
}

Shard read_document(UnitReader& input, const WalkedInput& name) {
  // The Inspector's file grows with the job; any part of it tells enough.
  return read_document(input, name,
                       input.content() == Content::Inspector ? read_up_to(input, kMaxDocumentBytes)
                                                             : read_document_bytes(input));
}

Shard read_document(UnitReader& input, const WalkedInput& name,
                    const std::optional<std::string>& bytes) {
  Shard shard;
  const Content content = input.content();
  const std::string problem =
      bytes ? import_document(*bytes, content, name, shard)
            : fmt::format("it is larger than {} MiB", kMaxDocumentBytes >> 20);
  if (!problem.empty()) {
    const std::string_view what = content == Content::Ras ? "An answer of NCCL's RAS service"
                                  : content == Content::NcclTests ? "A file of nccl-tests' results"
                                  : content == Content::Inspector ? "A file of NCCL's Inspector"
                                  : content == Content::Topology  ? "A topology file"
                                  : content == Content::Lspci     ? "A listing of PCI devices"
                                                                  : "A Flight Recorder dump";
    input.refuse(fmt::format("{} that cannot be read: {}.", what, problem));
  }
  return shard;
}

}  // namespace ncclog

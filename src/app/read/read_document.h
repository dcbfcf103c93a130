// What does a structured companion of the logs say? It is read whole, by the importer that its
// content asks for; what that cannot understand is refused.
//
//   dump_0, ras.json, lspci.txt   → import/import.h → a Shard, merged like that of a log
//   {"pg_config": {, cut off      → "A Flight Recorder dump that cannot be read: …", an empty Shard
//   gpu-n41.host, doctor.json     → reports of hosts, which judge beside the logs

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "input/input_walk.h"
#include "input/line_reader.h"
#include "model/companions/host_report.h"
#include "model/shard/shard.h"

namespace ncclog {

/// Larger documents are not read: none that a job writes is nearly as large.
inline constexpr size_t kMaxDocumentBytes = size_t{64} << 20;

/// All bytes of `input`, RawBytes or a UnitReader, or somewhat more than `most` of them.
template <typename Input>
std::string read_up_to(Input& input, size_t most) {
  constexpr size_t kBlock = size_t{64} << 10;
  std::string bytes;
  for (size_t count = 1; count > 0 && bytes.size() <= most;) {
    const size_t size = bytes.size();
    bytes.resize(size + kBlock);
    count = input.read(bytes.data() + size, kBlock);
    bytes.resize(size + count);
  }
  return bytes;
}

/// The same of the file at `path`, "-" for standard input. Throws Error if it cannot be read.
std::string read_file_up_to(const std::string& path, size_t most);

/// All bytes of a document; nullopt if there are more than kMaxDocumentBytes.
std::optional<std::string> read_document_bytes(UnitReader& input);

/// What `input` says, of which is_document(input.content()) holds, or which is a file of a tree of
/// counters; `name` is its own. What cannot
/// be understood is refused and gives an empty shard. `rest` becomes the bytes that may hold lines of
/// a log: those behind the document, or all of a listing.
Shard read_document(UnitReader& input, const WalkedInput& name, std::string& rest);

/// The reports in a file: one of a record, any number of a JSON report of doctor or analyze. Throws
/// Error if it is neither.
std::vector<HostReport> load_host_reports(const std::string& path);

/// True for a file "NAME.host" that is a record. Beside logs, it is one of a host of the job.
bool is_host_record(const std::string& path);

}  // namespace ncclog

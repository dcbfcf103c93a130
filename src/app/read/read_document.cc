#include "app/read/read_document.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "host/read_host.h"
#include "import/import.h"
#include "input/byte_source.h"

namespace ncclog {
namespace {

/// Stacks in JSON are lines of the process that they are of, as if it had printed them.
std::string add_py_spy(std::string_view bytes, const WalkedInput& name, Shard& shard) {
  auto import = import_py_spy(bytes);
  SpeakerLog& log = shard.speakers[{.input = static_cast<int64_t>(name.input_number)}];
  log.lines = 1;
  log.first = log.last = {name.number, 1};
  for (const std::string& line : import.value) {
    log.add_stack_line(make_record(log.first, line), shard.limit);
  }
  return std::move(import.problem);
}

/// Puts what a document says into `shard`; answers why it could not, a clause, or nothing. `used`
/// becomes the number of bytes that are the document's.
std::string import_document(std::string_view bytes, Content content, const WalkedInput& name,
                            Shard& shard, size_t& used) {
  used = bytes.size();
  if (content == Content::Ras) {
    auto import = import_ras_json(bytes);
    for (RasReport& report : import.value) {
      report.where.unit = name.number;
      shard.add(std::move(report));
    }
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
  if (content == Content::Text) {
    used = 0;
    auto counter = import_counter_file(bytes, name.number, name.path);
    if (counter) shard.add(std::move(*counter));
    return {};
  }
  if (content == Content::Counters) {
    auto import = import_counters(bytes, name.number, name.path);
    for (PortCounter& counter : import.value) shard.add(std::move(counter));
    used = 0;  // Around them stands anything, and all of it is read as a log, too.
    return {};
  }
  if (content == Content::Lspci) {
    auto import = import_lspci(bytes, name.number);
    used = 0;  // Around the listing people write all that they know of a host.
    for (PciListing& listing : import.value) {
      listing.source = name.path;
      shard.add(std::move(listing));
    }
    return std::move(import.problem);
  }
  if (content == Content::PySpy) return add_py_spy(bytes, name, shard);
  FlightRecorderDumps import = import_flight_recorders(bytes, name.path);
  for (FlightRecorderDump& dump : import.dumps) {
    dump.where.unit = name.number;
    shard.add(std::move(dump));
  }
  used = import.used;
  return std::move(import.problem);
}

/// Records of large hosts have some 200 KB.
constexpr size_t kMaxReportBytes = size_t{64} << 20;

HostReport report_of_record(std::string_view text, const std::string& path) {
  HostTree tree = HostTree::recorded(text, path);
  HostReport report = read_host(tree, path);
  // Who writes a record by hand may leave its name out.
  if (report.host.empty()) report.host = std::filesystem::path(path).stem().string();
  return report;
}

std::vector<HostReport> reports_of_json(std::string_view text, const std::string& path) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto list = json.is_object() ? json.find("host_reports") : json.end();
  std::vector<HostReport> reports;
  if (json.is_object() && list != json.end() && list->is_array()) {
    for (const auto& each : *list) {
      const auto lines = each.is_object() ? each.find("record") : each.end();
      if (!each.is_object() || lines == each.end() || !lines->is_array()) continue;
      std::string record;
      for (const auto& line : *lines) {
        if (line.is_string()) record += line.get<std::string>() + "\n";
      }
      reports.push_back(report_of_record(record, path));
    }
  }
  if (!reports.empty()) return reports;
  throw Error("no report of a host", path,
              "name what 'ncclog doctor --format json' or 'ncclog doctor --record FILE' wrote");
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

Shard read_document(UnitReader& input, const WalkedInput& name, std::string& rest) {
  // The Inspector's file grows with the job; any part of it tells enough.
  std::optional<std::string> bytes = input.content() == Content::Inspector
                                         ? read_up_to(input, kMaxDocumentBytes)
                                         : read_document_bytes(input);
  Shard shard;
  const Content content = input.content();
  size_t used = 0;
  const std::string problem =
      bytes ? import_document(*bytes, content, name, shard, used)
            : fmt::format("it is larger than {} MiB", kMaxDocumentBytes >> 20);
  if (!problem.empty()) {
    const std::string_view what = content == Content::Ras ? "An answer of NCCL's RAS service"
                                  : content == Content::NcclTests ? "A file of nccl-tests' results"
                                  : content == Content::Inspector ? "A file of NCCL's Inspector"
                                  : content == Content::Topology  ? "A topology file"
                                  : content == Content::Lspci     ? "A listing of PCI devices"
                                  : content == Content::PySpy     ? "A dump of py-spy"
                                                                  : "A Flight Recorder dump";
    input.refuse(fmt::format("{} that cannot be read: {}.", what, problem));
  }
  const bool has_lines = bytes && (problem.empty() || content == Content::Lspci);
  rest = has_lines ? bytes->substr(used) : std::string();
  return shard;
}

std::vector<HostReport> load_host_reports(const std::string& path) {
  const std::string text = read_file_up_to(path, kMaxReportBytes);
  if (text.size() > kMaxReportBytes) throw Error("too large for a report of a host", path);
  if (text.starts_with(kHostRecordHead)) return {report_of_record(text, path)};
  return reports_of_json(text, path);
}

bool is_host_record(const std::string& path) {
  return path.ends_with(".host") &&
         read_host_file(path, kHostRecordHead.size()).text == kHostRecordHead;
}

}  // namespace ncclog

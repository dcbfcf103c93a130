#include "input/find_inputs.h"

#include <glob.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace ncclog {
// Two rounds: everything that is reached without links, then what only a link leads to. So
// `latest -> run3` adds nothing beside `run3`, whichever of the two sorts first.

namespace {

namespace fs = std::filesystem;

/// Device and inode: the same for every name of a file.
using FileId = std::pair<dev_t, ino_t>;

struct Search {
  bool is_one_enough = false;      ///< Whether there is any file is all that is asked.
  std::set<FileId> seen;           ///< Files and folders already taken.
  std::vector<std::string> links;  ///< Links met in folders, for the second round.
  std::vector<std::string> found;
  std::vector<std::string> skipped;

  bool is_over() const { return is_one_enough && !found.empty(); }
};

void take(const std::string& path, const struct stat& file, Search& search);

/// The visible entries of `folder`; `error` is set if it cannot be listed.
std::vector<std::string> entries(const std::string& folder, std::error_code& error) {
  std::vector<std::string> paths;
  fs::directory_iterator it(folder, error);
  while (!error && it != fs::directory_iterator()) {
    const fs::path& path = it->path();
    if (!path.filename().native().starts_with('.')) paths.push_back(path.native());
    it.increment(error);
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// What ncclog-replay writes beside the logs of its runs, which are those of another job.
std::string outcome_in(const std::string& folder) { return folder + "/outcome.json"; }

bool is_of_a_replay(const std::string& folder) {
  constexpr std::string_view kBegin = "{\n  \"schema\": \"ncclog.replay-outcome/";
  std::ifstream file(outcome_in(folder), std::ios::binary);
  std::string begin(kBegin.size(), '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin == kBegin;
}

void visit_entry(const std::string& path, Search& search) {
  struct stat entry = {};
  if (lstat(path.c_str(), &entry) != 0) {
    search.found.push_back(path);
  } else if (S_ISLNK(entry.st_mode)) {
    search.links.push_back(path);
  } else if (S_ISDIR(entry.st_mode) && is_of_a_replay(path)) {
    search.found.push_back(outcome_in(path));
  } else if (S_ISREG(entry.st_mode) || S_ISDIR(entry.st_mode)) {
    take(path, entry, search);
  } else {
    search.skipped.push_back(path);
  }
}

void visit(const std::string& path, Search& search) {
  struct stat file = {};
  if (stat(path.c_str(), &file) == 0) return take(path, file, search);
  search.found.push_back(path);
}

/// `file` is what `path` leads to.
void take(const std::string& path, const struct stat& file, Search& search) {
  if (!search.seen.emplace(file.st_dev, file.st_ino).second) return;
  if (!S_ISDIR(file.st_mode)) {
    search.found.push_back(path);
    return;
  }
  std::error_code error;
  for (const std::string& entry : entries(path, error)) {
    if (search.is_over()) return;
    visit_entry(entry, search);
  }
  if (error) search.found.push_back(path);
}

/// Files there are made while they are read, some without end, and none of them is a log.
bool is_of_kernel(const std::string& path) {
  struct statfs system = {};
  return statfs(path.c_str(), &system) == 0 &&
         (system.f_type == PROC_SUPER_MAGIC || system.f_type == SYSFS_MAGIC);
}

/// Links are followed only when nothing else is left; following one may find more of them.
void follow_links(Search& search) {
  while (!search.links.empty() && !search.is_over()) {
    std::vector<std::string> links = std::exchange(search.links, {});
    std::sort(links.begin(), links.end());
    for (const std::string& link : links) {
      struct stat target = {};
      const bool readable = stat(link.c_str(), &target) == 0;
      const bool is_file = S_ISREG(target.st_mode) || S_ISDIR(target.st_mode);
      if (!readable || (is_file && !is_of_kernel(link))) {
        visit(link, search);
      } else {
        search.skipped.push_back(link);
      }
    }
  }
}

std::vector<std::string> expand_glob(const std::string& pattern) {
  glob_t matches{};
  std::vector<std::string> paths;
  if (glob(pattern.c_str(), GLOB_NOSORT, nullptr, &matches) == 0) {
    paths.assign(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
  }
  globfree(&matches);
  if (paths.empty()) {
    throw Error("no file matches this pattern", pattern, "list the folder to see what is there");
  }
  return paths;
}

/// An existing path is meant literally, even if it holds a '*'.
std::vector<std::string> expand(const std::string& argument) {
  if (argument == kStdinPath) return {argument};
  std::error_code error;
  const fs::file_status status = fs::status(argument, error);
  if (fs::exists(status)) return {argument};
  if (error && status.type() != fs::file_type::not_found) {
    throw Error(error.message(), argument, "check the permissions of the folders above it");
  }
  if (argument.find_first_of("*?[") != argument.npos) return expand_glob(argument);
  throw Error("no such file or folder", argument, "check the spelling, or quote a pattern");
}

/// "runs/7//logs" as "runs/7/logs": reports quote it, and scripts join names that end in a slash.
std::string with_single_slashes(std::string path) {
  const auto is_double = [](char a, char b) { return a == '/' && b == '/'; };
  path.erase(std::unique(path.begin(), path.end(), is_double), path.end());
  return path;
}

/// Sorted and without repetition, before anything is visited: the order given decides nothing.
std::vector<std::string> expand_all(std::span<const std::string> arguments) {
  if (arguments.empty()) {
    throw Error("no logs named", {}, "give files or folders, or '-' to read standard input");
  }
  std::set<std::string> paths;
  for (const std::string& argument : arguments) {
    for (std::string& path : expand(argument)) paths.insert(with_single_slashes(std::move(path)));
  }
  return {paths.begin(), paths.end()};
}

bool is_folder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

/// A pipe that a link leads to is read at once: that is how a shell passes `<(zcat x)`.
bool is_link_to_file_or_folder(const std::string& path) {
  std::error_code error;
  return fs::is_symlink(fs::symlink_status(path, error)) &&
         (fs::is_regular_file(path, error) || fs::is_directory(path, error));
}

/// A folder in which nothing can be found is a mistake in the request, not an empty log.
void require_files(const std::string& argument) {
  Search search{.is_one_enough = true};
  std::error_code error;
  entries(argument, error);
  if (error) throw Error(error.message(), argument, "check the permissions of this folder");
  visit(argument, search);
  follow_links(search);
  if (search.found.empty()) {
    throw Error("no files in this folder", argument,
                "hidden entries are left out; name a file itself to read it");
  }
}

}  // namespace

std::vector<std::string> find_inputs(std::span<const std::string> arguments,
                                     std::vector<std::string>* skipped) {
  Search search;
  for (const std::string& path : expand_all(arguments)) {
    if (path == kStdinPath) {
      search.found.push_back(path);
      continue;
    }
    if (is_folder(path)) require_files(path);
    if (is_link_to_file_or_folder(path)) {
      search.links.push_back(path);
    } else {
      visit(path, search);
    }
  }
  follow_links(search);
  std::sort(search.found.begin(), search.found.end());
  std::sort(search.skipped.begin(), search.skipped.end());
  if (skipped != nullptr) *skipped = std::move(search.skipped);
  return search.found;
}

std::string find_link_outside(std::span<const std::string> arguments,
                              std::span<const std::string> inputs) {
  std::error_code error;
  const auto place_of = [&](const std::string& path) {
    return fs::canonical(path, error).native();
  };
  std::set<std::string> named;
  for (const std::string& path : expand_all(arguments)) named.insert(place_of(path));
  if (named.contains("/")) return {};
  for (const std::string& input : inputs) {
    std::string place = place_of(input);
    while (!place.empty() && !named.contains(place)) place.resize(place.find_last_of('/'));
    if (place.empty() && input != kStdinPath && !error) return input;
  }
  return {};
}

// What is in a file, by its first bytes.

namespace {

using namespace std::string_view_literals;

struct ContentMagic {
  Content content;
  size_t offset;
  std::string_view bytes;
};

constexpr ContentMagic kContentMagics[] = {
    {Content::Elf, 0,
     "\x7f"
     "ELF"sv},
    {Content::Part, 0, "ncclog part "sv},
    {Content::OwnReport, 0, "<!-- ncclog report -->"sv},
    {Content::OwnReport, 0, "{\n  \"schema\": \"ncclog."sv},
    {Content::OwnReport, 0, "ncclog report"sv},
    {Content::Html, 0, "<!DOCTYPE html"sv},
    {Content::Html, 0, "<!doctype html"sv},
    {Content::Sqlite, 0, "SQLite format 3\0"sv},
    {Content::Image, 0, "\x89PNG\r\n\x1a\n"sv},
    {Content::Image, 0, "\xff\xd8\xff"sv},
    {Content::Image, 0, "GIF87a"sv},
    {Content::Image, 0, "GIF89a"sv},
    {Content::Pdf, 0, "%PDF-"sv},
    {Content::Archive, 0, "PK\x03\x04"sv},
    {Content::Archive, 0, "PK\x05\x06"sv},
    {Content::Archive, 0, "7z\xbc\xaf\x27\x1c"sv},
    {Content::OtherArchive, 0, "Rar!\x1a\x07"sv},
    {Content::Archive, 257, "ustar"sv},
    {Content::Compressed, 0, "\x04\x22\x4d\x18"sv},  // lz4
    {Content::Compressed, 0, "\x1f\x9d"sv},          // compress, .Z
};

/// A row of contents.table.
struct ContentRow {
  std::string_view enumerator, name, note;
};

/// Indexed by Content.
constexpr ContentRow kContentRows[] = {
#include "input/contents.inc"
};

/// Protocols 2 to 5 start with 0x80 and their number and continue with a dict, list, frame or other
/// opcode, never with a plain UTF-8 tail byte.
bool is_pickle(std::string_view head) {
  return head.size() >= 3 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5;
}

/// torch/csrc/distributed/c10d/FlightRecorder: the top-level keys, in the pickle as bare strings.
/// PyTorch writes protocol 2; people who loaded and saved a dump have any other.
bool is_flight_recorder_pickle(std::string_view head) {
  static constexpr std::string_view kKeys[] = {"pg_config", "pg_status", "entries"};
  // Protocols 0 and 1 have no such start: a dict of theirs begins with "(d" or "}q".
  const bool is_old_dict = head.starts_with("(dp") || head.starts_with("}q");
  return (is_pickle(head) || is_old_dict) && holds_one_of(head, kKeys);
}

/// The JSON form sorts its keys, so a long "entries" can push "pg_config" out of the head: then a
/// key that only entries have must vouch for it. Several dumps may be a list.
bool is_flight_recorder_json(std::string_view head) {
  static constexpr std::string_view kTopKeys[] = {"\"pg_config\"", "\"pg_status\"",
                                                  "\"nccl_comm_state\""};
  static constexpr std::string_view kEntryKeys[] = {"\"collective_seq_id\"", "\"profiling_name\"",
                                                    "\"process_group\"", "\"pg_id\""};
  const size_t start = head.find_first_not_of(" \t\r\n");
  if (start == head.npos || (head[start] != '{' && head[start] != '[')) return false;
  if (holds_one_of(head, kTopKeys)) return true;
  return head.find("\"entries\"") != head.npos && holds_one_of(head, kEntryKeys);
}

/// ras/client_support.cc: the keys that stand before the first communicator, or those of what a
/// monitor reports; the service's own greeting, a date or the monitor's may stand before.
bool is_ras_json(std::string_view head) {
  constexpr size_t kGreeting = 256;
  size_t start = head.find_first_not_of(" \t\r\n");
  if (start != head.npos && head[start] != '{') start = head.substr(0, kGreeting).find("\n{") + 1;
  if (start >= head.size() || head[start] != '{') return false;
  const std::string_view keys =
      head.substr(std::min(head.find_first_not_of(" \t\r\n", start + 1), head.size()));
  const auto has = [&](std::string_view key) { return keys.find(key) != keys.npos; };
  if (has("\"nccl_version\"") && has("\"communicators_count\"")) return true;
  return keys.starts_with("\"timestamp\"") && has("\"group\"") && has("\"event\"") &&
         has("\"PEER_");
}

/// nccl-tests, src/util.cu: the keys with which -J begins. rccl-tests, src/common.cu: a list of
/// records, or a line for each.
bool is_nccl_tests_results(std::string_view head) {
  if (head.starts_with("numCycle,")) return lower_case(head).find("busbw") != head.npos;
  const size_t start = head.find_first_not_of(" \t\r\n");
  if (start != head.npos && head[start] == '[') {
    return head.find("\"numCycle\"") != head.npos && head.find("\"busBw\"") != head.npos;
  }
  return start != head.npos && head[start] == '{' && head.find("\"start_time\"") != head.npos &&
         head.find("\"args\"") != head.npos && head.find("\"env\"") != head.npos;
}

/// plugins/profiler/inspector: every object begins alike, and one ends within the head.
bool is_inspector_json(std::string_view head) {
  static constexpr std::string_view kParts[] = {"\"inspector_output_format_version\"",
                                                "\"coll_perf\"", "\"p2p_perf\""};
  const size_t start = head.find_first_not_of(" \t\r\n[");
  return start != head.npos && head[start] == '{' && head.find("\"header\"") != head.npos &&
         holds_one_of(head, kParts);
}

/// py-spy, src/stack_trace.rs: a list of threads, the keys of the first one.
bool is_py_spy_json(std::string_view head) {
  const size_t start = head.find_first_not_of(" \t\r\n");
  return start != head.npos && head[start] == '[' && head.find("\"thread_id\"") != head.npos &&
         head.find("\"owns_gil\"") != head.npos;
}

/// graph/xml.cc: the root element and what stands in it first, perhaps after an XML declaration.
bool is_topology_xml(std::string_view head) {
  static constexpr std::string_view kInside[] = {"<cpu", "<pci", "<nic"};
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  if (head.starts_with("<?xml")) head.remove_prefix(std::min(head.find("?>"), head.size() - 2) + 2);
  const size_t start = head.find_first_not_of(" \t\r\n");
  return start != head.npos && head.substr(start).starts_with("<system") &&
         holds_one_of(head, kInside);
}

/// "17:00.0 " or "0000:17:00.0 " is in the line, at its begin or behind a host's name: no time.
bool names_pci_device(std::string_view line) {
  const size_t dot = line.find('.');
  constexpr std::string_view kShape = "00:00";
  if (dot == line.npos || dot < kShape.size() || dot + 2 >= line.size()) return false;
  const size_t begin = dot - kShape.size();
  const std::string_view number = line.substr(begin, kShape.size());
  const bool has_domain = begin >= 5 && line[begin - 1] == ':' && is_hex_digit(line[begin - 4]) &&
                          is_hex_digit(line[begin - 5]);
  if (begin > 0 && !has_domain && line[begin - 1] != ' ') return false;
  const auto fits = [](char c, char wanted) { return wanted == ':' ? c == ':' : is_hex_digit(c); };
  return std::ranges::equal(number, kShape, fits) && is_hex_digit(line[dot + 1]) &&
         line[dot + 2] == ' ' && line.find(": ", dot) != line.npos;
}

/// pciutils, lspci.c: a device begins a line, and what is told of it is indented. A log that quotes
/// a listing, even at its beginning, is a log.
bool is_lspci(std::string_view head) {
  static constexpr std::string_view kOfDevice[] = {"LnkCap:", "LnkSta:", "Control: I/O",
                                                   "Capabilities: <access denied>"};
  static constexpr std::string_view kOfLogs[] = {"NCCL", "# nThread"};
  if (!holds_one_of(head, kOfDevice) || holds_one_of(head, kOfLogs)) return false;
  for (size_t at = 0; at < head.size();) {
    const size_t end = std::min(head.find('\n', at), head.size());
    if (names_pci_device(head.substr(at, end - at))) return true;
    at = end + 1;
  }
  return false;
}

/// sysfs, rdma statistic, ethtool -S, perfquery, nvidia-smi nvlink -e and -q, dcgmi nvlink -e: what a
/// list of counters holds. A log that quotes one is a log.
bool is_counters(std::string_view head) {
  static constexpr std::string_view kOfLists[] = {"/counters/",
                                                  "hw_counters/",
                                                  "aer_dev_",
                                                  "NIC statistics:",
                                                  "ethtool -S ",
                                                  "# Port counters:",
                                                  "# Port extended counters:",
                                                  "Replay Errors:",
                                                  "CRC Errors:",
                                                  "CRC FLIT Error",
                                                  "rx_write_requests ",
                                                  "\"rx_write_requests\":",
                                                  ": <inactive>",
                                                  "NVSMI LOG",
                                                  "Attached GPUs  ",
                                                  "Power Limit   ",
                                                  "HW Slowdown   ",
                                                  "Remapped Rows",
                                                  "NvLink Link Status"};
  static constexpr std::string_view kOfLogs[] = {"NCCL", "# nThread"};
  // nvidia-smi nvlink -s, where all links are up.
  const auto holds = [&](std::string_view words) { return head.find(words) != head.npos; };
  const bool is_link_status = holds("(UUID: GPU-") && holds(" Link 0: ") && holds(" GB/s");
  const bool is_excerpt = holds("rx_prio0_") || holds("rx_bytes_phy:");  // ethtool -S, by grep.
  return (is_link_status || is_excerpt || holds_one_of(head, kOfLists)) &&
         !holds_one_of(head, kOfLogs);
}

bool is_control(char c) {
  constexpr std::string_view kInText = "\t\n\r\f\v\b\a\x1b";
  const auto byte = static_cast<uint8_t>(c);
  return (byte < 0x20 && kInText.find(c) == kInText.npos) || byte == 0x7F;
}

/// Of evenly distributed bytes one in ten is a control character; of a log's, far fewer. Runs of NULs
/// are holes: a log truncated while open, or a page that never reached the disk.
bool is_binary(std::string_view head) {
  constexpr size_t kHole = 16;
  constexpr size_t kAlwaysAllowed = 8;
  size_t bytes = 0;
  size_t controls = 0;
  for (size_t i = 0; i < head.size();) {
    const size_t end = std::min(head.find_first_not_of('\0', i), head.size());
    if (end - i >= kHole) {
      i = end;
      continue;
    }
    ++bytes;
    controls += is_control(head[i++]) ? 1 : 0;
  }
  return controls > kAlwaysAllowed && controls * 20 > bytes;
}

}  // namespace

Compression sniff_compression(std::string_view head) {
  if (head.starts_with("\x1f\x8b\x08")) return Compression::Gzip;
  if (head.starts_with("\xFD"
                       "7zXZ\0"sv))
    return Compression::Xz;
  // "BZh", the block size as a digit, then the start of a block or of the end marker. The last byte
  // keeps text that begins with "BZh9" apart.
  const bool is_bzip2 = head.size() >= 5 && head.starts_with("BZh") && head[3] >= '1' &&
                        head[3] <= '9' && (head[4] == '\x31' || head[4] == '\x17');
  if (is_bzip2) return Compression::Bzip2;
  // Magic numbers 0x184D2A50 to 0x184D2A5F: frames that carry no data, as pzstd puts first.
  const bool is_skippable_zstd_frame = head.size() >= 4 &&
                                       (static_cast<uint8_t>(head[0]) & 0xF0) == 0x50 &&
                                       head.substr(1, 3) == "\x2a\x4d\x18";
  if (head.starts_with("\x28\xb5\x2f\xfd") || is_skippable_zstd_frame) return Compression::Zstd;
  return Compression::None;
}

Utf16 sniff_utf16(std::string_view head) {
  if (head.starts_with("\xff\xfe\0\0"sv)) return Utf16::None;
  if (head.starts_with("\xff\xfe")) return Utf16::LittleEndian;
  if (head.starts_with("\xfe\xff")) return Utf16::BigEndian;
  constexpr size_t kFewest = 32;  // Characters that are no accident.
  const size_t count = head.substr(0, kHeadBytes).size() / 2;
  size_t plain[2] = {};  // By which of the two bytes is the character.
  for (size_t i = 0; i < 2 * count; i += 2) {
    const auto is_plain = [](char c) { return (c >= ' ' && c <= '~') || (c >= '\t' && c <= '\r'); };
    for (const size_t at : {size_t{0}, size_t{1}}) {
      plain[at] += is_plain(head[i + at]) && head[i + 1 - at] == '\0' ? 1 : 0;
    }
  }
  const auto is_text = [&](size_t at) { return count >= kFewest && plain[at] * 10 >= count * 9; };
  if (is_text(0)) return Utf16::LittleEndian;
  return is_text(1) ? Utf16::BigEndian : Utf16::None;
}

Content sniff_content(std::string_view head) {
  head = head.substr(0, kHeadBytes);
  if (head.empty()) return Content::Empty;
  for (const ContentMagic& magic : kContentMagics) {
    const bool fits =
        head.size() >= magic.offset && head.substr(magic.offset).starts_with(magic.bytes);
    if (fits) return magic.content;
  }
  if (is_flight_recorder_pickle(head) || is_flight_recorder_json(head)) {
    return Content::FlightRecorder;
  }
  if (is_ras_json(head)) return Content::Ras;
  if (is_nccl_tests_results(head)) return Content::NcclTests;
  if (is_inspector_json(head)) return Content::Inspector;
  if (is_topology_xml(head)) return Content::Topology;
  if (is_py_spy_json(head)) return Content::PySpy;
  if (is_counters(head)) return Content::Counters;
  if (is_lspci(head)) return Content::Lspci;
  if (is_pickle(head)) return Content::Pickle;
  if (sniff_compression(head) != Compression::None) return Content::Compressed;
  return is_binary(head) ? Content::Binary : Content::Text;
}

std::string_view to_string(Content content) {
  return kContentRows[static_cast<size_t>(content)].name;
}

std::string_view content_note(Content content) {
  return kContentRows[static_cast<size_t>(content)].note;
}

}  // namespace ncclog

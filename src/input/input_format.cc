#include "input/input_format.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>

namespace ncclog {
namespace {

using namespace std::string_view_literals;

struct CompressionMagic {
  Compression compression;
  std::string_view bytes;
};

constexpr CompressionMagic kCompressionMagics[] = {
    {Compression::Gzip, "\x1f\x8b\x08"sv},
    {Compression::Xz,
     "\xfd"
     "7zXZ\0"sv},
    {Compression::Zstd, "\x28\xb5\x2f\xfd"sv},
};

struct ContentMagic {
  Content content;
  size_t offset;
  std::string_view bytes;
};

constexpr ContentMagic kContentMagics[] = {
    {Content::Utf16, 0, "\xff\xfe"sv},
    {Content::Utf16, 0, "\xfe\xff"sv},
    {Content::Elf, 0,
     "\x7f"
     "ELF"sv},
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

struct ContentRow {
  std::string_view name;
  std::string_view note;
};

/// Indexed by Content.
constexpr ContentRow kContentRows[] = {
    {"text", ""},
    {"empty", ""},
    {"utf16", "UTF-16 text; convert it to UTF-8 to have it read."},
    {"flight_recorder", "A Flight Recorder dump of PyTorch, not a text log."},
    {"ras", "An answer of NCCL's RAS service, not a text log."},
    {"topology", "A topology file of NCCL, not a text log."},
    {"pickle", "A Python pickle, not a text log; it is not parsed and never loaded."},
    {"ncclog_report", "A report of ncclog, not a log."},
    {"html", "An HTML page, not a text log."},
    {"elf", "A program, library or core dump, not a text log."},
    {"sqlite", "An SQLite database, not a text log."},
    {"image", "An image, not a text log."},
    {"pdf", "A PDF document, not a text log."},
    {"archive", "An archive that is not opened here; unpack it to have the logs in it read."},
    {"other_archive", "An archive of a kind that is not read here; unpack it first."},
    {"compressed", "Compressed in a way that is not read here; unpack it first."},
    {"binary", "Binary data, not a text log."},
};
static_assert(std::size(kContentRows) == static_cast<size_t>(Content::Binary) + 1);

/// Magic numbers 0x184D2A50 to 0x184D2A5F: frames that carry no data, as pzstd puts first.
bool is_skippable_zstd_frame(std::string_view head) {
  return head.size() >= 4 && (static_cast<uint8_t>(head[0]) & 0xF0) == 0x50 &&
         head.substr(1, 3) == "\x2a\x4d\x18";
}

/// "BZh", the block size as a digit, then the start of a block or of the end marker. The last byte
/// keeps text that begins with "BZh9" apart.
bool is_bzip2(std::string_view head) {
  return head.size() >= 5 && head.starts_with("BZh") && head[3] >= '1' && head[3] <= '9' &&
         (head[4] == '\x31' || head[4] == '\x17');
}

bool holds_any(std::string_view head, std::span<const std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return head.find(word) != head.npos; });
}

/// Protocols 2 to 5 start with 0x80 and their number and continue with a dict, list, frame or other
/// opcode, never with a plain UTF-8 tail byte.
bool is_pickle(std::string_view head) {
  return head.size() >= 3 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5;
}

/// Protocols 0 and 1 have no such start: a dict of theirs begins with "(d" or "}q".
bool is_old_pickle_dict(std::string_view head) {
  return head.starts_with("(dp") || head.starts_with("}q");
}

/// torch/csrc/distributed/c10d/FlightRecorder: the top-level keys, in the pickle as bare strings.
/// PyTorch writes protocol 2; people who loaded and saved a dump have any other.
bool is_flight_recorder_pickle(std::string_view head) {
  static constexpr std::string_view kKeys[] = {"pg_config", "pg_status", "entries"};
  return (is_pickle(head) || is_old_pickle_dict(head)) && holds_any(head, kKeys);
}

/// The JSON form sorts its keys, so a long "entries" can push "pg_config" out of the head: then a
/// key that only entries have must vouch for it.
bool is_flight_recorder_json(std::string_view head) {
  static constexpr std::string_view kTopKeys[] = {"\"pg_config\"", "\"pg_status\"",
                                                  "\"nccl_comm_state\""};
  static constexpr std::string_view kEntryKeys[] = {"\"collective_seq_id\"", "\"profiling_name\"",
                                                    "\"process_group\"", "\"pg_id\""};
  const size_t start = head.find_first_not_of(" \t\r\n");
  if (start == head.npos || head[start] != '{') return false;
  if (holds_any(head, kTopKeys)) return true;
  return head.find("\"entries\"") != head.npos && holds_any(head, kEntryKeys);
}

/// ras/client_support.cc: the keys that stand before the first communicator.
bool is_ras_json(std::string_view head) {
  const size_t start = head.find_first_not_of(" \t\r\n");
  return start != head.npos && head[start] == '{' && head.find("\"nccl_version\"") != head.npos &&
         head.find("\"communicators_count\"") != head.npos;
}

/// graph/xml.cc: the root element and what stands in it first, perhaps behind an XML declaration.
bool is_topology_xml(std::string_view head) {
  static constexpr std::string_view kInside[] = {"<cpu", "<pci", "<nic"};
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  if (head.starts_with("<?xml")) head.remove_prefix(std::min(head.find("?>"), head.size() - 2) + 2);
  const size_t start = head.find_first_not_of(" \t\r\n");
  return start != head.npos && head.substr(start).starts_with("<system") &&
         holds_any(head, kInside);
}

bool is_control(char c) {
  constexpr std::string_view kInText = "\t\n\r\f\v\b\a\x1b";
  const auto byte = static_cast<uint8_t>(c);
  return (byte < 0x20 && kInText.find(c) == kInText.npos) || byte == 0x7F;
}

struct Controls {
  size_t bytes = 0;  ///< All bytes but long runs of NULs.
  size_t controls = 0;
};

/// Runs of NULs are holes: a log truncated while open, or a page that never reached the disk.
Controls count_controls(std::string_view head) {
  constexpr size_t kHole = 16;
  Controls counts;
  for (size_t i = 0; i < head.size();) {
    const size_t end = std::min(head.find_first_not_of('\0', i), head.size());
    if (end - i >= kHole) {
      i = end;
      continue;
    }
    ++counts.bytes;
    counts.controls += is_control(head[i++]) ? 1 : 0;
  }
  return counts;
}

/// Of evenly distributed bytes one in ten is a control character; of a log's, far fewer.
bool is_binary(std::string_view head) {
  constexpr size_t kAlwaysAllowed = 8;
  const Controls counts = count_controls(head);
  return counts.controls > kAlwaysAllowed && counts.controls * 20 > counts.bytes;
}

}  // namespace

Compression sniff_compression(std::string_view head) {
  for (const CompressionMagic& magic : kCompressionMagics) {
    if (head.starts_with(magic.bytes)) return magic.compression;
  }
  if (is_bzip2(head)) return Compression::Bzip2;
  if (is_skippable_zstd_frame(head)) return Compression::Zstd;
  return Compression::None;
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
  if (is_topology_xml(head)) return Content::Topology;
  if (is_pickle(head)) return Content::Pickle;
  if (sniff_compression(head) != Compression::None) return Content::Compressed;
  return is_binary(head) ? Content::Binary : Content::Text;
}

std::string_view to_string(Compression compression) {
  switch (compression) {
    case Compression::None:
      return "none";
    case Compression::Gzip:
      return "gzip";
    case Compression::Bzip2:
      return "bzip2";
    case Compression::Xz:
      return "xz";
    case Compression::Zstd:
      return "zstd";
  }
  return "none";
}

std::string_view to_string(Content content) {
  return kContentRows[static_cast<size_t>(content)].name;
}

std::string_view content_note(Content content) {
  return kContentRows[static_cast<size_t>(content)].note;
}

}  // namespace ncclog

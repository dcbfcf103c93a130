// What is in this input: which compression, and is it a text log at all?
//
//   1f 8b 08 ...            gzip, whatever its name says
//   80 02 7d 28 58 ...      a Flight Recorder dump written by PyTorch, if it names its keys
//   00 00 00 ... a1:77:77   a log that was truncated under a running job: text
//
// Decided by the first bytes only, never by the name. When in doubt it is text: parsing a binary
// costs time, refusing a log costs the answer.

#pragma once

#include <cstddef>
#include <string_view>

namespace ncclog {

/// How an input is compressed.
enum class Compression { None, Gzip, Bzip2, Xz, Zstd };

/// What the bytes are, after decompression.
enum class Content {
  Text,   ///< A log: parsed. Also with some NULs, invalid UTF-8 or terminal codes in it.
  Empty,  ///< No byte at all.
  Utf16,
  FlightRecorder,  ///< A dump of torch.distributed's Flight Recorder, pickle or JSON: a document.
  Ras,             ///< What NCCL's RAS service answers in JSON: a document. Its text form is a log.
  Topology,        ///< A host's devices as NCCL writes them, XML: a document.
  Pickle,          ///< Some other Python pickle.
  OwnReport,       ///< What ncclog itself wrote: its quoted lines would count twice.
  Html,
  Elf,  ///< A program, a library or a core dump.
  Sqlite,
  Image,
  Pdf,
  Archive,       ///< tar, zip, 7z: read member by member (input/archive_reader.h).
  OtherArchive,  ///< An archive that is not read: rar.
  Compressed,    ///< A compression that is not read, or a second one inside the first.
  Binary,        ///< None of these, and not text.
};

/// As many decompressed bytes from the beginning as `sniff_content` can use.
inline constexpr size_t kHeadBytes = 4096;

/// The compression whose magic bytes `head` starts with. Six bytes decide; with fewer, None.
Compression sniff_compression(std::string_view head);

/// What an input is that starts with `head`, its first bytes after decompression.
Content sniff_content(std::string_view head);

/// "gzip", "none": lower case, stable, for reports.
std::string_view to_string(Compression compression);

/// "text", "flight_recorder": lower case, stable, for reports.
std::string_view to_string(Content content);

/// One sentence on why such an input is not read as lines; empty for Text and Empty.
std::string_view content_note(Content content);

/// Whether an input of this kind is read as lines.
constexpr bool is_log(Content content) {
  return content == Content::Text || content == Content::Empty;
}

/// Whether an input of this kind is a structured companion of a log, read whole.
constexpr bool is_document(Content content) {
  return content == Content::FlightRecorder || content == Content::Ras ||
         content == Content::Topology;
}

}  // namespace ncclog

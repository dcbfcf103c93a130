// Which files does the user mean, and what is in each of them?
//
//   find_inputs({"logs/", "more/*.txt.gz", "-"})
//   -> {"-", "logs/node1/nccl.4711.log", "logs/node2/nccl.4712.log", "more/a.txt.gz"}
//
//   1f 8b 08 ...            gzip, whatever its name says
//   80 02 7d 28 58 ...      a Flight Recorder dump written by PyTorch, if it names its keys
//   00 00 00 ... a1:77:77   a log that was truncated under a running job: text
//
// The list is sorted by bytes and names each file once, however often and under how many names
// (links, "./x" and "x") it was given: the order of the arguments never reaches a report. The same
// file read twice would count every event twice.
//
// What is in a file is decided by its first bytes only, never by the name. When in doubt it is
// text: parsing a binary costs time, refusing a log costs the answer.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace ncclog {

/// The argument, and the path in the result, that stands for standard input.
inline constexpr const char* kStdinPath = "-";

/// The inputs that `arguments` name: files, folders, glob patterns (where the shell left them
/// alone) and "-".
///
/// Folders are entered to any depth; entries whose name starts with a dot are left out. So are
/// sockets, pipes and devices inside folders, which may block whoever opens them, and links to those
/// or into /proc and /sys: where `skipped` is given, their paths stand in it, sorted. Of a folder inside another one in which ncclog-replay left
/// the logs of its runs, only the outcome is found: those are logs of another job. Links are
/// followed, after all that is reached without them, so a file that has a path without links keeps
/// that one; loops end. A subfolder that cannot be listed and a link that leads nowhere stand in
/// the result, to be reported as unreadable when they are read.
///
/// Throws Error (where = the argument) for a path that does not exist, a pattern without match, a
/// folder that cannot be listed or holds no file; without where if `arguments` is empty.
std::vector<std::string> find_inputs(std::span<const std::string> arguments,
                                     std::vector<std::string>* skipped = nullptr);

/// The first of `inputs`, as find_inputs gave them for `arguments`, to which a link in a folder leads
/// out of all that `arguments` name; empty: there is none.
std::string find_link_outside(std::span<const std::string> arguments,
                              std::span<const std::string> inputs);

/// How an input is compressed.
enum class Compression { None, Gzip, Bzip2, Xz, Zstd };

/// What the bytes are, after decompression: one row each of contents.table, in this order.
enum class Content {
#include "input/content_enumerators.inc"
};

/// As many decompressed bytes from the beginning as `sniff_content` can use.
inline constexpr size_t kHeadBytes = 4096;

/// The compression whose magic bytes `head` starts with. Six bytes decide; with fewer, None.
Compression sniff_compression(std::string_view head);

/// In which order the two bytes of a character stand, where text is UTF-16: as PowerShell redirects
/// what programs print, and as editors on Windows save it.
enum class Utf16 { None, LittleEndian, BigEndian };

/// By the byte order mark; without one, only where nearly all characters are plain ASCII. Not of
/// UTF-32.
Utf16 sniff_utf16(std::string_view head);

/// What an input is that starts with `head`, its first bytes after decompression, as UTF-8.
Content sniff_content(std::string_view head);

/// "gzip", "none": lower case, stable, for reports.
constexpr std::string_view enum_words(Compression) { return "none|gzip|bzip2|xz|zstd"; }

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
         content == Content::NcclTests || content == Content::Inspector ||
         content == Content::Topology || content == Content::Counters ||
         content == Content::Lspci || content == Content::PySpy;
}

}  // namespace ncclog

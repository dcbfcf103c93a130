// Where a command's output goes: the terminal with what it can show, files that the user named.
//
//   ncclog show ranks logs/ | head     → collected, passed on; that head goes away is no error
//   ncclog report logs/ --md x.md      → .ncclog-4711-0 is written, synced, renamed to x.md
//   ncclog export logs/ -o job.db      → job.db.4711-0.part is written bit by bit, then renamed
//
// A file that the user named is there whole or not at all, and never one of the logs.

#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "app/exit_codes.h"
#include "report/text_layout.h"

namespace ncclog {

/// --color
enum class ColorChoice { Auto, Always, Never };

/// Standard output as a command sees it: text is collected, and written when the command is done. A
/// command with much to say passes it on while it runs.
struct Console {
  std::string out;
  std::string err;  ///< What belongs on standard error.
  /// Writes to standard output; false once nobody reads it. Empty: all of it is kept in `out`.
  std::function<bool(std::string_view text)> write;
  bool is_terminal = false;
  int columns = 100;            ///< Of the terminal; 100 where there is none.
  bool no_color = false;        ///< NO_COLOR is set and not empty.
  bool draws_progress = false;  ///< Standard error is a terminal that can show a progress line.
  bool quiet = false;           ///< --quiet: of text for people only the verdict's line.

  /// Hands `out` on to `write` once it is large. False if nobody wants to read more.
  bool pass_on();

  /// Colour if chosen, else on a terminal unless NO_COLOR forbids it.
  TextStyle style(ColorChoice color) const;
};

/// The process's own standard output: COLUMNS, else what the terminal says, else 100.
Console make_console();

/// A mistake as people see it: "ncclog: where: what", and the hint below. Parts may be empty.
std::string error_text(std::string_view where, std::string_view what, std::string_view hint);

/// Writes all of `text` to a file descriptor. False if the reader went away (`| head`), which is no
/// failure. Throws Error if the output cannot be written for another reason.
bool write_all(int descriptor, std::string_view text, std::string_view name = "standard output");

/// Throws Error if a file of that path cannot be written or is one of `inputs` (paths as
/// find_inputs gives them; "-" is what standard input is redirected from), however it is spelt.
/// Called before long work, so that nobody waits for nothing.
void check_output_file(const std::string& path, std::span<const std::string> inputs);

/// Throws Error if both are one file, however they are spelt: "is `what`". Nothing if one of them
/// is none, or "-".
void check_other_file(const std::string& path, const std::string& read, std::string_view what);

/// The same place for "x" and "./x", and for links to one file.
std::string same_place(const std::string& path);

/// Writes the file beside its place and moves it there: who reads the path sees the old file or all
/// of the new one. Devices and pipes are written as they are, links followed. Throws Error if it
/// cannot be written; the old file is then still there.
void write_output_file(const std::string& path, std::string_view text);

/// The same for what only its owner may read. What stands at the path has to be a file, or nothing.
void write_private_file(const std::string& path, std::string_view text);

/// Where the bytes of a large output go until all of them are there; without `keep` nothing is
/// left. What is there already and is no regular file (/dev/stdout, a pipe) is written to as it is.
class PartFile {
 public:
  /// `path` has passed check_output_file().
  explicit PartFile(std::string path);
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  /// What is to be written. Nothing is there, unless the path names something special.
  const std::string& part() const { return part_; }

  /// Gives the file its name. Throws Error.
  void keep();

 private:
  std::string path_;  ///< Links followed.
  std::string part_;  ///< `path_` itself where that is something special.
};

/// Runs a command whose standard output goes to `path`; to `console` if that is empty or "-". What
/// it says on standard error goes to `console`. Throws Error if the file cannot be written.
ExitStatus run_into(const std::string& path, Console& console,
                    const std::function<ExitStatus(Console& console)>& command);

}  // namespace ncclog

// Where a command's output goes: the terminal with what it can show, files that the user named.
//
//   ncclog show ranks logs/ | head     → collected, passed on; that head goes away is no error
//   ncclog analyze logs/ --md x.md     → .ncclog-4711-0 is written, synced, renamed to x.md
//   ncclog export logs/ -o job.db      → the same, bit by bit
//
// A file that the user named is there whole or not at all, and never one of the logs.

#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/exit_status.h"
#include "base/leftovers.h"
#include "base/posix.h"
#include "report/text_layout.h"

namespace ncclog {

class ReadingProgress;

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
  bool no_color = false;        ///< NO_COLOR is set and not empty, or TERM is dumb.
  bool draws_progress = false;  ///< Standard error is a terminal that can show a progress line.
  bool quiet = false;           ///< --quiet: of text for people only the verdict's line.
  bool verbose = false;         ///< --verbose: of text for people also what is harmless.
  ReadingProgress* progress = nullptr;            ///< Of the command's readings while it runs.
  std::vector<std::shared_ptr<const void>> kept;  ///< By keep().

  /// Keeps what `make` returns until the process ends: to take a job of thousands of processes
  /// apart, line by line, takes about as long as to judge it; the system takes the memory back at
  /// once. It is made in its place, because a job that is moved forgets its answers.
  template <typename Make>
  const auto& keep(Make make) {
    const std::shared_ptr<decltype(make())> owned(new auto(make()));
    kept.push_back(owned);
    return std::as_const(*owned);
  }

  /// Hands `out` on to `write` once it is large. False if nobody wants to read more.
  bool pass_on();

  /// Colour if chosen, else on a terminal unless NO_COLOR forbids it.
  TextStyle style(ColorChoice color) const;
};

/// Columns of the terminal that a file descriptor is; `otherwise` if it is none.
int terminal_columns(int descriptor, int otherwise);

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

/// A file that is written beside its place and moved there when all of it is there: who reads the
/// path sees the old file or all of the new one. Without `keep` nothing is left. Links are
/// followed. What is there already and is no regular file (/dev/stdout, a pipe) is written to as it
/// is. Throws Error if it cannot be written; the old file is then still there. Nor is anything left
/// where a signal ends the process.
class OutputFile {
 public:
  /// `is_private`: only its owner may read it, and what stands at the path is a file, or nothing.
  explicit OutputFile(std::string path, bool is_private = false);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// What is open: an empty file for those who write by name, or that which is no regular file.
  const std::string& opened() const { return opened_; }

  /// False if the reader of a pipe went away.
  bool write(std::string_view text);

  /// Moves the file to its place.
  void keep();

 private:
  std::string path_;    ///< As the user spelt it.
  std::string target_;  ///< Links followed; empty: there is nothing to be moved, or no more.
  std::string opened_;
  std::optional<mode_t> old_rights_;  ///< Of the file that is replaced.
  Descriptor file_;
  Leftover leftover_;
};

/// Writes all of it at once.
void write_output_file(const std::string& path, std::string_view text, bool is_private = false);

/// Runs a command whose standard output goes to `path`; to `console` if that is empty or "-". What
/// it says on standard error goes to `console`. Throws Error if the file cannot be written.
ExitStatus run_into(const std::string& path, Console& console,
                    const std::function<ExitStatus(Console& console)>& command);

}  // namespace ncclog

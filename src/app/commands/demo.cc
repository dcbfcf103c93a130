// What does a report look like, for somebody who has no logs at hand?
//
//   ncclog demo slow            $ ncclog perf demo/slow
//                               SLOW      AllReduce of 4 ranks on 2 hosts: 41.6 GB/s, …
//   ncclog demo --keep DIR      the same of logs that stay: DIR/hang, DIR/crash, …
//
// The logs are those of sample_logs/, as far as they are text. They are part of the executable, and
// lie in a temporary folder while the command that the demo stands for reads them.

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "app/command_line.h"
#include "app/command_table.h"
#include "base/built_in.h"
#include "base/error.h"
#include "base/posix.h"
#include "base/text.h"

namespace ncclog {

// The files of each, embedded by src/CMakeLists.txt.
std::span<const EmbeddedFile> demo_hang();
std::span<const EmbeddedFile> demo_crash();
std::span<const EmbeddedFile> demo_slow();
std::span<const EmbeddedFile> demo_healthy();

namespace {

struct Demo {
  std::string_view word;  ///< What is typed; also the folder of its logs.
  std::string_view what;
  std::string_view command;  ///< What somebody with such logs would type.
  std::span<const EmbeddedFile> (*files)();
};

constexpr Demo kDemos[] = {
    {"hang", "8 ranks, one of which calls something else", "analyze", demo_hang},
    {"crash", "4 ranks, one of which is killed", "analyze", demo_crash},
    {"slow", "a benchmark of 4 ranks on 2 hosts", "perf", demo_slow},
    {"healthy", "2 ranks that finish", "analyze", demo_healthy}};

struct DemoOptions {
  std::string name = "hang";
  std::string keep;  ///< Folder for the logs; empty: they go.
  ColorChoice color = ColorChoice::Auto;
};

/// Writes the logs of a demo below `folder`. What is there already stays, and must be the same.
void write_logs(const Demo& demo, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder / demo.word, error);
  for (const EmbeddedFile& file : demo.files()) {
    const std::string path = (folder / demo.word / file.path).native();
    const std::optional<std::string> there = read_whole_file(path);
    if (there && *there != file.text) {
      throw Error("is there already, and is none of the demo's logs", path, "name another folder");
    }
    if (!there) write_output_file(path, file.text);
  }
}

/// Runs the command as if it had been typed, with the flags of this one.
void run_typed(const Demo& demo, const std::string& logs, const TextStyle& style,
               Console& console) {
  CommandRow commands = declared_commands();
  const std::string color = style.colour ? "always" : "never";
  parse_arguments(commands, {std::string(demo.command), logs, "--color", color})
      .command->run(console);
}

/// What else can be done, as lines to be typed.
std::string closing(const Demo& shown, const std::string& keep) {
  std::string text = "\nOther demos:\n";
  for (const Demo& demo : kDemos) {
    if (demo.word == shown.word) continue;
    text += fmt::format("  {:<22}# {}\n", fmt::format("ncclog demo {}", demo.word), demo.what);
  }
  const std::string folder = printable(keep.empty() ? "demo" : keep);
  text += keep.empty() ? "\nTo try other commands on these logs:\n  ncclog demo --keep demo\n"
                       : fmt::format("\nThe logs of all demos are in {}. Try:\n", folder);
  return text + fmt::format(
                    "  ncclog show ranks {0}/hang\n"
                    "  ncclog count {0}/hang --by rank,op\n"
                    "  ncclog explain process-killed {0}/crash\n",
                    folder);
}

ExitStatus show_demo(const DemoOptions& options, Console& console) {
  const Demo& shown = kDemos[place_of_choice(words_of(kDemos), "demo", options.name)];
  const TextStyle style = console.style(options.color);
  const std::string folder = options.keep.empty() ? "demo" : options.keep;
  const std::string logs = (std::filesystem::path(folder) / shown.word).native();
  if (!console.quiet) {
    console.out +=
        paint(fmt::format("$ ncclog {} {}", shown.command, printable(logs)), Tone::Strong, style) +
        "\n\n";
  }
  if (options.keep.empty()) {
    const TemporaryFolder temporary = new_temporary_folder();
    write_logs(shown, temporary.path() / folder);
    const WorkingFolder here(temporary.path());
    run_typed(shown, logs, style, console);
  } else {
    for (const Demo& one : kDemos) write_logs(one, folder);
    run_typed(shown, logs, style, console);
  }
  if (!console.quiet) console.out += closing(shown, options.keep);
  return ExitStatus::Fine;
}

}  // namespace

void declare_demo(CommandRow& command) {
  DemoOptions& options = options_of(command, show_demo);
  add_argument(command, "hang|crash|slow|healthy", options.name, "which one (default: hang)");
  add_flag(command, kOutputFlags, "--keep DIR", options.keep,
           "write the logs of all demos into this folder, so that other commands can be tried");
  add_color_flag(command, options.color);
}

}  // namespace ncclog

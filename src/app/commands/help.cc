// ncclog help [COMMAND…], ncclog man [COMMAND], ncclog completion SHELL
//
// What describes the program, made of what it declares.

#include "app/help.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>

#include "app/command_line.h"
#include "app/command_table.h"
#include "base/error.h"
#include "base/text.h"
#include "base/version.h"

namespace ncclog {
namespace {

struct PagesOptions {
  std::vector<std::string> words;  ///< Of a command, "rules", "new"; empty: of ncclog itself.
  std::string shell;
  std::string folder;  ///< For all man pages; empty: one is printed.
};

const CommandRow& wanted_command(const CommandRow& root, const std::string& path) {
  if (const CommandRow* command = find_command(root, path)) return *command;
  std::vector<std::string_view> names;
  for (const CommandRow* command : all_commands(root)) names.push_back(command->path);
  for (const EmbeddedFile& page : help_pages()) names.push_back(topic_of(page));
  const auto nearest = nearest_name(path, names);
  throw Error(
      fmt::format("unknown command '{}'", printable(path)), "",
      nearest ? fmt::format("did you mean '{}'?", *nearest) : "'ncclog --help' lists the commands");
}

ExitStatus print_help(const PagesOptions& options, Console& console) {
  const std::string wanted = join(options.words, " ");
  for (const EmbeddedFile& page : help_pages()) {
    if (topic_of(page) != wanted) continue;
    console.out += page.text;
    return ExitStatus::Fine;
  }
  const CommandRow table = declared_commands();
  console.out += write_help(wanted_command(table, wanted), help_columns(console));
  return ExitStatus::Fine;
}

void write_page(const std::filesystem::path& folder, const ManPage& page) {
  const std::filesystem::path path = folder / (page.name + ".1");
  std::ofstream file(path, std::ios::binary);
  file << page.text;
  if (!file.flush()) throw Error("cannot write", path.string(), "is the folder there?");
}

ExitStatus print_man(const PagesOptions& options, Console& console) {
  const CommandRow table = declared_commands();
  const std::vector<ManPage> pages = write_man_pages(table, version(), version_day());
  if (!options.folder.empty()) {
    for (const ManPage& page : pages) write_page(options.folder, page);
    return ExitStatus::Fine;
  }
  const std::string path = join(options.words, " ");
  wanted_command(table, path);
  // A command below another one stands on that one's page.
  const std::string name = path.empty() ? "ncclog" : "ncclog-" + options.words.front();
  for (const ManPage& page : pages) {
    if (page.name == name) console.out += page.text;
  }
  return ExitStatus::Fine;
}

ExitStatus print_completion(const PagesOptions& options, Console& console) {
  const auto script = completion_script(options.shell);
  if (!script) {
    const bool is_named = !options.shell.empty();
    throw Error(is_named ? fmt::format("unknown shell '{}'", printable(options.shell))
                         : std::string("no shell named"),
                "completion", "one of: bash, zsh, fish");
  }
  console.out += *script;
  return ExitStatus::Fine;
}

}  // namespace

void declare_help(CommandRow& command) {
  const auto options = std::make_shared<PagesOptions>();
  add_argument(command, "COMMAND", options->words,
               "a command, such as analyze or rules new, or a topic");
  command.run = [options](Console& console) { return print_help(*options, console); };
}

void declare_man(CommandRow& command) {
  const auto options = std::make_shared<PagesOptions>();
  add_argument(command, "COMMAND", options->words, "a command; without: the page of ncclog itself");
  add_flag(command, kFurtherFlags, "--into DIR", options->folder,
           "write all pages into this folder, which must exist");
  command.run = [options](Console& console) { return print_man(*options, console); };
}

void declare_completion(CommandRow& command) {
  const auto options = std::make_shared<PagesOptions>();
  add_argument(command, "bash|zsh|fish", options->shell, "the shell that is to complete");
  command.run = [options](Console& console) { return print_completion(*options, console); };
}

}  // namespace ncclog

// ncclog messages list|show|check

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/commands.h"
#include "app/message_files.h"
#include "app/options.h"
#include "app/write_help.h"
#include "base/error.h"
#include "base/text.h"
#include "log/known_messages.h"
#include "log/message_text.h"
#include "report/text_layout.h"

namespace ncclog {
namespace {

struct MessagesOptions {
  std::string kind;                ///< Of `messages show`.
  std::vector<std::string> paths;  ///< Of `messages check`.
};

/// One line a kind: its name, who prints it, its subsystem, its first wording.
ExitStatus list(const MessagesOptions&, Console& console) {
  for (const Kind& kind : all_kinds()) {
    if (kind.wordings.empty()) continue;
    const std::string_view subsystem = to_string(kind.subsystem);
    const std::string line =
        fmt::format("{:32} {:12} {:9} {}", kind.name, to_string(kind.library),
                    subsystem.empty() ? "-" : subsystem, printable(kind.wordings.front().text));
    console.out += (console.is_terminal ? clip(line, console.columns) : line) + "\n";
  }
  return ExitStatus::Fine;
}

ExitStatus show(const MessagesOptions& options, Console& console) {
  if (options.kind.empty())
    throw Error("no kind named", "messages show", "see 'ncclog messages list'");
  const Kind* kind = find_kind(options.kind);
  if (kind == nullptr) {
    std::vector<std::string_view> names;
    for (const Kind& known : all_kinds()) names.push_back(known.name);
    const auto near = nearest_name(options.kind, names);
    throw Error(fmt::format("no kind of message is called '{}'", printable(options.kind)),
                "messages show",
                near ? fmt::format("did you mean '{}'?", *near) : "see 'ncclog messages list'");
  }
  console.out += message_text(*kind);
  return ExitStatus::Fine;
}

/// Files that --messages names are proven already; these are proven with them.
ExitStatus check(const MessagesOptions& options, Console& console) {
  if (options.paths.empty())
    throw Error("no message files named", "messages check",
                "give message files or folders of them");
  const size_t files = use_message_files(options.paths);
  console.out += fmt::format("{} checked, none wrong\n", plural(files, "message file"));
  return ExitStatus::Fine;
}

struct MessagesAction {
  const char* name;
  const char* help;
  bool takes_kind;
  bool takes_files;
  ExitStatus (*run)(const MessagesOptions& options, Console& console);
};

constexpr MessagesAction kActions[] = {
    {"list", "one line per kind of message", false, false, list},
    {"show", "everything about one kind, as a message file says it", true, false, show},
    {"check", "say what is wrong with message files; exit 2 if something is", false, true, check},
};

}  // namespace

RunCommand declare_messages(CLI::App& app) {
  const auto options = std::make_shared<MessagesOptions>();
  app.require_subcommand(0, 1);
  for (const MessagesAction& action : kActions) {
    CLI::App* sub = app.add_subcommand(action.name, action.help);
    sub->allow_extras();
    sub->footer("");
    if (action.takes_kind)
      sub->add_option("KIND", options->kind, "the kind's name")->type_name("");
    if (action.takes_files) {
      sub->add_option("PATH", options->paths, "message files or folders")->type_name("");
    }
  }
  return [&app, options](Console& console) {
    for (const MessagesAction& action : kActions) {
      if (app.got_subcommand(action.name)) return action.run(*options, console);
    }
    console.out += help_text(app, console);
    return ExitStatus::Fine;
  };
}

}  // namespace ncclog

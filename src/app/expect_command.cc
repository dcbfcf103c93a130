// ncclog expect list|show|check|words

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/commands.h"
#include "app/options.h"
#include "app/write_help.h"
#include "base/error.h"
#include "base/text.h"
#include "rules/profile.h"

namespace ncclog {
namespace {

struct ExpectOptions {
  std::string profile;  ///< Name or path; empty: a mistake where one is needed.
};

const std::string& needed(const ExpectOptions& options, std::string_view action) {
  if (options.profile.empty()) {
    throw Error("no profile named", "expect " + std::string(action),
                "give a name of 'ncclog expect list', or a file");
  }
  return options.profile;
}

ExitStatus list(const ExpectOptions&, Console& console) {
  for (const EmbeddedFile& file : shipped_profiles()) {
    const Profile profile = find_profile(std::string(file.path.substr(0, file.path.rfind('.'))));
    console.out += fmt::format("{:<22}{}\n", profile.name, profile.title);
  }
  return ExitStatus::Fine;
}

/// The text itself, so that it can be changed and used.
ExitStatus show(const ExpectOptions& options, Console& console) {
  const std::string& name = needed(options, "show");
  for (const EmbeddedFile& file : shipped_profiles()) {
    if (file.path != name + ".yaml") continue;
    console.out += file.text;
    return ExitStatus::Fine;
  }
  find_profile(name);
  throw Error("not one of the profiles that ncclog brings along", printable(name),
              "'ncclog expect list' names them");
}

ExitStatus check(const ExpectOptions& options, Console& console) {
  const Profile profile = find_profile(needed(options, "check"));
  console.out +=
      fmt::format("{}: {} expectation{}\n", printable(profile.name), profile.expectations.size(),
                  profile.expectations.size() == 1 ? "" : "s");
  return ExitStatus::Fine;
}

std::string_view example_of(ExpectedType type) {
  switch (type) {
    case ExpectedType::Texts:
      return "TEXT or [TEXT, TEXT]";
    case ExpectedType::Number:
      return "N, {at_least: N}, {at_most: N}";
    case ExpectedType::YesOrNo:
      return "true, false";
    case ExpectedType::Version:
      return "{at_least: X.Y}, {at_most: X.Y}";
  }
  return "";
}

ExitStatus words(const ExpectOptions&, Console& console) {
  for (const ExpectationKind& kind : expectation_kinds()) {
    console.out += fmt::format("{:<16}{:<34}{}\n", kind.name, example_of(kind.type), kind.meaning);
  }
  return ExitStatus::Fine;
}

/// What can be done with profiles; each is a command below `expect`.
struct ExpectAction {
  const char* name;
  const char* help;
  bool takes_profile;
  ExitStatus (*run)(const ExpectOptions& options, Console& console);
};

constexpr ExpectAction kActions[] = {
    {"list", "the profiles that ncclog brings along", false, list},
    {"show", "the text of one of them, as a start for your own", true, show},
    {"check", "say what is wrong with a profile; exit 2 if something is", true, check},
    {"words", "what a profile can expect", false, words},
};

}  // namespace

RunCommand declare_expect(CLI::App& app) {
  const auto options = std::make_shared<ExpectOptions>();
  app.require_subcommand(0, 1);
  for (const ExpectAction& action : kActions) {
    CLI::App* sub = app.add_subcommand(action.name, action.help);
    sub->allow_extras();
    sub->footer("");
    if (action.takes_profile) {
      sub->add_option("PROFILE", options->profile, "a name or a file")->type_name("");
    }
  }
  return [options, &app](Console& console) {
    for (const ExpectAction& action : kActions) {
      if (app.got_subcommand(action.name)) return action.run(*options, console);
    }
    console.out += help_text(app, console);
    return ExitStatus::Fine;
  };
}

}  // namespace ncclog

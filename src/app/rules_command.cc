// ncclog rules list|show|check|test|new|schema

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "app/commands.h"
#include "app/options.h"
#include "app/read_example.h"
#include "app/write_help.h"
#include "base/error.h"
#include "base/text.h"
#include "model/job_from_text.h"
#include "report/json/rule_schema.h"
#include "report/text_layout.h"
#include "rules/load_rules.h"
#include "rules/new_rule.h"
#include "rules/rule_tools.h"

namespace ncclog {
namespace {

/// How far the text of a rule's line stands to the right: behind its label, or where it begins.
size_t indent_of(std::string_view line) {
  constexpr size_t kLabel = 12;
  const size_t begin = std::min(line.find_first_not_of(' '), line.size());
  return begin > 0 ? begin : std::min(kLabel, line.size());
}

/// What show_rule gives as a terminal shows it: long lines are wrapped. Elsewhere they stay whole.
std::string wrapped(const std::string& text, const Console& console) {
  if (!console.is_terminal) return text;
  std::string all;
  for (std::string_view line : split(std::string_view(text).substr(0, text.size() - 1), '\n')) {
    const size_t indent = indent_of(line);
    all += indent == line.size()
               ? std::string(line) + "\n"
               : hang(line.substr(0, indent), line.substr(indent), {.width = console.columns});
  }
  return all;
}

/// The same of list_rules, whose lines are cut off.
std::string clipped(const std::string& text, const Console& console) {
  if (!console.is_terminal) return text;
  std::string all;
  for (std::string_view line : split(std::string_view(text).substr(0, text.size() - 1), '\n')) {
    all += clip(line, console.columns) + "\n";
  }
  return all;
}

ExitStatus list(const RulesOptions& options, Console& console) {
  console.out += clipped(list_rules(load_rulebook(options.rules)), console);
  return ExitStatus::Fine;
}

ExitStatus show(const RulesOptions& options, Console& console) {
  if (options.id.empty()) throw Error("no rule named", "rules show", "see 'ncclog rules list'");
  console.out += wrapped(show_rule(load_rulebook(options.rules), options.id), console);
  return ExitStatus::Fine;
}

ExitStatus check(const RulesOptions& options, Console& console) {
  if (options.paths.empty()) {
    throw Error("no rule files named", "rules check", "give rule files or folders of them");
  }
  const RuleCheck checked = check_rules(options.paths);
  for (const RuleProblem& problem : checked.problems) {
    console.err += error_text(problem.where, problem.what, problem.hint);
  }
  console.out +=
      fmt::format("{} checked, {} wrong\n", plural(checked.files, "rule file"),
                  checked.problems.empty() ? "none" : std::to_string(checked.problems.size()));
  return checked.problems.empty() ? ExitStatus::Fine : ExitStatus::CannotDo;
}

ExitStatus test(const RulesOptions& options, Console& console) {
  const bool only_added = !options.paths.empty();
  const RuleTest tested = test_rules(load_rulebook(options.paths), only_added, read_example);
  for (const ExampleFailure& failure : tested.failures) {
    console.out += fmt::format("{}: {}\n", printable(failure.where), printable(failure.what));
  }
  console.out +=
      fmt::format("{} of {} tested, {} failed\n", plural(tested.examples, "example"),
                  plural(tested.rules, "rule"),
                  tested.failures.empty() ? "none" : std::to_string(tested.failures.size()));
  return tested.failures.empty() ? ExitStatus::Fine : ExitStatus::Findings;
}

ExitStatus begin_rule(const RulesOptions& options, Console& console) {
  if (options.id.empty()) throw Error("no id given", "rules new", "name the rule: nic-down");
  const std::string text = new_rule_text(options.id, options.from, job_from_text(options.from));
  const std::string path =
      write_new_rule(load_rulebook(options.rules), options.id, options.area, text);
  console.out += fmt::format(
      "{0}: fill in its texts, then\n  ncclog rules check {0}\n  ncclog rules test {0}\n",
      printable(path));
  return ExitStatus::Fine;
}

ExitStatus schema(const RulesOptions& options, Console& console) {
  console.out += rule_schema(load_rulebook(options.rules));
  return ExitStatus::Fine;
}

/// What can be done with rules; each is a command below `rules`.
struct RulesAction {
  const char* name;
  const char* help;
  const char* id_help;     ///< nullptr: takes no rule's id.
  const char* paths_help;  ///< nullptr: takes no paths, but --rules.
  ExitStatus (*run)(const RulesOptions& options, Console& console);
  void (*declare_more)(CLI::App& app, RulesOptions& options) = nullptr;
};

void declare_new(CLI::App& app, RulesOptions& options) {
  app.add_option("--area", options.area, "the folder for the file")->type_name("FOLDER");
  app.add_option("--from", options.from, "a log line that the rule is about")->type_name("LINE");
}

constexpr RulesAction kActions[] = {
    {"list", "one line per rule", nullptr, nullptr, list},
    {"show", "everything about one rule", "the rule's id", nullptr, show},
    {"check", "say what is wrong with rule files; exit 2 if something is", nullptr,
     "rule files or folders", check},
    {"test", "run the examples of rules; exit 1 if one fails", nullptr,
     "rule files or folders; without: the built-in rules", test},
    {"new", "begin a rule file, from a line if there is one", "the new rule's id", nullptr,
     begin_rule, declare_new},
    {"schema", "the JSON Schema of rule files, for editors", nullptr, nullptr, schema},
};

}  // namespace

RunCommand declare_rules(CLI::App& app) {
  const auto options = std::make_shared<RulesOptions>();
  app.require_subcommand(0, 1);
  for (const RulesAction& action : kActions) {
    CLI::App* sub = app.add_subcommand(action.name, action.help);
    sub->allow_extras();
    sub->footer("");
    if (action.id_help != nullptr) {
      sub->add_option("RULE", options->id, action.id_help)->type_name("");
    }
    if (action.declare_more != nullptr) action.declare_more(*sub, *options);
    if (action.paths_help != nullptr) {
      sub->add_option("PATH", options->paths, action.paths_help)->type_name("");
    } else {
      add_rules_flag(*sub, options->rules);
    }
  }
  return [options, &app](Console& console) {
    for (const RulesAction& action : kActions) {
      if (app.got_subcommand(action.name)) return action.run(*options, console);
    }
    console.out += help_text(app, console);
    return ExitStatus::Fine;
  };
}

}  // namespace ncclog

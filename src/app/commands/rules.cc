// What does ncclog know, and what do users add to it?
//
//   ncclog rules list|show|check|test|new|schema
//   ncclog messages list|show|check
//   ncclog expect list|show|check|words             profiles of machines

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "app/command_line.h"
#include "app/command_table.h"
#include "app/read/read_example.h"
#include "base/error.h"
#include "base/text.h"
#include "log/known_messages.h"
#include "model/derive/build_job.h"
#include "report/difference/difference_report.h"
#include "report/difference/groups_report.h"
#include "report/document/report_document.h"
#include "report/document/rules_page.h"
#include "report/perf/perf_report.h"
#include "report/report.h"
#include "report/tables/tables.h"
#include "report/text_layout.h"
#include "rules/load_rules.h"
#include "rules/profile.h"
#include "rules/rule_tools.h"

namespace ncclog {
namespace {

/// What can be done with rules, messages or profiles: a command below theirs, and its options.
template <typename Options>
struct Action {
  CommandRow& row;
  Options& options;
};

template <typename Options>
Action<Options> add_action(CommandRow& above, const char* name, const char* help,
                           ExitStatus (*run)(const Options& options, Console& console)) {
  CommandRow& row = add_command(above, name, help);
  return {row, options_of(row, run)};
}

// ncclog rules list|show|check|test|new|schema

struct RulesOptions {
  std::string id;  ///< Of `rules show` and `rules new`.
  std::string
      area;  ///< The folder, of `rules new` that for the file; may be empty. Of `rules page`: whose;
             ///< empty: of all of them.
  std::optional<Severity> severity;  ///< Of `rules list`; nullopt: all.
  std::vector<std::string> words;    ///< Of `rules list`: all of them are in the id or the title.
  TableFormat format = TableFormat::Text;
  bool source = false;             ///< Of `rules show`: with condition and examples.
  std::string from;                ///< Of `rules new`: a line that the rule is about.
  std::vector<std::string> paths;  ///< Of `rules check` and `rules test`.
  std::vector<std::string> rules;  ///< Files and folders that add to the built-in rules.
};

/// The text as a terminal shows it, each line by `fit`. Elsewhere lines stay as they are.
std::string fitted(const std::string& text, const Console& console, auto fit) {
  if (!console.is_terminal) return text;
  std::string all;
  for (const std::string_view line :
       split(std::string_view(text).substr(0, text.size() - 1), '\n')) {
    all += fit(line);
  }
  return all;
}

/// "shared_memory" of "rules/shared_memory/shm-no-space.yaml".
std::string area_of(const Rule& rule) {
  return std::filesystem::path(rule.path).parent_path().filename().string();
}

ExitStatus list(const RulesOptions& options, Console& console) {
  const Rulebook rulebook = load_rulebook(options.rules);
  Table table{.name = "rules",
              .columns = {"id", "severity", "confidence", "role", "area", "title"}};
  for (const auto& [id, rule] : rules_by_id(rulebook)) {
    const std::string text = lower_case(fmt::format("{} {}", id, rule->title));
    const bool is_meant = (options.area.empty() || area_of(*rule) == options.area) &&
                          (!options.severity || *options.severity == rule->severity) &&
                          std::ranges::all_of(options.words, [&](const std::string& word) {
                            return text.find(lower_case(word)) != text.npos;
                          });
    if (!is_meant) continue;
    table.add(rule->id, to_string(rule->severity), to_string(rule->confidence),
              to_string(rule->role), area_of(*rule), rule->title);
  }
  if (table.rows.empty()) table.notes.emplace_back("No rule is so.");
  print_table(std::move(table), options.format, ColorChoice::Auto, console);
  return ExitStatus::Fine;
}

ExitStatus show(const RulesOptions& options, Console& console) {
  if (options.id.empty()) throw Error("no rule named", "rules show", "see 'ncclog rules list'");
  const auto wrapped = [&](std::string_view line) {
    // Text stands behind its label, or where it begins.
    constexpr size_t kLabel = 12;
    const size_t begin = line.find_first_not_of(' ');
    const size_t indent = std::min(begin > 0 ? begin : kLabel, line.size());
    return indent == line.size()
               ? std::string(line) + "\n"
               : hang(line.substr(0, indent), line.substr(indent), {.width = console.columns});
  };
  const Rulebook rulebook = load_rulebook_with_examples(options.rules);
  if (console.quiet) {
    const Rule& rule = required_rule(rulebook, options.id);
    console.out += fmt::format("{}: {}\n", rule.id, printable(rule.title));
    return ExitStatus::Fine;
  }
  console.out += fitted(show_rule(rulebook, options.id, options.source), console, wrapped);
  return ExitStatus::Fine;
}

ExitStatus check(const RulesOptions& options, Console& console) {
  if (options.paths.empty()) {
    throw Error("no rule files named", "rules check", "give rule files or folders of them");
  }
  const RuleSet checked = check_rules(options.paths);
  for (const Error& problem : checked.problems) {
    console.err += error_text(problem.where(), problem.what(), problem.hint());
  }
  console.out +=
      fmt::format("{} checked, {} wrong\n", plural(checked.files, "rule file"),
                  checked.problems.empty() ? "none" : std::to_string(checked.problems.size()));
  return checked.problems.empty() ? ExitStatus::Fine : ExitStatus::CannotDo;
}

ExitStatus test(const RulesOptions& options, Console& console) {
  const bool only_added = !options.paths.empty();
  const RuleTest tested =
      test_rules(load_rulebook_with_examples(options.paths), only_added, read_example);
  for (const Error& failure : tested.failures) {
    console.out += fmt::format("{}: {}\n", printable(failure.where()), printable(failure.what()));
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

/// A schema by the name of what it describes.
struct NamedSchema {
  std::string_view name;
  std::string (*text)(const RulesOptions& options);
};

/// The first one is printed where none is named.
constexpr NamedSchema kSchemas[] = {
    {"rule", [](const RulesOptions& options) { return rule_schema(load_rulebook(options.rules)); }},
    {"report", [](const RulesOptions&) { return report_schema(); }},
    {"diff", [](const RulesOptions&) { return difference_schema(); }},
    {"diff-groups", [](const RulesOptions&) { return groups_schema(); }},
    {"perf", [](const RulesOptions&) { return perf_schema(); }},
    {"table", [](const RulesOptions&) { return table_schema(); }},
    {"env", [](const RulesOptions&) { return check_schema(); }},
};

/// Of one area, or of all of them one after the other.
ExitStatus page(const RulesOptions& options, Console& console) {
  const Rulebook rulebook = load_rulebook_with_examples();
  const std::set<std::string> areas =
      options.area.empty() ? areas_of(rulebook) : std::set{options.area};
  for (const std::string& area : areas) {
    console.out += rules_page(rulebook, area, read_example);
    if (!console.pass_on()) break;
  }
  return ExitStatus::Fine;
}

ExitStatus schema(const RulesOptions& options, Console& console) {
  const std::string_view wanted = options.id.empty() ? kSchemas[0].name : options.id;
  const auto* found = std::ranges::find(kSchemas, wanted, &NamedSchema::name);
  if (found == std::end(kSchemas)) {
    throw Error(fmt::format("no schema of '{}'", printable(options.id)), "rules schema",
                hint_for(options.id, names_of(kSchemas)));
  }
  console.out += found->text(options);
  return ExitStatus::Fine;
}

}  // namespace

void declare_rules(CommandRow& command) {
  const auto add = [&command](const char* name, const char* help,
                              ExitStatus (*run)(const RulesOptions&, Console&)) {
    return add_action(command, name, help, run);
  };
  const Action listed = add("list", "one line per rule", list);
  add_argument(listed.row, "WORD", listed.options.words, "words of the id or the title");
  add_flag(listed.row, kInputFlags, "--area FOLDER", listed.options.area,
           "rules of that area, such as shared_memory or infiniband");
  add_choice(listed.row, kInputFlags, "--severity", listed.options.severity, in_order<Severity>(),
             "rules of that severity");
  add_choice(listed.row, kOutputFlags, "--format", listed.options.format,
             in_order<TableFormat>({"text", "json", "csv"}),
             "text for people, json or csv for scripts");
  add_rules_flag(listed.row, listed.options.rules);
  const Action shown = add("show", "what one rule means, and what helps", show);
  add_flag(shown.row, kOutputFlags, "--source", shown.options.source,
           "also its file, when it fires, and all its examples");
  add_argument(shown.row, "RULE", shown.options.id, "the rule's id");
  add_rules_flag(shown.row, shown.options.rules);
  const Action checked =
      add("check", "say what is wrong with rule files; exit 2 if something is", check);
  add_argument(checked.row, "PATH", checked.options.paths, "rule files or folders");
  const Action tested = add("test", "run the examples of rules; exit 1 if one fails", test);
  add_argument(tested.row, "PATH", tested.options.paths,
               "rule files or folders; without: the built-in rules");
  const Action begun = add("new", "begin a rule file, from a line if there is one", begin_rule);
  add_argument(begun.row, "RULE", begun.options.id, "the new rule's id");
  add_flag(begun.row, kOutputFlags, "--area FOLDER", begun.options.area, "the folder for the file");
  add_flag(begun.row, kInputFlags, "--from LINE", begun.options.from,
           "a log line that the rule is about");
  add_rules_flag(begun.row, begun.options.rules);
  const Action paged =
      add("page", "bad lines, what is said of them and what to do, as Markdown", page);
  add_argument(paged.row, "AREA", paged.options.area,
               "a folder of rules/, such as shared_memory; without: all of them");
  const Action schemed =
      add("schema", "the JSON Schema of rule files, for editors, or of what ncclog writes", schema);
  add_argument(schemed.row, "NAME", schemed.options.id,
               fmt::format("of what: {}; without: rule", fmt::join(names_of(kSchemas), ", ")));
  add_rules_flag(schemed.row, schemed.options.rules);
}

namespace {

// ncclog messages list|show|check

struct MessagesOptions {
  std::string kind;                ///< Of `messages show`.
  std::vector<std::string> paths;  ///< Of `messages check`.
};

/// One line a kind: its name, who prints it, its subsystem, its first wording.
ExitStatus list(const MessagesOptions&, Console& console) {
  Table table{.name = "messages", .columns = {"kind", "library", "subsystem", "wording"}};
  for (const Kind& kind : all_kinds()) {
    if (kind.wordings.empty()) continue;
    table.add(kind.name, to_string(kind.library), to_string(kind.subsystem),
              kind.wordings.front().text);
  }
  print_table(std::move(table), TableFormat::Text, ColorChoice::Auto, console);
  return ExitStatus::Fine;
}

ExitStatus show(const MessagesOptions& options, Console& console) {
  if (options.kind.empty())
    throw Error("no kind named", "messages show", "see 'ncclog messages list'");
  const Kind* kind = find_kind(options.kind);
  if (kind == nullptr) {
    throw Error(fmt::format("no kind of message is called '{}'", printable(options.kind)),
                "messages show",
                hint_for(options.kind, names_of(all_kinds()), "see 'ncclog messages list'"));
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

}  // namespace

void declare_messages(CommandRow& command) {
  add_action<MessagesOptions>(command, "list", "one line per kind of message", list);
  const auto shown = add_action<MessagesOptions>(
      command, "show", "everything about one kind, as a message file says it", show);
  add_argument(shown.row, "KIND", shown.options.kind, "the kind's name");
  const auto checked = add_action<MessagesOptions>(
      command, "check", "say what is wrong with message files; exit 2 if something is", check);
  add_argument(checked.row, "PATH", checked.options.paths, "message files or folders");
}

namespace {

// ncclog expect list|show|check|words

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
  Table table{.name = "profiles", .columns = {"profile", "title"}};
  for (const EmbeddedFile& file : shipped_profiles()) {
    const Profile profile = find_profile(std::string(file.path.substr(0, file.path.rfind('.'))));
    table.add(profile.name, profile.title);
  }
  print_table(std::move(table), TableFormat::Text, ColorChoice::Auto, console);
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
  console.out += fmt::format("{}: {}\n", printable(profile.name),
                             plural(profile.expectations.size(), "expectation"));
  return ExitStatus::Fine;
}

ExitStatus words(const ExpectOptions&, Console& console) {
  Table table{.name = "words", .columns = {"word", "values", "meaning"}};
  for (const auto& [fact, fit, thing] : expected_facts()) {
    const std::string_view example = fit == Fit::Limits    ? "N, {at_least: N}, {at_most: N}"
                                     : fit == Fit::YesOrNo ? "true, false"
                                     : fit == Fit::Version ? "{at_least: X.Y}, {at_most: X.Y}"
                                                           : "TEXT or [TEXT, TEXT]";
    table.add(fact.name, example, fact.meaning);
  }
  print_table(std::move(table), TableFormat::Text, ColorChoice::Auto, console);
  return ExitStatus::Fine;
}

}  // namespace

void declare_expect(CommandRow& command) {
  add_action<ExpectOptions>(command, "list", "the profiles that ncclog brings along", list);
  const auto shown = add_action<ExpectOptions>(
      command, "show", "the text of one of them, as a start for your own", show);
  add_argument(shown.row, "PROFILE", shown.options.profile, "a name or a file");
  const auto checked = add_action<ExpectOptions>(
      command, "check", "say what is wrong with a profile; exit 2 if something is", check);
  add_argument(checked.row, "PROFILE", checked.options.profile, "a name or a file");
  add_action<ExpectOptions>(command, "words", "what a profile can expect", words);
}

}  // namespace ncclog

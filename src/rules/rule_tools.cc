#include "rules/rule_tools.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "rules/load_rules.h"
#include "rules/rule_set.h"

namespace ncclog {
namespace {

std::vector<const Rule*> sorted_by_id(const Rulebook& rulebook) {
  std::vector<const Rule*> rules;
  for (const Rule& rule : rulebook.rules) rules.push_back(&rule);
  std::sort(rules.begin(), rules.end(), [](const Rule* a, const Rule* b) { return a->id < b->id; });
  return rules;
}

std::string texts_block(std::string_view name, const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) {
    out += fmt::format("{:<12}{}\n", out.empty() ? name : "", printable(text));
  }
  return out;
}

std::string text_block(std::string_view name, const std::string& text) {
  return text.empty() ? std::string() : texts_block(name, {text});
}

std::string examples_block(std::string_view name, const std::vector<Example>& examples) {
  std::string out;
  for (const Example& example : examples) {
    out += fmt::format("{}\n", name);
    for (const std::string_view line : split(trim(example.log), '\n')) {
      out += "    " + printable(line) + "\n";
    }
  }
  return out;
}

std::string needs_text(const Rule& rule) {
  std::vector<std::string> names;
  for (const CoverageQuestion* need : rule.needs) names.emplace_back(need->name);
  return join(names, ", ");
}

RuleProblem problem_of(const Error& error) { return {error.where(), error.what(), error.hint()}; }

}  // namespace

const Rule& required_rule(const Rulebook& rulebook, std::string_view id) {
  if (const Rule* rule = find_rule(rulebook, id)) return *rule;
  std::vector<std::string_view> ids;
  for (const Rule* rule : sorted_by_id(rulebook)) ids.push_back(rule->id);
  const auto near = nearest_name(id, ids);
  throw Error(fmt::format("unknown rule '{}'", id), "rules",
              near ? fmt::format("did you mean '{}'?", *near) : "see 'ncclog rules list'");
}

std::string list_rules(const Rulebook& rulebook) {
  size_t width = 0;
  for (const Rule& rule : rulebook.rules) width = std::max(width, rule.id.size());
  std::string out;
  for (const Rule* rule : sorted_by_id(rulebook)) {
    out +=
        fmt::format("{:<{}}  {:<7}  {:<8}  {:<7}  {}\n", rule->id, width, to_string(rule->severity),
                    to_string(rule->confidence), to_string(rule->role), printable(rule->title));
  }
  return out;
}

std::string show_rule(const Rulebook& rulebook, std::string_view id) {
  const Rule& rule = required_rule(rulebook, id);
  std::string out = text_block("id", rule.id) + text_block("title", rule.title);
  out += text_block("grade", fmt::format("{}, {}, {}", to_string(rule.severity),
                                         to_string(rule.confidence), to_string(rule.role)));
  out += text_block("file", rule.path);
  if (rule.per != Scope::Job) out += text_block("per", std::string(to_string(rule.per)));
  if (rule.last_resort)
    out += text_block("judged", "where no other rule found an error or a warning");
  if (rule.of_all_runs) out += text_block("over", "all runs of the logs together");
  if (rule.halves_bandwidth) out += text_block("cost", "at least half of the bandwidth");
  out += text_block("needs", needs_text(rule)) + text_block("when", rule.when_text);
  out += text_block("message", rule.message_text) + text_block("why", rule.why);
  out += texts_block("check", rule.check) + texts_block("fix", rule.fix);
  out += texts_block("do not", rule.do_not) + texts_block("references", rule.references);
  out += text_block("explains", join(rule.explains, ", "));
  out += text_block("same ranks", join(rule.explains_same_ranks, ", "));
  out += text_block("related", join(rule.related, ", "));
  return out + examples_block("fires on", rule.fires) + examples_block("quiet on", rule.quiet);
}

RuleCheck check_rules(const std::vector<std::string>& paths) {
  RuleCheck result;
  RuleSet set = read_rule_set(paths, builtin_shared_names(), [&](const Error& error) {
    result.problems.push_back(problem_of(error));
  });
  result.files = set.files;
  std::stable_sort(result.problems.begin(), result.problems.end(),
                   [](const RuleProblem& a, const RuleProblem& b) { return a.where < b.where; });
  if (!result.problems.empty()) return result;
  Rulebook builtin = load_rulebook();
  std::move(set.rules.begin(), set.rules.end(), std::back_inserter(builtin.rules));
  try {
    make_rulebook(std::move(builtin.rules), std::move(set.overlays), Date{});
  } catch (const Error& error) {
    result.problems.push_back(problem_of(error));
  }
  return result;
}

}  // namespace ncclog

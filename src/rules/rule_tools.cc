#include "rules/rule_tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "log/known_messages.h"
#include "model/derive/split_runs.h"
#include "rules/evaluate.h"
#include "rules/headline.h"

namespace ncclog {
namespace {

std::string examples_block(std::string_view name, const std::vector<Example>& examples) {
  std::string out;
  for (const Example& example : examples) {
    out += example.name.empty() ? fmt::format("{}\n", name)
                                : fmt::format("{}: {}\n", name, printable(example.name));
    for (const std::string_view line : split(trim(example.log), '\n')) {
      out += "    " + printable(line) + "\n";
    }
  }
  return out;
}

// Why a rule fired, or why not.

std::string process_name(const Job& job, int index) {
  const Process& process = job.processes[index];
  std::string name = process.rank >= 0 ? fmt::format("rank {}", process.rank) : "a process";
  if (!process.host.empty()) name += " on " + process.host;
  return process.pid >= 0 ? fmt::format("{} (pid {})", name, process.pid) : name;
}

/// True if two instances are told as one: the lines that show the answers may differ.
bool is_alike(const ExplainedInstances& a, const ExplainedInstances& b) {
  const auto same_step = [](const ExplainedStep& x, const ExplainedStep& y) {
    return std::tie(x.condition, x.answer, x.reason, x.value) ==
           std::tie(y.condition, y.answer, y.reason, y.value);
  };
  return a.answer == b.answer &&
         std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(), b.steps.end(), same_step);
}

/// How far an instance came: its answer, then how many of its conditions hold.
std::pair<Answer, int64_t> progress(const ExplainedInstances& instances) {
  const auto yes = std::ranges::count(instances.steps, Answer::Yes, &ExplainedStep::answer);
  return {instances.answer, yes};
}

std::vector<ExplainedInstances> explain_instances(const Rule& rule, JobView& view,
                                                  const FindingsById& findings) {
  RuleJudge judge(view, findings);
  std::vector<ExplainedInstances> groups;
  for (const Instance& instance : view.instances(rule.per)) {
    ExplainedInstances explained;
    std::vector<Hit> hits;
    judge.record_in(explained.steps);
    explained.answer = judge.judge(rule.when, instance, hits);
    const bool is_process = instance.scope == Scope::Process && instance.processes.size() == 1;
    explained.names = {is_process ? process_name(view.job(), instance.processes.front())
                                  : name_of(view.job(), instance)};
    const auto alike = std::ranges::find_if(
        groups, [&](const ExplainedInstances& group) { return is_alike(group, explained); });
    if (alike == groups.end()) {
      groups.push_back(std::move(explained));
    } else {
      alike->names.push_back(std::move(explained.names.front()));
    }
  }
  std::ranges::stable_sort(groups,
                           [](const auto& a, const auto& b) { return progress(a) > progress(b); });
  return groups;
}

/// "a line peer_closed" of "{event: peer_closed, where: …}"; other conditions as they stand.
std::string named_condition(const std::string& condition) {
  constexpr std::pair<std::string_view, std::string_view> kNamed[] = {
      {"{fact: ", "the fact "}, {"{event: ", "a line "}, {"{each: ", "a line "}};
  for (const auto& [start, word] : kNamed) {
    if (!condition.starts_with(start)) continue;
    const size_t end = condition.find_first_of(",}", start.size());
    return std::string(word) + condition.substr(start.size(), end - start.size());
  }
  return condition;
}

/// What an undecided rule lacks: the conditions of which the logs do not tell, and why.
std::string undecided_sentence(const ExplainedInstances& instances) {
  std::vector<std::string> open;
  for (const ExplainedStep& step : instances.steps) {
    if (step.answer != Answer::Unknown || step.reason.empty()) continue;
    std::string text = fmt::format("{} ({})", named_condition(step.condition), step.reason);
    if (std::ranges::find(open, text) == open.end()) open.push_back(std::move(text));
  }
  if (open.empty()) return "Nothing excludes it, but something that it asks for is unknown.";
  return fmt::format("Nothing excludes it. What would decide it: {}.", few_of(open, 2, "; "));
}

std::pair<Standing, std::string> outcome_of(const Rule& rule, const Explanation& explanation,
                                            const Found& found) {
  const auto finding = found.findings.find(rule.id);
  if (found.suppressed.contains(rule.id)) {
    return {Standing::Suppressed, "It holds, and an overlay suppresses it."};
  }
  if (finding != found.findings.end()) return {Standing::Found, finding->second.message};
  if (!explanation.open_needs.empty()) {
    const NotJudged& need = explanation.open_needs.front();
    return {Standing::NotJudged,
            fmt::format("It is not judged. {} {}", need.reason, need.how_to_capture)};
  }
  // Those that came furthest stand first.
  const Answer best =
      explanation.instances.empty() ? Answer::No : explanation.instances.front().answer;
  // A rule that holds and found nothing was not asked.
  if (best == Answer::Yes) {
    return {Standing::NotJudged, "It is a last resort, and other rules found something."};
  }
  if (best == Answer::Unknown) {
    return {Standing::Undecided, undecided_sentence(explanation.instances.front())};
  }
  return {Standing::DoesNotHold, "It does not hold."};
}

// Is a firing example worth its lines? Two trials that every one must pass.
//
//   mutation     without its essential lines the rule is quiet, so the example does show the rule
//   cross-talk   no other rule raises an error or a warning on it, except related ones
//
// An essential line is one whose loss alone silences the rule. Where several lines say the same
// thing none is essential alone, but all lines of the finding's evidence are together.

bool asks_for(const Condition& condition, const std::string& id) {
  if (const auto* asked = std::get_if<FindingCondition>(&condition.what)) return asked->rule == id;
  bool any = false;
  for_each_member(condition, [&](const Condition& inner) { any |= asks_for(inner, id); });
  return any;
}

bool names(const Rule& rule, const std::string& id) {
  const auto has = [&](const auto& ids) { return std::ranges::find(ids, id) != ids.end(); };
  return has(rule.explains) || has(rule.explains_same_ranks) || has(rule.related) ||
         asks_for(rule.when, id);
}

const Finding* finding_of(const Diagnosis& diagnosis, std::string_view id) {
  const auto found = std::ranges::find(diagnosis.findings, id, &Finding::id);
  return found == diagnosis.findings.end() ? nullptr : &*found;
}

/// Ids of the errors and warnings in `found` that nothing ties to `rule`: neither `explains` or
/// `related` on either side, nor a finding that one of them asks for. A rule that a user added may
/// sharpen what a built-in one says, so built-in rules count for each other only. In the order of
/// `found`.
std::vector<std::string> unrelated_findings(const Rulebook& rulebook, const Rule& rule,
                                            const Diagnosis& found) {
  std::vector<std::string> ids;
  for (const Finding& finding : found.findings) {
    if (finding.severity == Severity::Info || finding.id == rule.id) continue;
    const Rule* other = find_rule(rulebook, finding.id);
    const bool sharpens = other->builtin && !rule.builtin;
    if (sharpens || names(rule, finding.id) || names(*other, rule.id)) continue;
    ids.push_back(finding.id);
  }
  return ids;
}

/// True if the rule still fires on `log` whichever line is left out, and without all the lines that
/// its finding in `found` quotes: nothing in the example is what the rule is about.
bool fires_without_evidence(const Rulebook& rulebook, const Rule& rule, std::string_view log,
                            const Diagnosis& found, const ExampleReader& reader,
                            const LineMatcher& matcher) {
  const std::vector<std::string_view> lines = split(log, '\n');
  // Lines are counted from 1, as evidence is.
  const auto fires_without = [&](const std::set<uint64_t>& dropped) {
    std::string rest;
    for (size_t i = 0; i < lines.size(); ++i) {
      if (!dropped.contains(i + 1)) rest += std::string(lines[i]) + "\n";
    }
    return finding_of(evaluate(rulebook, reader(rest, matcher)), rule.id) != nullptr;
  };
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!fires_without({i + 1})) return false;
  }
  std::set<uint64_t> quoted;
  const Finding* finding = finding_of(found, rule.id);
  if (finding == nullptr) return false;
  for (const Evidence& evidence : finding->evidence) quoted.insert(evidence.where.line);
  return fires_without(quoted);
}

// Every rule carries logs on which it must fire and near misses on which it must not. Here they are
// judged like any other log.

/// How the lines of the example were understood, for whoever has to find out why.
std::string kinds_of(const Job& job) {
  std::set<std::string_view> kinds;
  for (const SpeakerLog& log : job.logs) {
    for (const auto& [kind, list] : log.records) kinds.insert(all_kinds()[kind].name);
  }
  return kinds.empty() ? "no line recognised" : fmt::format("events: {}", fmt::join(kinds, ", "));
}

// The beginning of a rule file.

/// Texts of JSON are texts of YAML.
std::string yaml_text(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

std::string event_condition(const Record& record) {
  const Event event = parse_record(record);
  const Kind& kind = *event.message.kind;
  std::string texts;
  std::string numbers;
  for (size_t i = 0; i < kind.fields.size(); ++i) {
    const std::string_view value = event.message.fields[i];
    if (value.empty()) continue;
    const Field& field = kind.fields[i];
    if (field.type == FieldType::Text) {
      texts += fmt::format("        {}: {}\n", field.name, yaml_text(value));
    } else {
      numbers += fmt::format("        # {}: {}\n", field.name, printable(value));
    }
  }
  std::string out = fmt::format("    - event: {}\n", kind.name);
  if (texts.empty()) return out + (numbers.empty() ? "" : "      # where:\n" + numbers);
  return out + "      where:  # Keep what makes this fault; drop what only this line says.\n" +
         texts + numbers;
}

/// The message as an expression that other numbers and addresses match too.
std::string pattern_of(std::string_view line) {
  const size_t nccl = line.find("NCCL ");
  std::string_view rest = line.substr(nccl == line.npos ? 0 : nccl);
  std::string out;
  while (!rest.empty()) {
    const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    if (digits > 0) {
      out += "[0-9]+";
      rest.remove_prefix(digits);
      continue;
    }
    const char c = rest.front();
    if (std::string_view("\\.+*?()|[]{}^$").find(c) != std::string_view::npos) out += '\\';
    out += c;
    rest.remove_prefix(1);
  }
  return out;
}

std::string condition_of(std::string_view line, const Job& job) {
  if (line.empty()) return "    - {line: 'NCCL WARN the words of the line'}\n";
  // The first line whose kind rules can ask for.
  Record first;
  for (const SpeakerLog& log : job.logs) {
    for (const auto& [kind, list] : log.records) {
      for (const Record& record : list.kept) {
        if (!first || record.where < first.where) first = record;
      }
    }
  }
  if (first) return event_condition(first);
  return fmt::format("    - line: {}\n", yaml_text(pattern_of(line)));
}

}  // namespace

std::map<std::string_view, const Rule*> rules_by_id(const Rulebook& rulebook) {
  std::map<std::string_view, const Rule*> rules;
  for (const Rule& rule : rulebook.rules) rules.emplace(rule.id, &rule);
  return rules;
}

const Rule& required_rule(const Rulebook& rulebook, std::string_view id) {
  if (const Rule* rule = find_rule(rulebook, id)) return *rule;
  throw Error(fmt::format("unknown rule '{}'", id), "rules",
              hint_for(id, keys_of(rules_by_id(rulebook)), "see 'ncclog rules list'"));
}

std::string show_rule(const Rulebook& rulebook, std::string_view id, bool source) {
  using Blocks = std::vector<std::pair<std::string_view, std::vector<std::string>>>;
  const Rule& rule = required_rule(rulebook, id);
  const std::string grade = fmt::format("{}, {}, {}", to_string(rule.severity),
                                        to_string(rule.confidence), to_string(rule.role));
  const Blocks said = {{"id", {rule.id}},
                       {"title", {rule.title}},
                       {"grade", {grade}},
                       {"message", {rule.source->find("message")->text}},
                       {"why", {rule.why}},
                       {"check", rule.check},
                       {"fix", rule.fix},
                       {"do not", rule.do_not},
                       {"references", rule.references},
                       {"explains", {join(rule.explains, ", ")}},
                       {"related", {join(rule.related, ", ")}}};
  std::string out;
  // What a rule does not say has no line.
  const auto add = [&out](const Blocks& blocks) {
    for (const auto& [name, texts] : blocks) {
      std::string_view label = name;
      for (const std::string& text : texts) {
        if (text.empty()) continue;
        out += fmt::format("{:<12}{}\n", std::exchange(label, ""), printable(text));
      }
    }
  };
  add(said);
  if (!source) {
    const auto most = std::min<size_t>(rule.fires.size(), 1);
    return out + examples_block("fires on", {rule.fires.begin(), rule.fires.begin() + most});
  }
  std::vector<std::string> needs;
  for (const Fact* need : rule.needs) needs.emplace_back(need->name);
  add({{"file", {rule.path}},
       {"per", {rule.per == Scope::Job ? "" : std::string(to_string(rule.per))}},
       {"judged", {rule.last_resort ? "where no other rule found an error or a warning" : ""}},
       {"shown", {rule.is_harmless ? "on a screen with -v only" : ""}},
       {"stands", {rule.tells_end ? "before findings as severe that say nothing of the end" : ""}},
       {"over", {rule.of_all_runs ? "all runs of the logs together" : ""}},
       {"cost", {rule.halves_bandwidth ? "at least half of the bandwidth" : ""}},
       {"needs", {join(needs, ", ")}},
       {"when", {flow_text(*rule.when.node)}},
       {"headline", {rule.headline.empty() ? "" : rule.source->find("headline")->text}},
       {"same ranks", {join(rule.explains_same_ranks, ", ")}},
       {"witness", {rule.witness}}});
  return out + examples_block("fires on", rule.fires) + examples_block("quiet on", rule.quiet);
}

RuleSet check_rules(const std::vector<std::string>& paths) {
  RuleSet set = read_rule_set(paths, builtin_shared_names());
  std::ranges::stable_sort(set.problems, {}, &Error::where);
  if (!set.problems.empty()) return set;
  Rulebook together = load_rulebook();
  std::ranges::copy(set.rules, std::back_inserter(together.rules));
  try {
    make_rulebook(std::move(together.rules), set.overlays);
  } catch (const Error& error) {
    set.problems.push_back(error);
  }
  return set;
}

/// Of one run, or, for a rule about the runs, of what was read.
static Explanation explain_of(const Rulebook& rulebook, const Job& job, const Rule& rule) {
  JobView view(job);
  const Found found = find_all(rulebook, view);
  Explanation explanation{.id = rule.id, .title = rule.title, .path = rule.path};
  for (const Fact* need : open_needs(rule, view)) {
    explanation.open_needs.push_back(not_judged(*need, view));
  }
  for (const auto& [other, finding] : found.findings) {
    const bool explains = std::ranges::find(finding.explains, rule.id) != finding.explains.end();
    if (explains && found.findings.contains(rule.id)) explanation.explained_by.push_back(other);
  }
  std::ranges::copy_if(found.overlays, std::back_inserter(explanation.overlays),
                       [&](const OverlayEffect& effect) { return effect.finding.id == rule.id; });
  explanation.instances = explain_instances(rule, view, found.findings);
  std::tie(explanation.outcome, explanation.sentence) = outcome_of(rule, explanation, found);
  return explanation;
}

Explanation explain(const Rulebook& rulebook, const Job& job, std::string_view id) {
  const Rule& rule = required_rule(rulebook, id);
  if (rule.of_all_runs) return explain_of(rulebook, job, rule);
  const SplitRuns split = split_runs(job);
  if (split.runs.empty()) return explain_of(rulebook, job, rule);
  // Of the first run that comes nearest to it.
  std::vector<Explanation> all;
  for (const Job& run : split.runs) all.push_back(explain_of(rulebook, run, rule));
  Explanation& nearest = *std::ranges::min_element(all, {}, &Explanation::outcome);
  if (nearest.outcome == Standing::Found) return std::move(nearest);
  Explanation rest = explain_of(rulebook, split.rest, rule);
  return std::move(rest.outcome == Standing::Found ? rest : nearest);
}

RuleTest test_rules(const Rulebook& rulebook, bool only_added, const ExampleReader& reader) {
  const LineMatcher matcher = make_line_matcher(rulebook);
  RuleTest result;
  const auto run = [&](const Rule& rule, const Example& example, bool must_fire) {
    ++result.examples;
    const Job job = reader(example.log, matcher);
    const Diagnosis diagnosis = evaluate(rulebook, job);
    const Finding* finding = finding_of(diagnosis, rule.id);
    const bool fires = finding != nullptr;
    const auto fail = [&](std::string what) {
      const auto [line, column] = example.place;
      // An Error's text ends at a NUL, and what a finding says may hold one of the log.
      result.failures.emplace_back(printable(fmt::format("{} {}", rule.id, what)),
                                   fmt::format("{}:{}:{}", rule.path, line, column));
    };
    if (fires != must_fire) {
      std::vector<std::string> ids;
      for (const Finding& found : diagnosis.findings) ids.push_back(found.id);
      fail(fmt::format("{}; found: {}; {}",
                       must_fire ? "must fire here, but stays quiet" : "must stay quiet, but fires",
                       ids.empty() ? "nothing" : join(ids, ", "), kinds_of(job)));
    }
    if (!fires || !must_fire) return;
    const std::string ranks = finding->ranks.empty() ? "none" : ranges_text(finding->ranks);
    if (!example.ranks.empty() && example.ranks != ranks) {
      fail(fmt::format("must name the ranks {}, but names {}", example.ranks, ranks));
    }
    const std::string headline = headline_of(*finding);
    const std::string said = headline + "\n" + finding->message;
    if (said.find(example.says) == std::string::npos) {
      fail(fmt::format("must say \"{}\", but says: {}", example.says, said));
    }
    if (const std::string_view word = empty_word(headline); !word.empty()) {
      fail(fmt::format("must name names and values in its headline, not \"{}\": {}", word,
                       headline));
    }
    if (headline.ends_with("…")) {
      fail(fmt::format("must say what happened within {} characters: {}", kMaxHeadline, headline));
    }
    const std::vector<std::string> others = unrelated_findings(rulebook, rule, diagnosis);
    if (!others.empty()) {
      fail(fmt::format("fires here, but not alone: {}; name them in 'related' if they belong to it",
                       join(others, ", ")));
    }
    if (fires_without_evidence(rulebook, rule, example.log, diagnosis, reader, matcher)) {
      fail("fires here even without the lines that it quotes");
    }
  };
  for (const Rule& rule : rulebook.rules) {
    if (only_added && rule.builtin) continue;
    ++result.rules;
    for (const Example& example : rule.fires) run(rule, example, true);
    for (const Example& example : rule.quiet) run(rule, example, false);
  }
  return result;
}

std::string new_rule_text(std::string_view id, std::string_view line, const Job& job) {
  if (!is_rule_id(id)) {
    throw Error(fmt::format("'{}' is no id", printable(id)), "rules new",
                "ids are words in lower case, joined by '-'");
  }
  const std::string_view fires = line.empty() ? "NCCL WARN the words of the line" : line;
  return fmt::format(
      "id: {}\n"
      "title: What is wrong, in a few words\n"
      "severity: warning      # error, warning, info\n"
      "confidence: possible   # certain, likely, possible\n"
      "role: advice           # cause, symptom, advice\n"
      "when:\n"
      "  all:\n"
      "{}"
      "message: \"{{subject}}: what happened, in one sentence.\"\n"
      "why: The mechanism, in one or two sentences.\n"
      "check: [\"a command that changes nothing    # what it shows\"]\n"
      "fix: [What to change.]\n"
      "do_not: [\"What makes it worse: the reason.\"]\n"
      "references: [Where this is known from]\n"
      "examples:\n"
      "  fires:   # logs on which the rule must fire\n"
      "    - {}\n"
      "  quiet:   # near misses on which it must not; 'rules test' fails until this is one\n"
      "    - {}\n",
      id, condition_of(line, job), yaml_text(fires), yaml_text(fires));
}

std::string write_new_rule(const Rulebook& rulebook, const std::string& id, const std::string& area,
                           const std::string& text) {
  namespace fs = std::filesystem;
  if (const Rule* rule = find_rule(rulebook, id)) {
    throw Error(fmt::format("there is a rule '{}'", id), "rules new",
                fmt::format("it is in {}; choose another id, or see 'ncclog rules show {}'",
                            rule->path, id));
  }
  const fs::path path = fs::path(area) / (id + ".yaml");
  std::error_code error;
  if (fs::exists(path, error)) throw Error("the file is there already", path.string());
  if (!area.empty()) fs::create_directories(area, error);
  std::ofstream stream(path, std::ios::binary);
  stream << text;
  if (!stream.flush()) {
    fs::remove(path, error);
    throw Error("cannot be written", path.string());
  }
  return path.string();
}

}  // namespace ncclog

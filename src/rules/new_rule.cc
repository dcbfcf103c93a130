#include "rules/new_rule.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/text.h"
#include "log/known_messages.h"
#include "rules/load_rules.h"

namespace ncclog {
namespace {

std::string yaml_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : to_valid_utf8(text)) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      out += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

/// The first line of the job whose kind rules can ask for; nullptr: no line is understood.
const Record* first_record(const Job& job) {
  const Record* first = nullptr;
  for (const SpeakerLog& log : job.logs) {
    for (const auto& [kind, list] : log.records) {
      for (const Record& record : list.kept) {
        if (first == nullptr || record.where < first->where) first = &record;
      }
    }
  }
  return first;
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
  if (const Record* record = first_record(job)) return event_condition(*record);
  return fmt::format("    - line: {}\n", yaml_text(pattern_of(line)));
}

void require_no_rule(const Rulebook& rulebook, const std::string& id) {
  const Rule* rule = find_rule(rulebook, id);
  if (rule == nullptr) return;
  throw Error(
      fmt::format("there is a rule '{}'", id), "rules new",
      fmt::format("it is in {}; choose another id, or see 'ncclog rules show {}'", rule->path, id));
}

}  // namespace

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
      "check: [\"a command that changes nothing\"]\n"
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
  require_no_rule(rulebook, id);
  const fs::path path = fs::path(area) / (id + ".yaml");
  std::error_code error;
  if (fs::exists(path, error)) throw Error("the file is there already", path.string());
  if (!area.empty()) fs::create_directories(area, error);
  std::ofstream stream(path, std::ios::binary);
  stream << text;
  if (!stream.flush()) throw Error("cannot be written", path.string());
  return path.string();
}

}  // namespace ncclog

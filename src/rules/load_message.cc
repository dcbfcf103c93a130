// Messages: which placeholder stands for what.

#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "rules/load_condition.h"
#include "rules/node_reader.h"

namespace ncclog {
namespace {

struct NamedPart {
  std::string_view name;
  MessagePart::Type type;
};

constexpr NamedPart kNamedParts[] = {
    {"subject", MessagePart::Type::Subject},
    {"ranks", MessagePart::Type::Ranks},
    {"hosts", MessagePart::Type::Hosts},
    {"communicator", MessagePart::Type::Communicator},
};

std::optional<MessagePart> named_part(std::string_view name) {
  for (const NamedPart& part : kNamedParts) {
    if (part.name != name) continue;
    MessagePart result;
    result.type = part.type;
    return result;
  }
  return std::nullopt;
}

/// "job.rdma_evidence" and "job.rdma_evidence.what"; nullopt if a label must be meant.
std::optional<MessagePart> fact_part(const RuleFile& file, Place place, std::string_view name,
                                     const ConditionNames& names) {
  const std::string_view scope = name.substr(0, name.find('.'));
  if (!parse_scope(scope) || names.labels.contains(scope)) return std::nullopt;
  constexpr std::string_view kWhat = ".what";
  MessagePart part;
  part.type = MessagePart::Type::Fact;
  if (name.ends_with(kWhat)) {
    part.type = MessagePart::Type::FactWhat;
    name.remove_suffix(kWhat.size());
  }
  part.fact = &load_fact(file, place, name, names.per);
  return part;
}

/// "end|one process|# processes": the first form for one line of the label, else the second.
MessagePart load_plural(const RuleFile& file, Place place, std::string_view text,
                        const ConditionNames& names) {
  const auto forms = split(text, '|');
  if (forms.size() != 3) {
    fail_at(file, place, fmt::format("'{}' is no plural", text), "{LABEL|one line|# lines}");
  }
  if (!names.labels.contains(forms[0])) {
    Names known;
    for (const auto& [label, meaning] : names.labels) known.push_back(label);
    fail_unknown(file, place, "label '{}'", forms[0], known);
  }
  MessagePart part;
  part.type = MessagePart::Type::Plural;
  part.text = forms[0];
  part.one = forms[1];
  part.many = forms[2];
  return part;
}

MessagePart load_placeholder(const RuleFile& file, Place place, std::string_view name,
                             const ConditionNames& names) {
  if (auto part = named_part(name)) return *part;
  if (name.find('|') != name.npos) return load_plural(file, place, name, names);
  if (auto part = fact_part(file, place, name, names)) return *part;
  if (name.find('.') == name.npos) {
    fail_unknown(file, place, "placeholder '{}'", name,
                 {"subject", "ranks", "hosts", "communicator"});
  }
  LabelledField field = load_labelled_field(file, place, name, names);
  MessagePart part;
  part.type = MessagePart::Type::Field;
  part.text = std::move(field.label);
  part.field = field.field;
  return part;
}

void add_text(std::vector<MessagePart>& parts, std::string_view text) {
  if (text.empty()) return;
  if (parts.empty() || parts.back().type != MessagePart::Type::Text) parts.emplace_back();
  parts.back().text += text;
}

}  // namespace

std::vector<MessagePart> load_message(const RuleFile& file, const RuleNode& node,
                                      const ConditionNames& names) {
  std::string_view rest = scalar_of(file, node, "a message");
  std::vector<MessagePart> parts;
  while (!rest.empty()) {
    const size_t brace = std::min(rest.find_first_of("{}"), rest.size());
    add_text(parts, rest.substr(0, brace));
    rest.remove_prefix(brace);
    if (rest.empty()) break;
    if (rest.starts_with("{{") || rest.starts_with("}}")) {
      add_text(parts, rest.substr(0, 1));
      rest.remove_prefix(2);
      continue;
    }
    const size_t end = rest.find('}');
    if (rest.front() == '}' || end == rest.npos) {
      fail_at(file, node.place, "a brace of the message has no partner",
              "write {{ and }} for braces");
    }
    parts.push_back(load_placeholder(file, node.place, rest.substr(1, end - 1), names));
    rest.remove_prefix(end + 1);
  }
  return parts;
}

}  // namespace ncclog

#include "diagnose/compare/run_difference.h"

#include <ranges>
#include <tuple>

#include "log/address.h"

namespace ncclog {
namespace {

bool is_name_char(char c) { return is_word(c) || c == '-' || c == '.'; }

bool is_address(std::string_view word) {
  if (parse_ipv4(word)) return true;
  const bool is_hex = std::ranges::all_of(word, [](char c) { return is_hex_digit(c) || c == ':'; });
  return is_hex && std::ranges::count(word, ':') > 1;
}

/// Takes the word at the start of `text`, with the colons of an IPv6 address in it.
std::string_view take_name(std::string_view& text) {
  size_t end = 0;
  while (end < text.size() && is_name_char(text[end])) ++end;
  size_t longer = end;
  while (longer < text.size() && (is_hex_digit(text[longer]) || text[longer] == ':')) ++longer;
  if (is_address(text.substr(0, longer))) end = longer;
  while (end > 1 && !is_word(text[end - 1])) --end;
  const std::string_view name = text.substr(0, end);
  text.remove_prefix(end);
  return name;
}

/// A line of influences.table.
struct Influence {
  std::string_view cause;    ///< A topic, and how the name begins.
  std::string_view effects;  ///< The same of each effect, between commas.
};

constexpr Influence kInfluences[] = {
#include "diagnose/compare/influences.inc"
};

constexpr size_t kItemsShown = 4;

std::string items_text(const FactValue::Set& items) {
  std::vector<std::string> names;
  for (const FactValue& item : items) names.push_back(fact_text(item));
  return few_of(names, kItemsShown, ", ");
}

/// A side of which only what the other run lacks is told, with lines that show it.
FactValue own_items(const FactValue::Set& own, const FactValue::Set& others) {
  FactValue::Set items;
  FactValue side;
  for (const FactValue& item : own) {
    const bool is_common =
        std::ranges::any_of(others, [&](const FactValue& other) { return are_alike(item, other); });
    if (is_common) continue;
    items.push_back(item);
    const Evidence& line = item.evidence.front();
    const bool shows = line.where.line != 0 && side.evidence.size() < kMostShown;
    if (shows) side.evidence.push_back(line);
  }
  side.what =
      items.empty() ? "nothing that the other run lacks" : "only here: " + items_text(items);
  return side;
}

/// For people.
std::string text_of(const FactValue& fact) {
  if (const auto* items = std::get_if<FactValue::Set>(&fact.value)) return items_text(*items);
  return fact.what.empty() ? fact_text(fact) : fact.what;
}

FactValue side_of(const FactValue& own, const FactValue& other) {
  const auto* items = std::get_if<FactValue::Set>(&own.value);
  const auto* others = std::get_if<FactValue::Set>(&other.value);
  return items != nullptr && others != nullptr
             ? own_items(*items, *others)
             : FactValue{.what = text_of(own), .evidence = own.evidence};
}

/// Facts that only one of the runs has, and of which the other one's logs do not tell: by topic,
/// whether it is the good run that has them, and why the other one does not tell.
using UntoldRows = std::map<std::tuple<Topic, bool, std::string>, std::vector<const FactValue*>>;

/// Adds a fact that one of the runs has, where the other one says that it has not; else, to
/// `untold`, why its logs do not tell.
void add_single(const ComparedRun& own, const ComparedRun& other, Topic topic,
                const FactValue& fact, bool is_good, RunDifference& out, UntoldRows& untold) {
  const TopicRow& about = row_of(topic);
  const FactValue absent = about.absent == nullptr ? unknown(std::string(about.untold))
                                                   : about.absent(other.job, fact, own.job);
  if (absent.known()) {
    DifferenceRow row{topic, fact.of, fact.minor ? RowState::Note : RowState::Differs};
    (is_good ? row.good : row.bad) = {.what = text_of(fact), .evidence = fact.evidence};
    out.rows.push_back(std::move(row));
  } else if (!absent.why.empty() && !fact.minor) {
    // What does not matter is not worth saying that it is not known.
    untold[{topic, is_good, absent.why}].push_back(&fact);
  }
}

void add_untold(const UntoldRows& untold, RunDifference& out) {
  for (const auto& [key, facts] : untold) {
    const auto& [topic, is_good, why] = key;
    DifferenceRow row{topic, {}, RowState::NotComparable};
    (is_good ? row.bad : row.good).why = why;
    FactValue& known = is_good ? row.good : row.bad;
    known.evidence = facts.front()->evidence;
    if (facts.size() == 1) {
      row.name = facts.front()->of;
      known.what = text_of(*facts.front());
    } else {
      std::vector<std::string> parts;
      for (const FactValue* fact : facts) {
        const bool is_setting = topic == Topic::Setting;
        parts.push_back(is_setting ? fmt::format("{}={}", fact->of, text_of(*fact)) : fact->of);
      }
      known.what = few_of(parts, kItemsShown, ", ");
    }
    out.rows.push_back(std::move(row));
  }
}

bool share_a_line(const FactValue& a, const FactValue& b) {
  return std::ranges::any_of(a.evidence, [&](const Evidence& line) {
    return std::ranges::count(b.evidence, line.where, &Evidence::where) > 0;
  });
}

bool names(const FactValue& side, const std::string& setting) {
  return side.what.find(setting) != std::string::npos ||
         std::ranges::any_of(side.evidence, [&](const Evidence& line) {
           return line.text.find(setting) != std::string::npos;
         });
}

/// In that run the finding `effect` follows from `cause`.
bool explains(const ComparedRun& run, const DifferenceRow& cause, const DifferenceRow& effect) {
  const auto found = run.explained.find(cause.name);
  return found != run.explained.end() && std::ranges::count(found->second, effect.name) > 0;
}

bool explains(const ComparedRun& good, const ComparedRun& bad, const DifferenceRow& cause,
              const DifferenceRow& effect) {
  if (cause.state != RowState::Differs || &cause == &effect) return false;
  const auto subject_of = [](const DifferenceRow& row) {
    return fmt::format("{} {}", to_string(row.topic), row.name);
  };
  if (may_explain(subject_of(cause), subject_of(effect))) return true;
  if (cause.topic == effect.topic) {
    return cause.topic == Topic::Finding &&
           (explains(good, cause, effect) || explains(bad, cause, effect));
  }
  if (cause.topic == Topic::Finding && effect.topic == Topic::Warning) {
    return share_a_line(cause.good, effect.good) || share_a_line(cause.bad, effect.bad);
  }
  // Warnings and findings that quote a setting are about it.
  const bool quotes = effect.topic == Topic::Warning || effect.topic == Topic::Finding;
  return cause.topic == Topic::Setting && quotes &&
         (names(effect.good, cause.name) || names(effect.bad, cause.name));
}

}  // namespace

std::span<const TopicRow> topic_rows() {
  static const std::vector<TopicRow> rows = [] {
    std::vector<TopicRow> all(setup_topics().begin(), setup_topics().end());
    all.insert(all.end(), work_topics().begin(), work_topics().end());
    std::ranges::sort(all, {}, &TopicRow::topic);
    return all;
  }();
  return rows;
}

const TopicRow& row_of(Topic topic) { return topic_rows()[static_cast<size_t>(topic)]; }

std::string_view to_string(Topic topic) { return row_of(topic).name; }

ComparedFacts compared_facts(const Job& job, const std::set<int>& ranks) {
  Instance compared = job_instance(job);
  std::erase_if(compared.processes, [&](int process) {
    return !ranks.empty() && !ranks.contains(nth_process(job, process).rank);
  });
  ComparedFacts facts;
  for (const TopicRow& row : topic_rows()) {
    if (row.derive == nullptr) continue;
    for (FactValue& fact : row.derive(job, compared)) {
      facts.try_emplace({row.topic, fact.of}, std::move(fact));
    }
  }
  return facts;
}

FactValue::Set stated_facts(const StatedByName& stated, FactValue::Set facts) {
  for (const auto& [name, values] : stated) {
    if (values.empty()) continue;
    FactValue& fact = facts.emplace_back();
    fact.of = name;
    fact.value = fmt::format("{}", fmt::join(std::views::keys(values), ", "));
    for (const auto& [value, line] : values) {
      const bool shows = line.where.line != 0 && fact.evidence.size() < kMostShown;
      if (shows) fact.evidence.push_back(line);
    }
  }
  return facts;
}

std::string without_names(const Job& job, std::string_view text) {
  const auto is_host = [&](std::string_view name) {
    return std::ranges::binary_search(job.hosts, name, std::less<>());
  };
  std::string out;
  while (!text.empty()) {
    const bool may_begin = is_name_char(text.front()) || text.front() == ':';
    const std::string_view name = may_begin ? take_name(text) : std::string_view();
    if (name.empty()) {
      out += text.front();
      text.remove_prefix(1);
      continue;
    }
    const bool is_named =
        is_address(name) || is_host(name) || is_host(name.substr(0, name.find('.')));
    out += is_named ? std::string_view("*") : name;
  }
  return out;
}

bool may_explain(std::string_view cause, std::string_view effect) {
  const auto is_meant = [&](std::string_view each) { return effect.starts_with(trim(each)); };
  return std::ranges::any_of(kInfluences, [&](const Influence& each) {
    return cause.starts_with(each.cause) && std::ranges::any_of(split(each.effects, ','), is_meant);
  });
}

RunDifference compare_runs(const ComparedRun& good, const ComparedRun& bad) {
  RunDifference out;
  UntoldRows untold;
  for (const auto& [name, fact] : good.facts) {
    const auto other = bad.facts.find(name);
    if (other == bad.facts.end()) {
      add_single(good, bad, name.first, fact, true, out, untold);
    } else if (are_alike(fact, other->second)) {
      ++out.alike;
    } else {
      const bool is_minor = fact.minor || other->second.minor;
      out.rows.push_back({name.first, fact.of, is_minor ? RowState::Note : RowState::Differs,
                          side_of(fact, other->second), side_of(other->second, fact)});
    }
  }
  for (const auto& [name, fact] : bad.facts) {
    if (!good.facts.contains(name)) add_single(bad, good, name.first, fact, false, out, untold);
  }
  add_untold(untold, out);
  // Before causes are set, which are indices into the rows.
  std::ranges::stable_sort(out.rows, [](const DifferenceRow& a, const DifferenceRow& b) {
    return std::tie(a.state, a.topic, a.name) < std::tie(b.state, b.topic, b.name);
  });
  for (size_t effect = 0; effect < out.rows.size(); ++effect) {
    if (out.rows[effect].state != RowState::Differs) continue;
    for (size_t cause = 0; cause < out.rows.size(); ++cause) {
      if (!explains(good, bad, out.rows[cause], out.rows[effect])) continue;
      // Two that explain each other would have no root.
      if (root_of(out, cause) != effect) out.rows[effect].causes.push_back(cause);
    }
  }
  out.speed = speed_difference(good.job, bad.job);
  if (out.speed) {
    // Of unknown hosts there may be several.
    const int nhosts = std::max(good.job.nhosts, bad.job.nhosts);
    out.speed->causes = speed_causes(*out.speed, out.rows, nhosts);
  }
  return out;
}

size_t count_rows(const RunDifference& difference, RowState state) {
  return static_cast<size_t>(std::ranges::count_if(
      difference.rows, [&](const DifferenceRow& row) { return row.state == state; }));
}

size_t root_of(const RunDifference& difference, size_t row) {
  while (!difference.rows[row].causes.empty()) row = difference.rows[row].causes.front();
  return row;
}

}  // namespace ncclog

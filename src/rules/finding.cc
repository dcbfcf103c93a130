#include "rules/finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "base/sorting.h"
#include "base/text.h"
#include "model/job.h"
#include "rules/headline.h"
#include "rules/judge.h"

namespace ncclog {

namespace {

/// Lines of amd_words.table: a word for NVIDIA's tools, and AMD's.
constexpr std::string_view kWords[][2] = {
#include "rules/amd_words.inc"
};

}  // namespace

void use_amd_words(std::vector<std::string>& texts) {
  for (std::string& text : texts) {
    for (const auto& [nvidia, amd] : kWords) {
      for (size_t at = text.find(nvidia); at != text.npos;
           at = text.find(nvidia, at + amd.size())) {
        text.replace(at, nvidia.size(), amd);
      }
    }
  }
}

namespace {

// From the instances in which a rule holds to its one finding: whom it names, what it says, and
// what shows it.
//
//   rank 3 on a07, rank 5 on a08, each with a peer_closed line
//     → "Rank 3 on a07 (pid 812; also rank 5) lost 10.4.4.1<40123>.", both lines as evidence

// Whom does a finding name? The guilty where evidence identifies them, else those whose own lines
// report the fault; never mere victims. There is one for each process, rank and host that a fact
// names, and for each line that is kept: some 2 MB where a rule is about each of 20,000 ranks, until
// its finding is built, and then the next rule's.

using Parties = std::vector<Subject>;

Subject party_of(const Job& job, int process) {
  const Process& known = nth_process(job, process);
  return {.host = known.host, .rank = known.rank, .pid = known.pid};
}

/// The process that printed a line, with the rank that the line itself names if nothing else does.
Subject party_of(const Job& job, const ReadRecord& read) {
  Subject party = party_of(job, read.process());
  if (party.rank < 0) party.rank = rank_of(job, read.process(), read.header());
  return party;
}

/// Lines from around an instance, which are those of many instances.
using LinesAround = std::tuple<size_t, std::string_view, const ReadRecord* const*, size_t>;

LinesAround lines_around(size_t condition, const Hit& hit) {
  return {condition, hit.label, hit.records.data(), hit.records.size()};
}

/// Each hit; of several with the same lines from around their instances only the first shows them.
void for_each_hit(const std::vector<Firing>& firings, const std::function<void(const Hit&)>& use) {
  std::set<LinesAround> seen;
  for (const Firing& firing : firings) {
    for (size_t i = 0; i < firing.hits.size(); ++i) {
      const Hit& hit = firing.hits[i];
      const bool is_known = !hit.inside && !seen.insert(lines_around(i, hit)).second;
      if (!is_known) use(hit);
    }
  }
}

Parties identified_by_facts(const Job& job, const std::vector<Firing>& firings) {
  Parties parties;
  for_each_hit(firings, [&](const Hit& hit) {
    if (hit.value == nullptr) return;
    for (const int process : hit.value->processes) parties.push_back(party_of(job, process));
    for (const int rank : hit.value->ranks) {
      const int process = process_of_rank(job, rank);
      parties.push_back(process >= 0 ? party_of(job, process) : Subject{.rank = rank});
    }
    for (const std::string& host : hit.value->hosts) parties.push_back({.host = host});
  });
  return parties;
}

Parties speakers(const Job& job, const std::vector<Firing>& firings,
                 const std::function<bool(const Hit&)>& counts) {
  Parties parties;
  for_each_hit(firings, [&](const Hit& hit) {
    if (!counts(hit)) return;
    int last = -1;
    for (const ReadRecord* read : hit.records) {
      // Mostly several lines of one process stand together. Only a line may know its rank, and
      // where no process is known, each line another one.
      const bool is_same = read->process() == last;
      if (is_same && nth_process(job, last).rank >= 0) continue;
      last = read->process();
      Subject party = party_of(job, *read);
      if (!is_same || party.rank >= 0) parties.push_back(std::move(party));
    }
  });
  return parties;
}

Parties reporters(const Job& job, const std::vector<Firing>& firings) {
  Parties parties = speakers(job, firings, [](const Hit& hit) { return hit.inside; });
  if (parties.empty()) parties = speakers(job, firings, [](const Hit&) { return true; });
  if (!parties.empty()) return parties;
  // Whom the findings name that the rule asked for.
  for_each_hit(firings, [&](const Hit& hit) {
    if (hit.finding == nullptr) return;
    for (const int rank : hit.finding->ranks) parties.push_back({.rank = rank});
    for (const std::string& host : hit.finding->hosts) parties.push_back({.host = host});
  });
  if (!parties.empty()) return parties;
  for (const Firing& firing : firings) {
    if (firing.instance->scope == Scope::Job) continue;
    for (const int process : firing.instance->processes) parties.push_back(party_of(job, process));
  }
  return parties;
}

/// Every rank of the largest communicator is a process.
bool are_all_processes(const Job& job) {
  if (job.communicators.empty()) return false;
  const Communicator& known = job.communicators.front();
  return std::cmp_equal(known.ranks.size(), known.nranks) &&
         std::ranges::all_of(known.ranks, [](const CommRank& rank) { return rank.process >= 0; });
}

/// All ranks of the communicator that is known are other processes: that line is about another one.
bool is_of_other_communicator(const Job& job, const ReadRecord& read) {
  if (!is_nccl(read.header()) || read.process() < 0) return false;
  const Process& speaker = nth_process(job, read.process());
  return speaker.pid >= 0 && speaker.rank < 0 && job.answers.of<&are_all_processes>(job);
}

/// Adds the ranks that a text lists: "1, 3". NCCL's lines number ranks within their communicator,
/// which may be a part of the job.
void add_ranks(const Job& job, const ReadRecord& read, std::string_view text, Parties& parties) {
  const bool is_global = !is_nccl(read.header()) || !has_sub_communicators(job);
  const bool is_other = is_of_other_communicator(job, read);
  // "3, 7" of PyTorch, "3 7" of UCC.
  std::string list(text);
  std::ranges::replace(list, ' ', ',');
  for (const std::string_view word : split(list, ',')) {
    const auto rank = parse_int(trim(word));
    if (!is_global || !rank || *rank < 0 || !std::in_range<int>(*rank)) continue;
    const int process = is_other ? -1 : process_of_rank(job, static_cast<int>(*rank));
    parties.push_back(process >= 0 ? party_of(job, process)
                                   : Subject{.rank = static_cast<int>(*rank)});
  }
}

Parties named_in_field(const Blame& blame, const Job& job, const std::vector<Firing>& firings) {
  Parties parties;
  for_each_hit(firings, [&](const Hit& hit) {
    if (hit.label != blame.label) return;
    for (const ReadRecord* read : hit.records) {
      const std::string text = field_text(job, *read, blame.field);
      if (blame.type == Blame::Type::Ranks) {
        add_ranks(job, *read, text, parties);
        continue;
      }
      const int64_t pid = parse_int(text).value_or(-1);
      const int process = pid >= 0 ? process_of_pid(job, pid) : -1;
      if (blame.type == Blame::Type::Host) {
        if (!text.empty()) parties.push_back({.host = text});
      } else if (pid >= 0) {
        parties.push_back(process >= 0 ? party_of(job, process) : Subject{.pid = pid});
      }
    }
  });
  return parties;
}

/// Whom `blame` points at; empty where it points at nobody that the log identifies.
Parties pointed_at(const Blame& blame, const Job& job, const std::vector<Firing>& firings) {
  switch (blame.type) {
    case Blame::Type::Reporters:
      return reporters(job, firings);
    case Blame::Type::Facts:
      return identified_by_facts(job, firings);
    case Blame::Type::Speakers:
      return speakers(job, firings, [&](const Hit& hit) { return hit.label == blame.label; });
    case Blame::Type::Pid:
    case Blame::Type::Host:
    case Blame::Type::Ranks:
      return named_in_field(blame, job, firings);
    case Blame::Type::Nobody:
      break;
  }
  return {};
}

/// Those whom the rule's `blame` points at: sorted, known ranks first, without duplicates.
Parties blamed_parties(const Rule& rule, const Job& job, const std::vector<Firing>& firings) {
  Parties parties;
  if (rule.blame.empty()) parties = identified_by_facts(job, firings);
  bool nobody_else = false;
  for (const Blame& blame : rule.blame) {
    std::ranges::move(pointed_at(blame, job, firings), std::back_inserter(parties));
    nobody_else |= blame.type == Blame::Type::Nobody || blame.type == Blame::Type::Facts;
  }
  if (parties.empty() && !nobody_else) parties = reporters(job, firings);
  // Known ranks first, as processes stand.
  const auto place = [](const Subject& party) {
    return std::make_tuple(party.rank < 0, party.rank, std::string_view(party.host), party.pid);
  };
  sort_unless_sorted(parties, {}, place);
  parties.erase(std::unique(parties.begin(), parties.end()), parties.end());
  return parties;
}

// A rule's message with its placeholders filled.

/// What the placeholders of a message are filled from.
struct Filling {
  JobView& view;
  const std::vector<Firing>& firings;
  const Finding& finding;
  const Parties& parties;
  bool is_headline = false;  ///< Names in few words; else all of them that are told.

  /// "a, b, c, d and 3 more": each value once, in the order in which they came, empty ones left
  /// out. `otherwise` where there are none.
  std::string listed(std::vector<std::string> values,
                     std::string_view otherwise = "(unknown)") const {
    std::set<std::string> seen = {""};
    std::erase_if(values, [&](const std::string& value) { return !seen.insert(value).second; });
    const size_t most = is_headline ? kMostInHeadline : kMostNamed;
    return values.empty() ? std::string(otherwise) : few_of(values, most, ", ");
  }
};

/// "local rank 3", where all lines stand behind that label of torchrun's in one file; empty: they do
/// not, or more of them may be than are shown.
std::string local_rank_of(const Finding& finding) {
  std::set<std::pair<uint64_t, int>> ranks;
  for (const Evidence& line : finding.evidence)
    ranks.emplace(line.where.unit, parse_prefix(line.text).local_rank);
  const bool is_one = ranks.size() == 1 && ranks.begin()->second >= 0;
  return is_one && finding.evidence.size() < Finding::kMaxEvidence
             ? fmt::format("local rank {}", ranks.begin()->second)
             : std::string();
}

/// "rank 1 on trainbox (pid 88219; also ranks 2, 3)", as far as known.
std::string subject_text(const Finding& finding, const Parties& parties) {
  const Subject& subject = finding.subject;
  const auto nameless = std::ranges::count_if(parties, [&](const Subject& party) {
    return party.rank < 0 && party.pid >= 0 && party.pid != subject.pid;
  });
  const bool is_nobody = subject.rank < 0 && subject.pid < 0 && subject.host.empty();
  if (is_nobody && finding.ranks.empty() && nameless > 1) return plural(nameless, "process");
  if (is_nobody && finding.ranks.empty() && nameless == 1) {
    const Subject& only =
        *std::ranges::find_if(parties, [](const Subject& p) { return p.pid >= 0; });
    return fmt::format("process {}{}", only.pid, only.host.empty() ? "" : " on " + only.host);
  }
  const std::string local = is_nobody ? local_rank_of(finding) : "";
  std::string text = subject.rank >= 0 ? fmt::format("rank {}", subject.rank)
                     : local.empty()   ? "a process"
                                       : local;
  if (!subject.host.empty()) text += " on " + subject.host;
  std::vector<std::string> notes;
  if (subject.pid >= 0) notes.push_back(fmt::format("pid {}", subject.pid));
  std::vector<int> others;
  std::ranges::copy_if(finding.ranks, std::back_inserter(others),
                       [&](int rank) { return rank != subject.rank; });
  if (!others.empty()) notes.push_back("also " + ranks_phrase(others));
  // It may be that rank, of which some lines say the rank and others the pid.
  const bool may_be_one = subject.rank >= 0 && subject.pid < 0 && nameless == 1;
  if (others.empty() && nameless > 0 && !may_be_one) {
    notes.push_back(subject.rank >= 0
                        ? fmt::format("also {} of unknown rank", plural(nameless, "process"))
                        : fmt::format("also {}", plural(nameless, "more process")));
  }
  return notes.empty() ? text : fmt::format("{} ({})", text, join(notes, "; "));
}

/// " (CUDA device 2)", where the headers of all lines say so; empty: they do not. That it is device 0
/// tells nothing: so it is where each process sees one GPU only.
std::string device_of(const Job& job, const Finding& finding) {
  std::set<int> devices;
  for (const Evidence& line : finding.evidence) devices.insert(parse_header(line.text).cuda_dev);
  return devices.size() == 1 && *devices.begin() > 0
             ? fmt::format(" ({}device {})", is_rccl(job) ? "" : "CUDA ", *devices.begin())
             : std::string();
}

/// "ranks 1-3 on trainbox", "process 24881 (CUDA device 2) on node2": who and where, in few words.
std::string subject_in_headline(const Job& job, const Finding& finding, const Parties& parties) {
  const std::string hosts = hosts_in_headline(job, finding.hosts);
  std::string who = ranks_in_headline(job, finding.ranks);
  if (who.empty()) {
    std::set<int64_t> pids;
    for (const Subject& party : parties) {
      if (party.pid >= 0) pids.insert(party.pid);
    }
    if (pids.size() == 1) who = fmt::format("process {}{}", *pids.begin(), device_of(job, finding));
    if (pids.size() > 1) who = plural(std::ssize(pids), "process");
  }
  if (who.empty() && hosts.empty()) who = local_rank_of(finding);
  if (who.empty()) {
    if (hosts.empty()) return "the program";
    return finding.hosts.size() == 1 ? "host " + hosts : hosts;
  }
  return hosts.empty() ? who : fmt::format("{} on {}", who, hosts);
}

/// Each line that the placeholder means, by a label or a kind.
void for_each_named(const MessagePart& part, const std::vector<Firing>& firings,
                    const std::function<void(const ReadRecord&)>& use) {
  for_each_hit(firings, [&](const Hit& hit) {
    for (const ReadRecord* read : hit.records) {
      const uint16_t kind = read->record().kind();
      const bool is_kind = kind != Record::kNoKind && all_kinds()[kind].name == part.text;
      if (is_kind || hit.label == part.text) use(*read);
    }
  });
}

std::string fact_values(const MessagePart& part, const Filling& filling) {
  std::vector<std::string> values;
  const bool wants_words = part.type == MessagePart::Type::FactWhat;
  for (const Firing& firing : filling.firings) {
    const FactValue* value = filling.view.fact_about(*part.fact, *firing.instance);
    if (value == nullptr || !value->known()) continue;
    values.push_back(wants_words ? value->what : fact_text(*value));
  }
  // A message may add clauses that only some logs give.
  return filling.listed(std::move(values), wants_words ? "" : "(unknown)");
}

std::string part_text(const MessagePart& part, const Filling& filling) {
  const auto& [view, firings, finding, parties, is_headline] = filling;
  const Job& job = view.job();
  std::vector<std::string> values;
  switch (part.type) {
    case MessagePart::Type::Text:
      return part.text;
    case MessagePart::Type::Subject:
      if (firings.front().instance->scope != Scope::RankPair) {
        return is_headline ? subject_in_headline(job, finding, parties)
                           : subject_text(finding, parties);
      }
      // "ranks 1 and 2, ranks 3 and 4"
      for (const Firing& firing : firings) values.push_back(name_of(job, *firing.instance));
      return filling.listed(std::move(values));
    case MessagePart::Type::Ranks:
      if (finding.ranks.empty()) return is_headline ? "some ranks" : "ranks that no line names";
      return is_headline ? ranks_in_headline(job, finding.ranks) : ranks_phrase(finding.ranks);
    case MessagePart::Type::Hosts:
      if (finding.hosts.empty()) return is_headline ? "a host" : "a host that no line names";
      return is_headline ? hosts_in_headline(job, finding.hosts) : filling.listed(finding.hosts);
    case MessagePart::Type::Communicator:
      for (const Firing& firing : firings) {
        const int communicator = firing.instance->communicator;
        if (communicator >= 0) values.push_back(job.communicators[communicator].id);
      }
      return filling.listed(std::move(values));
    case MessagePart::Type::Field:
      for_each_named(part, firings, [&](const ReadRecord& read) {
        values.push_back(field_text(job, read, part.field));
      });
      return filling.listed(std::move(values));
    case MessagePart::Type::Common:
    case MessagePart::Type::Alike:
      break;  // Of the words of a condition only.
    case MessagePart::Type::EachWhat:
      for_each_hit(firings, [&](const Hit& hit) {
        if (hit.value != nullptr && hit.label == part.text) values.push_back(hit.value->what);
      });
      return filling.listed(std::move(values), "");
    case MessagePart::Type::Fact:
    case MessagePart::Type::FactWhat:
      return fact_values(part, filling);
    case MessagePart::Type::Plural: {
      // The form for the number of different lines, with the number in the place of each #.
      std::set<SourceRef> lines;
      for_each_named(part, firings, [&](const ReadRecord& read) { lines.insert(read.where()); });
      std::string text;
      for (const char c : lines.size() == 1 ? part.one : part.many) {
        text += c == '#' ? std::to_string(lines.size()) : std::string(1, c);
      }
      return text;
    }
  }
  return {};
}

/// The text with its placeholders filled. Any bytes that the log holds may be in it.
std::string filled(const std::vector<MessagePart>& parts, const Filling& filling) {
  std::string text;
  for (const MessagePart& part : parts) {
    const std::string more = part_text(part, filling);
    // What a line says may end in the full stop of its own sentence.
    const bool is_stopped = more.starts_with('.') && text.ends_with('.') && !text.ends_with("..");
    text += more.substr(is_stopped ? 1 : 0);
  }
  text = without_unknown(std::move(text));
  text.erase(text.find_last_not_of(' ') + 1);  // A clause at the end may be empty.
  // Words of ours begin a sentence in upper case; names of hosts and files stay as they are.
  const MessagePart::Type first = parts.empty() ? MessagePart::Type::Text : parts.front().type;
  const bool is_ours = first == MessagePart::Type::Subject || first == MessagePart::Type::Ranks ||
                       first == MessagePart::Type::FactWhat;
  return is_ours ? capitalised(std::move(text)) : text;
}

/// The message, filled from the firings, the finding's ranks, hosts and subject, and `parties`, of
/// whom the subject is the first; and the headline.
void tell(const Rule& rule, JobView& view, const std::vector<Firing>& firings,
          const Parties& parties, Finding& finding) {
  Filling filling{view, firings, finding, parties};
  finding.message = filled(rule.message, filling);
  const auto beyond_first_part = [&](const std::string& sentence) {
    const std::string who =
        rule.message.empty() ? "" : without_unknown(part_text(rule.message.front(), filling));
    return sentence.substr(std::min(sentence.size(), who.size()));
  };
  const std::string whole = first_sentence(finding.message);
  const std::string whole_rest = beyond_first_part(whole);
  filling.is_headline = true;
  std::string sentence = first_sentence(filled(rule.headline, filling));
  // Of a rule that fires in several ways, a value in the headline may be of one of them.
  if (sentence.size() < 2) sentence = first_sentence(filled(rule.message, filling));
  finding.headline = fitted_headline(sentence);
  // Who and where is said of every finding, so that a headline may name them in fewer words.
  const bool is_told = beyond_first_part(sentence) == whole_rest;
  if (is_told && finding.headline.size() >= sentence.size())
    finding.told_by_headline = whole.size();
}

/// A line that may be shown: few of thousands are.
struct Shown {
  SourceRef where;
  Record record;  ///< Of a line; a fact holds its text.
  const Evidence* line = nullptr;
  size_t times = 1;  ///< So many instances show it.
};

/// What shows the finding, one list per condition, each in input order.
std::vector<std::vector<Shown>> lines_by_condition(const std::vector<Firing>& firings) {
  std::vector<std::vector<Shown>> lists;
  std::map<LinesAround, std::pair<size_t, size_t>> around;  // Where they begin, and their times.
  for (const Firing& firing : firings) {
    for (size_t i = 0; i < firing.hits.size(); ++i) {
      if (lists.size() <= i) lists.resize(i + 1);
      const Hit& hit = firing.hits[i];
      if (!hit.inside) {
        const auto [known, is_new] = around.try_emplace(lines_around(i, hit), lists[i].size(), 0);
        ++known->second.second;
        if (!is_new) continue;
      }
      for (const ReadRecord* read : hit.records) {
        lists[i].push_back({.where = read->where(), .record = read->record()});
      }
      if (hit.value == nullptr) continue;
      for (const Evidence& line : hit.value->evidence) {
        lists[i].push_back({.where = line.where, .line = &line});
      }
    }
  }
  for (const auto& [lines, told] : around) {
    const auto [condition, label, data, count] = lines;
    for (size_t i = 0; i < count; ++i) lists[condition][told.first + i].times = told.second;
  }
  for (std::vector<Shown>& list : lists) sort_unless_sorted(list, {}, &Shown::where);
  return lists;
}

/// Takes lines from the conditions in turn, so that each of them is shown before one is shown
/// whole.
void add_evidence(const std::vector<Firing>& firings, Finding& finding) {
  const auto lists = lines_by_condition(firings);
  std::vector<SourceRef> all;
  std::vector<std::pair<size_t, const Shown*>> turns;
  for (const auto& list : lists) {
    size_t turn = 0;
    for (const Shown& shown : list) {
      all.push_back(shown.where);
      turns.emplace_back(turn, &shown);
      turn += shown.times;
    }
  }
  sort_and_drop_repeats(all);
  std::ranges::stable_sort(turns, {}, [](const auto& turn) { return turn.first; });
  std::set<SourceRef> taken;
  for (const auto& [turn, shown] : turns) {
    if (taken.size() == Finding::kMaxEvidence) break;
    if (!taken.insert(shown->where).second) continue;
    finding.evidence.push_back(shown->line != nullptr ? *shown->line : evidence_of(shown->record));
  }
  std::ranges::sort(finding.evidence, {}, &Evidence::where);
  finding.evidence_omitted = all.size() - finding.evidence.size();
  // A finding that rests on other findings alone is shown by what shows those.
  for_each_hit(firings, [&](const Hit& hit) {
    if (hit.finding == nullptr || !finding.evidence.empty()) return;
    finding.evidence = hit.finding->evidence;
    finding.evidence_omitted = hit.finding->evidence_omitted;
  });
}

// What to look at, with the values that the lines have in the places of words in upper case.
//
//   nc -zv IP PORT                    Connect to 10.4.4.1<40123> failed  →  nc -zv 10.4.4.1 40123
//   py-spy dump --pid PID on that rank     it has one process, pid 4177  →  py-spy dump --pid 4177 …

/// Such a word, and the field of lines that holds its value.
struct ValueWord {
  std::string_view word;
  std::string_view field;
};
constexpr ValueWord kValueWords[] = {
    {"IP", "address"},          {"ADDRESS", "address"}, {"PORT", "address"},
    {"PORT", "port"},           {"HOST", "host"},       {"DEVICE", "device"},
    {"INTERFACE", "interface"}, {"FILE", "path"},       {"NAME", "host"},
};

/// The part of "10.4.4.1<40123>" that the word means; all of any other text.
std::string_view part_of_address(std::string_view word, std::string_view value) {
  const size_t open = value.find('<');
  if (open == value.npos || !value.ends_with('>')) return word == "PORT" ? "" : value;
  return word == "PORT" ? value.substr(open + 1, value.size() - open - 2) : value.substr(0, open);
}

/// The one value that the lines have; empty: none, several, or one that a shell would take apart.
std::string value_of(const ValueWord& word, const std::vector<Firing>& firings) {
  std::set<std::string> values;
  for_each_hit(firings, [&](const Hit& hit) {
    for (const ReadRecord* read : hit.records) {
      const Message message = read->message();
      if (message.kind == nullptr) continue;
      std::string_view value = message.field(word.field);
      if (word.field == "address") value = part_of_address(word.word, value);
      if (!value.empty()) values.emplace(value);
    }
  });
  const auto is_plain = [](char c) {
    return is_word(c) || c == '-' || c == '.' || c == ':' || c == '/';
  };
  const bool is_one = values.size() == 1 && std::ranges::all_of(*values.begin(), is_plain);
  return is_one ? *values.begin() : std::string();
}

/// Puts `value` in the place of every `word` that stands as a word of its own.
void replace_word(std::string& text, std::string_view word, std::string_view value) {
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    const bool is_whole =
        (at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]));
    if (is_whole) text.replace(at, word.size(), value);
  }
}

void fill_commands(const std::vector<Firing>& firings, const Parties& parties, Finding& finding) {
  for (std::string& text : finding.check) {
    for (const ValueWord& word : kValueWords) {
      if (text.find(word.word) == text.npos) continue;
      const std::string value = value_of(word, firings);
      if (!value.empty()) replace_word(text, word.word, value);
    }
    // Others are asked for where the text does not say that it is the one named.
    const bool is_of_one =
        text.find("that rank") != text.npos || text.find("rank named") != text.npos;
    if (is_of_one && parties.size() == 1 && parties.front().pid >= 0) {
      replace_word(text, "PID", std::to_string(parties.front().pid));
    }
  }
}

void add_parties(const Parties& parties, Finding& finding) {
  std::vector<std::string_view> hosts;
  for (const Subject& party : parties) {
    const bool is_new = hosts.empty() || hosts.back() != party.host;
    if (is_new && !party.host.empty()) hosts.push_back(party.host);
    if (party.rank >= 0) finding.ranks.push_back(party.rank);
  }
  sort_and_drop_repeats(hosts);
  finding.hosts.assign(hosts.begin(), hosts.end());
  sort_and_drop_repeats(finding.ranks);
  if (parties.empty()) return;
  finding.subject = parties.front();
}

/// Id of the instance's communicator, else of the one that a fact names; empty: none.
std::string communicator_of(const Job& job, const std::vector<Firing>& firings) {
  const int communicator = firings.front().instance->communicator;
  if (communicator >= 0) return job.communicators[communicator].id;
  std::string named;
  for_each_hit(firings, [&](const Hit& hit) {
    if (hit.value != nullptr && named.empty()) named = hit.value->communicator;
  });
  return named;
}

}  // namespace

Finding begin_finding(const Rule& rule) {
  return {.id = rule.id,
          .severity = rule.severity,
          .confidence = rule.confidence,
          .role = rule.role,
          .title = rule.title,
          .is_harmless = rule.is_harmless,
          .tells_end = rule.tells_end,
          .why = rule.why,
          .check = rule.check,
          .fix = rule.fix,
          .do_not = rule.do_not,
          .references = rule.references};
}

Finding build_finding(const Rule& rule, JobView& view, const std::vector<Firing>& firings) {
  Finding finding = begin_finding(rule);
  finding.explains = rule.explains;
  finding.explains_same_ranks = rule.explains_same_ranks;
  finding.witness = rule.witness;
  if (is_rccl(view.job())) {
    for (std::vector<std::string>* texts : {&finding.check, &finding.fix, &finding.do_not})
      use_amd_words(*texts);
  }
  const Parties parties = blamed_parties(rule, view.job(), firings);
  add_parties(parties, finding);
  finding.subject.communicator = communicator_of(view.job(), firings);
  // A fact may rest on what no line says.
  for_each_hit(firings, [&](const Hit& hit) {
    if (hit.value == nullptr || !hit.value->inferred) return;
    finding.confidence =
        rule.confidence == Confidence::Certain ? Confidence::Likely : Confidence::Possible;
  });
  fill_commands(firings, parties, finding);
  add_evidence(firings, finding);
  tell(rule, view, firings, parties, finding);
  return finding;
}

}  // namespace ncclog

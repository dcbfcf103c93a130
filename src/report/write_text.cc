#include "report/write_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>

#include "base/text.h"
#include "rules/verdict.h"

namespace ncclog {
namespace {

/// How much is told about a finding: all for the verdict's own, less for what stands beside it.
struct Detail {
  size_t evidence;
  size_t items;  ///< Of check, fix and do_not each.
};
constexpr Detail kFull = {4, 6};
constexpr Detail kShort = {1, 2};

constexpr int kMargin = 10;  ///< Columns of the labels on the left.

std::string label(std::string_view name, const TextStyle& style) {
  return paint(pad(fmt::format("  {}", name), kMargin), Tone::Quiet, style);
}

/// Text that wraps behind a label. The label is painted after measuring: codes have no width.
std::string labelled(std::string_view name, std::string_view text, const TextStyle& style) {
  const std::string plain = pad(fmt::format("  {}", name), kMargin);
  std::string out = hang(plain, printable(text), style);
  return out.replace(0, plain.size(), label(name, style));
}

std::string plural(uint64_t n, std::string_view one) {
  return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s");
}

Tone tone_of(VerdictStatus status) {
  switch (status) {
    case VerdictStatus::Problem:
      return Tone::Error;
    case VerdictStatus::Suspicious:
      return Tone::Warning;
    case VerdictStatus::Clean:
      return Tone::Good;
    case VerdictStatus::CannotJudge:
      return Tone::Strong;
  }
  return Tone::Strong;
}

std::string_view word_of(VerdictStatus status) {
  switch (status) {
    case VerdictStatus::Problem:
      return "PROBLEM";
    case VerdictStatus::Suspicious:
      return "SUSPICIOUS";
    case VerdictStatus::Clean:
      return "CLEAN";
    case VerdictStatus::CannotJudge:
      return "CANNOT JUDGE";
  }
  return "CANNOT JUDGE";
}

Tone tone_of(Severity severity) {
  switch (severity) {
    case Severity::Error:
      return Tone::Error;
    case Severity::Warning:
      return Tone::Warning;
    case Severity::Info:
      return Tone::Quiet;
  }
  return Tone::Plain;
}

/// "ranks 0-3 on node-a, node-b"; empty if the finding names nobody.
std::string who(const Finding& finding) {
  constexpr size_t kMaxHosts = 6;
  std::string out;
  if (!finding.ranks.empty()) {
    out =
        fmt::format("rank{} {}", finding.ranks.size() == 1 ? "" : "s", ranges_text(finding.ranks));
  }
  if (finding.hosts.empty()) return out;
  const std::span<const std::string> hosts(finding.hosts);
  out +=
      (out.empty() ? "host " : " on ") + join(hosts.first(std::min(hosts.size(), kMaxHosts)), ", ");
  if (hosts.size() > kMaxHosts) out += fmt::format(" and {} more", hosts.size() - kMaxHosts);
  return out;
}

std::string evidence_place(const Job& job, const Evidence& evidence) {
  const FileLine place = file_line(job, evidence.where);
  return printable(fmt::format("{}:{}", place.path, place.line));
}

/// A log line in at most two lines of the screen. Its end is where the error stands, so of a longer
/// one the header goes first.
std::vector<std::string> evidence_text(std::string_view line, int width) {
  constexpr size_t kMaxLines = 2;
  std::vector<std::string> lines = wrap(line, width);
  const size_t anchor = line.find(" NCCL ");
  if (lines.size() > kMaxLines && anchor != line.npos) {
    lines = wrap("…" + std::string(line.substr(anchor)), width);
  }
  if (lines.size() > kMaxLines) {
    lines.resize(kMaxLines);
    lines.back() = clip(lines.back(), width - 2) + " …";
  }
  for (std::string& text : lines) text = clip(text, width);
  return lines;
}

/// Place and text on one line if both fit, else the text below.
std::string evidence_lines(std::string_view name, const Job& job, const Evidence& evidence,
                           const TextStyle& style) {
  const int room = std::max(style.width, TextStyle::kMinWidth) - kMargin;
  const std::string place = evidence_place(job, evidence);
  const std::string text = printable(trim(evidence.text));
  const std::string lead = label(name, style) + paint(place, Tone::Strong, style);
  if (display_width(place) + 2 + display_width(text) <= room) return lead + "  " + text + "\n";
  std::string out = lead + "\n";
  for (const std::string& line : evidence_text(text, room)) {
    out += std::string(kMargin, ' ') + line + "\n";
  }
  return out;
}

/// What a line is like, apart from numbers, names of files and whatever else a digit is part of.
std::string shape_of(std::string_view line) {
  std::string shape;
  for (const std::string_view word : split_blanks(line)) {
    const bool varies =
        word.find('/') != word.npos || std::any_of(word.begin(), word.end(), is_digit);
    shape += varies ? std::string_view("#") : word;
    shape += ' ';
  }
  return shape;
}

/// The lines to show: of those that many ranks print alike, the first.
std::vector<const Evidence*> telling_evidence(const Finding& finding, size_t most) {
  std::vector<const Evidence*> shown;
  std::set<std::string> shapes;
  for (const Evidence& evidence : finding.evidence) {
    if (shown.size() < most && shapes.insert(shape_of(evidence.text)).second) {
      shown.push_back(&evidence);
    }
  }
  return shown;
}

std::string evidence_block(const Job& job, const Finding& finding, const Detail& detail,
                           const TextStyle& style) {
  std::string out;
  const std::vector<const Evidence*> shown = telling_evidence(finding, detail.evidence);
  for (size_t i = 0; i < shown.size(); ++i) {
    out += evidence_lines(i == 0 ? "seen" : "", job, *shown[i], style);
  }
  const uint64_t more = finding.evidence.size() - shown.size() + finding.evidence_omitted;
  if (more > 0) out += labelled("", fmt::format("… and {}", plural(more, "more line")), style);
  return out;
}

/// A command is shown as it is typed: not wrapped. Prose starts with a capital or ends a sentence.
bool is_command(std::string_view item) {
  return !item.empty() && !(item[0] >= 'A' && item[0] <= 'Z') && !item.ends_with('.');
}

std::string item_line(std::string_view name, const std::string& item, const TextStyle& style) {
  if (is_command(item)) return label(name, style) + printable(item) + "\n";
  return labelled(name, item, style);
}

std::string items_block(std::string_view name, const std::vector<std::string>& items, size_t most,
                        const TextStyle& style) {
  std::string out;
  for (size_t i = 0; i < std::min(items.size(), most); ++i) {
    out += item_line(i == 0 ? name : "", items[i], style);
  }
  return out;
}

/// Everything below a finding's first line.
std::string body(const Job& job, const Finding& finding, const Detail& detail,
                 const TextStyle& style) {
  return evidence_block(job, finding, detail, style) +
         items_block("check", finding.check, detail.items, style) +
         items_block("fix", finding.fix, detail.items, style) +
         items_block("do not", finding.do_not, detail.items, style);
}

const Finding* find_finding(const Report& report, std::string_view id) {
  for (const Finding& finding : report.diagnosis.findings) {
    if (finding.id == id) return &finding;
  }
  return nullptr;
}

/// Present findings that follow from `cause`, directly or not, in report order.
std::vector<const Finding*> consequences(const Report& report, const Finding& cause) {
  std::set<std::string> ids = {cause.id};
  std::vector<std::string> open = cause.explains;
  while (!open.empty()) {
    const std::string id = open.back();
    open.pop_back();
    const Finding* finding = find_finding(report, id);
    if (finding == nullptr || !ids.insert(id).second) continue;
    open.insert(open.end(), finding->explains.begin(), finding->explains.end());
  }
  std::vector<const Finding*> list;
  for (const Finding& finding : report.diagnosis.findings) {
    if (finding.id != cause.id && ids.contains(finding.id)) list.push_back(&finding);
  }
  return list;
}

std::string named_with_ranks(const Finding& finding) {
  if (finding.ranks.empty()) return finding.id;
  return fmt::format("{} ({} {})", finding.id, finding.ranks.size() == 1 ? "rank" : "ranks",
                     ranges_text(finding.ranks));
}

std::string consequences_line(const std::vector<const Finding*>& list, const TextStyle& style) {
  if (list.empty()) return {};
  std::vector<std::string> names;
  for (const Finding* finding : list) names.push_back(named_with_ranks(*finding));
  const bool one = list.size() == 1;
  return labelled("",
                  fmt::format("{} {} from this: {}", plural(list.size(), "other finding"),
                              one ? "follows" : "follow", join(names, ", ")),
                  style);
}

std::string verdict_block(const Report& report, const TextStyle& style) {
  const Verdict& verdict = report.diagnosis.verdict;
  const std::string lead = pad(word_of(verdict.status), kMargin - 2) + "  ";
  std::string out = hang(lead, printable(verdict.headline), style);
  return out.replace(0, lead.size(), paint(lead, tone_of(verdict.status), style));
}

/// "certain, error; ranks 1,3 on node-a": how sure, how bad, who.
std::string standing(const Finding& finding) {
  std::string out =
      fmt::format("{} {}, {}", to_string(finding.confidence), to_string(finding.role), finding.id);
  const std::string subject = who(finding);
  return subject.empty() ? out : out + "; " + subject;
}

/// What the message says beyond the headline, which begins like it.
std::string_view beyond(std::string_view headline, std::string_view message) {
  const auto differs =
      std::mismatch(headline.begin(), headline.end(), message.begin(), message.end());
  const auto same = static_cast<size_t>(differs.second - message.begin());
  const std::string_view rest = message.substr(same);
  if (same == 0 || !(rest.empty() || rest[0] == '.' || message[same - 1] == '.')) return message;
  return trim(rest.substr(rest.starts_with('.') ? 1 : 0));
}

/// The finding that the verdict names, with all that is known about it.
std::string main_block(const Report& report, const Finding& finding, const TextStyle& style) {
  std::string out = labelled("", standing(finding), style) + "\n";
  const std::string_view rest = beyond(report.diagnosis.verdict.headline, finding.message);
  if (!rest.empty()) out += labelled("what", rest, style);
  if (!finding.why.empty()) out += labelled("why", finding.why, style);
  return out + body(report.job, finding, kFull, style) +
         consequences_line(consequences(report, finding), style);
}

std::string side_block(const Report& report, const Finding& finding, const TextStyle& style) {
  const std::string lead = pad(to_string(finding.severity), kMargin);
  std::string out = hang(lead, printable(finding.message), style);
  out.replace(0, lead.size(), paint(lead, tone_of(finding.severity), style));
  return "\n" + out + labelled("", standing(finding), style) +
         body(report.job, finding, kShort, style) +
         consequences_line(consequences(report, finding), style);
}

std::string bullet(std::string_view text, const TextStyle& style) {
  return hang("  - ", printable(text), style);
}

std::string info_line(const Finding& finding, const TextStyle& style) {
  return bullet(fmt::format("{} [{}]", first_sentence(finding.message), finding.id), style);
}

/// Findings that are neither the verdict's own nor follow from another one.
std::vector<const Finding*> independent_findings(const Report& report, const Finding* main) {
  std::set<std::string> explained;
  for (const Finding& finding : report.diagnosis.findings) {
    for (const Finding* follower : consequences(report, finding)) explained.insert(follower->id);
  }
  std::vector<const Finding*> list;
  for (const Finding& finding : report.diagnosis.findings) {
    if (&finding != main && !explained.contains(finding.id)) list.push_back(&finding);
  }
  return list;
}

std::string side_findings(const Report& report, const Finding* main, const TextStyle& style) {
  std::string loud;
  std::string quiet;
  for (const Finding* finding : independent_findings(report, main)) {
    if (finding->severity == Severity::Info) {
      quiet += info_line(*finding, style);
    } else {
      loud += side_block(report, *finding, style);
    }
  }
  if (!quiet.empty()) quiet = "\n" + paint("Worth knowing", Tone::Strong, style) + "\n" + quiet;
  return loud + quiet;
}

/// Several questions often have the same remedy: it is said once, below the last of them.
std::string not_judged_block(const std::vector<NotJudged>& gaps, const TextStyle& style) {
  if (gaps.empty()) return {};
  std::string out = "\n" + paint("Not judged", Tone::Strong, style) + "\n";
  for (size_t i = 0; i < gaps.size(); ++i) {
    out += bullet(fmt::format("{} {}", gaps[i].question, gaps[i].reason), style);
    const bool is_last =
        i + 1 == gaps.size() || gaps[i + 1].how_to_capture != gaps[i].how_to_capture;
    if (is_last && !gaps[i].how_to_capture.empty()) {
      out += hang("    ", "To capture it: " + printable(gaps[i].how_to_capture), style);
    }
  }
  return out;
}

std::string inputs_line(const Job& job) {
  std::string out = fmt::format("Read {} from {}", plural(job.losses.lines, "line"),
                                plural(job.inputs.size(), "file"));
  if (job.nranks) out += fmt::format(": {}", plural(static_cast<uint64_t>(*job.nranks), "rank"));
  if (job.nhosts > 0) {
    out += fmt::format("{} on {}", job.nranks ? "" : ": processes",
                       plural(static_cast<uint64_t>(job.nhosts), "host"));
  }
  if (!job.nccl_versions.empty()) out += ", NCCL " + join(job.nccl_versions, ", ");
  if (!job.network.name.empty()) out += ", network " + job.network.name;
  return out + ".";
}

/// Inputs of one fate, the first ones by name: " Cut: logs/a.gz, logs/b.gz and 6 more: The …".
std::string odd_inputs(const Job& job, InputStatus status, std::string_view word,
                       size_t most_names) {
  std::vector<std::string> names;
  std::string note;
  size_t more = 0;
  for (const JobInput& input : job.inputs) {
    if (input.status != status) continue;
    if (names.size() < most_names) {
      names.push_back(input.path);
    } else {
      ++more;
    }
    if (note.empty()) note = input.note;
  }
  if (names.empty()) return {};
  std::string out = fmt::format(" {} {}", word, join(names, ", "));
  if (more > 0) out += fmt::format(" and {} more", more);
  return note.empty() ? out + "." : fmt::format("{} ({})", out, note);
}

std::string lost_rows(const LossTable& losses) {
  std::string out;
  for (size_t i = 0; i < losses.counts.size(); ++i) {
    const LossRow& row = loss_rows()[i];
    const bool is_input = row.name.starts_with("input_");
    if (losses.counts[i] == 0 || is_input || row.severity == LossSeverity::Info) continue;
    out += fmt::format(" {} ({}×) {}", row.meaning, losses.counts[i], row.advice);
  }
  return out;
}

std::string closing_block(const Job& job, const TextStyle& style) {
  const std::string text =
      inputs_line(job) + odd_inputs(job, InputStatus::Unreadable, "Unreadable:", 3) +
      odd_inputs(job, InputStatus::Cut, "Cut:", 3) +
      odd_inputs(job, InputStatus::Skipped, "Skipped:", 1) + lost_rows(job.losses);
  return "\n" + hang("", printable(text), style);
}

}  // namespace

std::string write_text(const Report& report, const TextStyle& style) {
  const Diagnosis& diagnosis = report.diagnosis;
  const Finding* main = find_finding(report, diagnosis.verdict.finding);
  std::string out = verdict_block(report, style);
  if (main != nullptr) out += main_block(report, *main, style);
  return out + side_findings(report, main, style) + not_judged_block(diagnosis.not_judged, style) +
         closing_block(report.job, style);
}

}  // namespace ncclog

#include "report/evidence_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "report/text_parts.h"

namespace ncclog {
namespace {

std::string evidence_place(const Job& job, const Evidence& evidence) {
  const FileLine place = file_line(job, evidence.where);
  if (evidence.where.line == 0) return printable(place.path);
  return printable(fmt::format("{}:{}", place.path, place.line));
}

/// The line from where its message begins, as NCCL and PyTorch print it; all of it elsewhere.
std::string_view without_header(std::string_view line) {
  for (const std::string_view level : {" NCCL WARN ", " NCCL INFO "}) {
    const size_t at = line.find(level);
    if (at != line.npos) return line.substr(at + 1);
  }
  const size_t source = line.find(".cpp:");
  const size_t end = source == line.npos ? line.npos : line.find("] ", source);
  return end == line.npos ? line : line.substr(end + 2);
}

/// A log line in at most two lines of the screen. Its end is where the error stands, so of a longer
/// one the header goes first.
std::vector<std::string> fitted_text(std::string_view line, int width) {
  constexpr size_t kMaxLines = 2;
  std::vector<std::string> lines = wrap(line, width);
  const std::string_view message = without_header(line);
  if (lines.size() > kMaxLines && message.size() < line.size()) {
    lines = wrap("… " + std::string(message), width);
  }
  if (lines.size() > kMaxLines) {
    lines[kMaxLines - 1] += " " + lines[kMaxLines];
    lines.resize(kMaxLines);
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
  if (text.empty()) return lead + "\n";
  if (display_width(place) + 2 + display_width(text) <= room) return lead + "  " + text + "\n";
  std::string out = lead + "\n";
  for (const std::string& line : fitted_text(text, room)) {
    out += std::string(kMargin, ' ') + line + "\n";
  }
  return out;
}

/// NCCL_P2P_DISABLE, ALLREDUCE: a name means what it says, digits and all.
bool is_name(std::string_view word) {
  return std::all_of(word.begin(), word.end(),
                     [](char c) { return is_digit(c) || c == '_' || (c >= 'A' && c <= 'Z'); }) &&
         !is_digit(word.front());
}

/// What a line is like, apart from numbers, names of files and whatever else a digit is part of.
std::string shape_of(std::string_view line) {
  std::string shape;
  for (const std::string_view word : split_blanks(line)) {
    const bool varies = word.find('/') != word.npos ||
                        (std::any_of(word.begin(), word.end(), is_digit) && !is_name(word));
    shape += varies ? std::string_view("#") : word;
    shape += ' ';
  }
  return shape;
}

/// What else than the first of its like is worth showing. A dump has no line that ranks print
/// alike: what is said of it is said because it differs.
std::string likeness_of(const Evidence& evidence) {
  return evidence.where.line == 0 ? "dump: " + evidence.text : shape_of(evidence.text);
}

/// True for NCCL's lines of the one process that the finding is about.
bool is_of_subject(const Finding& finding, const Evidence& evidence) {
  if (finding.ranks.size() != 1 || finding.subject.pid < 0) return false;
  const std::string pid = fmt::format(":{}:", finding.subject.pid);
  return evidence.text.find(pid) != std::string::npos;
}

}  // namespace

std::vector<const Evidence*> telling_evidence(const Finding& finding, size_t most) {
  std::vector<const Evidence*> shown;
  std::set<std::string> shapes;
  for (const bool has_text : {true, false}) {
    for (const Evidence& evidence : finding.evidence) {
      if (shown.size() == most || has_text == evidence.text.empty()) continue;
      const std::string whose = is_of_subject(finding, evidence) ? "its own: " : "";
      if (shapes.insert(whose + likeness_of(evidence)).second) shown.push_back(&evidence);
    }
  }
  return shown;
}

std::string evidence_text(const Job& job, const Finding& finding, size_t most,
                          const TextStyle& style) {
  std::string out;
  const std::vector<const Evidence*> shown = telling_evidence(finding, most);
  for (size_t i = 0; i < shown.size(); ++i) {
    out += evidence_lines(i == 0 ? "seen" : "", job, *shown[i], style);
  }
  const uint64_t more = finding.evidence.size() - shown.size() + finding.evidence_omitted;
  if (more > 0) out += labelled("", fmt::format("… and {}", plural(more, "more line")), style);
  return out;
}

}  // namespace ncclog

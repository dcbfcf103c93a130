#include "report/markdown_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "report/evidence_text.h"
#include "report/finding_words.h"
#include "report/markdown_section.h"
#include "report/markdown_text.h"
#include "report/text_parts.h"
#include "rules/verdict.h"

namespace ncclog {
namespace {

/// How much is told about a finding: all for the verdict's own, less for what stands beside it.
struct Detail {
  size_t evidence;
  size_t items;  ///< Of check, fix and do_not each.
};
constexpr Detail kFull = {4, 6};
constexpr Detail kShort = {2, 3};

/// Bytes of a text before it is escaped.
constexpr size_t kMaxMessage = 1200;
constexpr size_t kMaxItem = 400;
constexpr size_t kMaxLine = 500;
constexpr size_t kMaxPath = 200;
constexpr size_t kMaxWho = 300;

std::string heading_of(const Finding& finding) {
  std::string severity(to_string(finding.severity));
  severity[0] = static_cast<char>(severity[0] - ('a' - 'A'));
  return fmt::format("### {}: {}\n\n", severity, markdown_text(shortened(finding.title, kMaxItem)));
}

/// "certain cause · `shm-no-space` · rank 1 on node-a"
std::string standing(const Finding& finding) {
  std::string out = fmt::format("{} {} · {}", to_string(finding.confidence),
                                to_string(finding.role), markdown_code(finding.id));
  const std::string whom = markdown_text(shortened(subject_words(finding), kMaxWho));
  return whom.empty() ? out + "\n\n" : out + " · " + whom + "\n\n";
}

std::string paragraph(std::string_view name, std::string_view text) {
  if (text.empty()) return {};
  return fmt::format("{}{}\n\n", name, markdown_text(shortened(text, kMaxMessage)));
}

/// "logs/a.txt:12", and the line below.
std::string evidence_block(const Job& job, const Finding& finding, size_t most) {
  std::vector<std::string> lines;
  const std::vector<const Evidence*> shown = telling_evidence(finding, most);
  for (const Evidence* evidence : shown) {
    const FileLine place = file_line(job, evidence->where);
    const std::string path = shortened(place.path, kMaxPath);
    lines.push_back(evidence->where.line == 0 ? path : fmt::format("{}:{}", path, place.line));
    if (!evidence->text.empty()) {
      lines.push_back("  " + shortened(trim(evidence->text), kMaxLine));
    }
  }
  if (lines.empty()) return {};
  const uint64_t more = finding.evidence.size() - shown.size() + finding.evidence_omitted;
  const std::string others = more == 0 ? std::string()
                                       : fmt::format(", and {} like {}", plural(more, "more line"),
                                                     shown.size() == 1 ? "it" : "these");
  return fmt::format("**Seen**{}\n\n{}\n", others, markdown_fence(lines, "text"));
}

std::string item_text(std::string_view item) {
  const std::string text = shortened(item, kMaxItem);
  const bool is_prose =
      !is_command(item) || item.find('`') != item.npos || item.find(", ") != item.npos;
  return is_prose ? markdown_text(text) : markdown_code(text);
}

std::string items_block(std::string_view name, const std::vector<std::string>& items, size_t most) {
  if (items.empty()) return {};
  std::string out = fmt::format("**{}**\n\n", name);
  for (size_t i = 0; i < std::min(items.size(), most); ++i) {
    out += "- " + item_text(items[i]) + "\n";
  }
  return out + "\n";
}

/// True for an address that can stand in Markdown as it is.
bool is_plain_link(std::string_view address) {
  constexpr std::string_view kPunctuation = "-._/#?=%:+,~";
  return address.starts_with("https://") && address.size() < kMaxPath &&
         std::all_of(address.begin(), address.end(), [&](char c) {
           return is_word(c) || kPunctuation.find(c) != kPunctuation.npos;
         });
}

std::string references_block(const std::vector<std::string>& references) {
  std::string out;
  for (const std::string& reference : references) {
    if (!is_plain_link(reference)) continue;
    out += (out.empty() ? "See <" : ", <") + reference + ">";
  }
  return out.empty() ? out : out + "\n\n";
}

/// The parts of a finding's section, most important first.
std::vector<std::string> parts_of(const Report& report, const Finding& finding,
                                  const Detail& detail) {
  const bool is_verdicts = finding.id == report.diagnosis.verdict.finding;
  const std::string_view message =
      is_verdicts ? beyond_headline(report.diagnosis.verdict.headline, finding.message)
                  : std::string_view(finding.message);
  return {heading_of(finding),
          paragraph("", message),
          standing(finding),
          evidence_block(report.job, finding, detail.evidence),
          items_block("Check", finding.check, detail.items),
          items_block("Change", finding.fix, detail.items),
          items_block("Do not", finding.do_not, detail.items),
          paragraph("Why: ", finding.why),
          references_block(finding.references)};
}

std::string section_of(const Report& report, const Finding& finding, const Detail& detail,
                       size_t bytes) {
  std::string out;
  for (const std::string& part : parts_of(report, finding, detail)) {
    if (out.size() + part.size() <= bytes) out += part;
  }
  return out;
}

/// "- warning `peer-closed` (rank 4): Rank 4 lost a connection."
std::string line_of(const Finding& finding) {
  const std::string whom = markdown_text(shortened(subject_words(finding), kMaxPath));
  return fmt::format("- {} {}{}: {}\n", to_string(finding.severity), markdown_code(finding.id),
                     whom.empty() ? whom : " (" + whom + ")",
                     markdown_text(shortened(first_sentence(finding.message), kMaxItem)));
}

std::string collapsed_findings(std::string_view title, const std::vector<const Finding*>& findings,
                               size_t bytes) {
  if (findings.empty()) return {};
  std::vector<std::string> lines;
  for (const Finding* finding : findings) lines.push_back(line_of(*finding));
  return collapsed(fmt::format("{} ({})", title, findings.size()), fitted(lines, bytes, "finding"));
}

/// Findings by how they are shown.
struct Sorted {
  std::vector<const Finding*> loud;       ///< Errors and warnings that follow from no other.
  std::vector<const Finding*> following;  ///< What follows from others.
  std::vector<const Finding*> quiet;      ///< Worth knowing.
};

Sorted sorted_findings(const Report& report, const Finding* main) {
  Sorted sorted;
  if (main != nullptr) sorted.loud.push_back(main);
  const auto independent = independent_findings(report, main);
  for (const Finding* finding : independent) {
    (finding->severity == Severity::Info ? sorted.quiet : sorted.loud).push_back(finding);
  }
  for (const Finding& finding : report.diagnosis.findings) {
    const auto at = std::find(independent.begin(), independent.end(), &finding);
    if (at == independent.end() && &finding != main) sorted.following.push_back(&finding);
  }
  return sorted;
}

}  // namespace

std::string markdown_findings(const Report& report, size_t bytes) {
  const Finding* main = find_finding(report, report.diagnosis.verdict.finding);
  const Sorted sorted = sorted_findings(report, main);
  const size_t share = bytes / 8;  // Of the two lists each; what is left is for sections.
  std::vector<std::string> sections;
  for (const Finding* finding : sorted.loud) {
    const bool is_main = finding == main;
    sections.push_back(
        section_of(report, *finding, is_main ? kFull : kShort, is_main ? bytes / 3 : bytes / 4));
  }
  std::string out = fitted(sections, bytes - 2 * share, "finding");
  if (!out.empty() && !out.ends_with("\n\n")) out += "\n";
  return out + collapsed_findings("Findings that follow from these", sorted.following, share) +
         collapsed_findings("Worth knowing", sorted.quiet, share);
}

}  // namespace ncclog

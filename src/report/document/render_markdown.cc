// A document as GitHub renders it.
//
//   <!-- ncclog report -->
//   ## PROBLEM
//
//   **Rank 1 on node-a could not extend a segment: `/dev/shm` is full.**
//
//   ### Finding
//   …
//   <details>
//   <summary>Settings that NCCL reports</summary>
//
// It has at most kMaxMarkdown bytes, whatever the document: where not all fits, sections get equal
// shares of the room, those that fold a smaller one, and what a section does not need goes to the
// others. What is left out is counted. Text from logs is inert: it becomes no HTML, link, mention or
// reference (report/markdown/markdown_text.h).

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/document/document.h"
#include "report/markdown/markdown_text.h"

namespace ncclog {
namespace {

/// Bytes of a text before it is escaped.
constexpr size_t kMaxText = 1'200;
constexpr size_t kMaxLine = 500;
constexpr size_t kMaxPath = 200;

/// More room than any section needs.
constexpr size_t kNoLimit = SIZE_MAX / 2;

std::string prose(std::string_view text, size_t most = kMaxText) {
  return markdown_text(shortened(text, most));
}

/// "**Do not**" for "do not".
std::string bold_label(std::string label) {
  if (label.empty()) return {};
  if (label[0] >= 'a' && label[0] <= 'z') label[0] = static_cast<char>(label[0] - ('a' - 'A'));
  return "**" + label + "**";
}

/// True for an address that can stand in Markdown as it is.
bool is_plain_link(std::string_view address) {
  constexpr std::string_view kPunctuation = "-._/#?=%:+,~";
  return address.starts_with("https://") && address.size() < kMaxPath &&
         std::all_of(address.begin(), address.end(), [&](char c) {
           return is_word(c) || kPunctuation.find(c) != kPunctuation.npos;
         });
}

std::string item_text(std::string_view item) {
  if (is_plain_link(item)) return fmt::format("<{}>", item);
  const bool is_prose =
      !is_command(item) || item.find('`') != item.npos || item.find(", ") != item.npos;
  return is_prose ? prose(item, kMaxLine) : markdown_code(shortened(item, kMaxLine));
}

// Each block within `room` bytes and what it takes to say what is left out. All but points end with
// an empty line.

/// "error, certain cause, shm-no-space; rank 1 on node-a" and its message; else a point of a list.
std::string text_of(const Statement& statement, size_t) {
  if (is_title(statement)) return "#### " + prose(statement.word, kMaxLine) + "\n\n";
  if (!statement.main) {
    const Quote& about = statement.about;
    std::string out = "-";
    if (!statement.word.empty()) out += " " + bold_label(statement.word);
    for (const std::string& text : {about.place, about.text}) {
      if (!text.empty()) out += " " + markdown_code(shortened(text, kMaxLine));
    }
    out += " " + prose(statement.text, kMaxLine);
    if (!statement.hint.empty()) out += " → " + prose(statement.hint, kMaxLine);
    return out + "\n";
  }
  std::string out = prose(statement.word + ", " + statement.standing) + "\n\n";
  if (!statement.text.empty()) out += prose(statement.text) + "\n\n";
  return out;
}

std::string text_of(const Paragraph& paragraph, size_t) { return prose(paragraph.text) + "\n\n"; }

std::string text_of(const Labelled& block, size_t) {
  const std::string label = bold_label(block.label);
  return label + (label.empty() ? "" : " ") + prose(block.text) + "\n\n";
}

std::string text_of(const Items& list, size_t room) {
  std::vector<std::string> points;
  for (const std::string& item : list.items) points.push_back("- " + item_text(item) + "\n");
  const std::string label = bold_label(list.label);
  return label + (label.empty() ? "" : "\n\n") + fitted(points, room) + "\n";
}

std::string text_of(const Code& code, size_t) {
  return code.lines.empty() ? "" : markdown_fence(code.lines, "sh") + "\n";
}

/// "logs/a.txt:12", and the line below.
std::string text_of(const Quotes& quotes, size_t) {
  std::vector<std::string> lines;
  for (const Quote& quote : quotes.quotes) {
    lines.push_back(shortened(quote.place, kMaxPath));
    const std::string_view text = trim(quote.text);
    if (!text.empty()) lines.push_back("  " + shortened(text, kMaxLine));
  }
  const uint64_t more = quotes.more + quotes.rest.size();
  const std::string others = more == 0 ? "" : fmt::format(", and {}", plural(more, "more line"));
  const std::string label = bold_label(quotes.label);
  return fmt::format("{}{}{}{}\n", label, label.empty() ? "" : others, label.empty() ? "" : "\n\n",
                     markdown_fence(lines, "text"));
}

std::string text_of(const Links& links, size_t) {
  std::vector<std::string> names;
  for (const auto& [name, id] : links.links) names.push_back(name);
  return text_of(Labelled{links.label, fmt::format("{}: {}", links.lead, join(names, ", "))}, 0);
}

std::string text_of(const Table& table, size_t room) {
  std::string out = markdown_table(table, room);
  if (!out.empty()) out += "\n";
  for (const std::string& note : table.notes) out += prose(note) + "\n\n";
  return out;
}

std::string text_of(const Facts& facts, size_t room) {
  if (facts.tally) {
    std::vector<std::string> counts;
    for (const Labelled& row : facts.rows) counts.push_back(row.label + " " + row.text);
    return prose(join(counts, ", ")) + "\n\n";
  }
  Table table{.columns = {"what", "as the logs show it"}};
  for (const auto& [label, text] : facts.rows) {
    table.rows.push_back({text_cell(label), text_cell(text)});
  }
  return text_of(table, room);
}

std::string text_of(const Figure& figure, size_t room) {
  const auto form = text_form(figure);
  if (const auto* table = std::get_if<Table>(&form)) return text_of(*table, room);
  return markdown_fence(std::get<Code>(form).lines, "text") + "\n";
}

std::string blocks_text(const std::vector<Block>& blocks, size_t room) {
  std::string out;
  size_t left_out = 0;  // Blocks.
  for (const Block& block : blocks) {
    const size_t left = room - std::min(room, out.size());
    const std::string text =
        std::visit([&](const auto& each) { return text_of(each, left); }, block);
    // What counts its own rest may end a little above its room.
    constexpr size_t kCount = 100;
    if (text.size() > left + kCount) {
      ++left_out;
      continue;
    }
    const bool ends_list = out.ends_with('\n') && !out.ends_with("\n\n") && text[0] != '-';
    out += (ends_list ? "\n" : "") + text;
  }
  if (left_out > 0) out += fmt::format("\n{} more left out here.\n", left_out);
  if (!out.empty() && !out.ends_with("\n\n")) out += "\n";
  return out;
}

std::string part_text(const Section& part, size_t room) {
  constexpr size_t kCounts = 200;  // Blocks say what they leave out.
  const std::string heading = "#### " + prose(part.heading, kMaxLine) + "\n\n";
  return heading + blocks_text(part.blocks, room - std::min(room, heading.size() + kCounts));
}

std::string section_text(const Section& section, size_t room) {
  std::string body = blocks_text(section.blocks, room);
  const size_t left = room - std::min(room, body.size());
  std::vector<std::string> parts;
  for (const Section& part : section.parts) {
    parts.push_back(part_text(part, left / std::min<size_t>(section.parts.size(), 4)));
  }
  body += fitted(parts, left);
  if (!body.empty() && !body.ends_with("\n\n")) body += "\n";
  std::string heading = prose(section.heading, kMaxLine);
  if (!section.aside.empty()) heading += ": " + prose(section.aside, kMaxLine);
  if (section.folds) {
    return fmt::format("<details>\n<summary>{}</summary>\n\n{}</details>\n\n", heading, body);
  }
  return (heading.empty() ? "" : "### " + heading + "\n\n") + body;
}

/// All sections whole, or cut so that they fit.
std::string sections_text(const std::vector<Section>& sections, size_t room) {
  std::vector<std::string> texts;
  for (const Section& section : sections) texts.push_back(section_text(section, kNoLimit));
  const auto share_of = [&](size_t s, size_t share) {
    return sections[s].folds ? share / 3 : share;
  };
  const auto total = [&](size_t share) {
    size_t bytes = 0;
    for (size_t s = 0; s < texts.size(); ++s) {
      bytes += std::min(texts[s].size(), share_of(s, share));
    }
    return bytes;
  };
  size_t share = room;
  while (total(share) > room) share -= share / 16 + 1;
  std::string out;
  for (size_t s = 0; s < sections.size(); ++s) {
    const size_t most = share_of(s, share);
    out += texts[s].size() <= most ? texts[s] : section_text(sections[s], most);
  }
  return out;
}

}  // namespace

std::string render_markdown(const Document& document) {
  // Besides its room, a section that is cut has its heading and says what it leaves out.
  constexpr size_t kRoom = kMaxMarkdown - 8'000;
  std::string out = "<!-- ncclog report -->\n";
  if (!document.lead.word.empty()) {
    out += fmt::format("## {}\n\n**{}**\n\n", markdown_text(document.lead.word),
                       prose(document.lead.text));
  }
  out += sections_text(document.sections, kRoom);
  if (!document.signature.empty()) out += "*" + markdown_text(document.signature) + "*\n";
  return out;
}

}  // namespace ncclog

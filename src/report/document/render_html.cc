// A document as one page: the verdict, links to the sections, then these.
//
//   Section    <section id="…"><h2>
//   its parts  <h3>, findings as <article class="finding error" id="finding-…">; those that fold
//              in <details>
//   labels     <h4>

#include <fmt/format.h>

#include "base/text.h"
#include "report/document/document.h"
#include "report/html/figures.h"
#include "report/html/html_text.h"

namespace ncclog {
namespace {

constexpr size_t kMaxLineBytes = 1024;

std::vector<Attribute> css(SourceText names) { return {{"class", std::string(names.text())}}; }

/// The class of what a word judges.
std::string css_of(std::string_view word) {
  const Tone tone = tone_of(word);
  if (tone == Tone::Error) return "error";
  if (tone == Tone::Warning) return "warning";
  if (tone == Tone::Good) return "good";
  return word == "info" ? "info" : "quiet";
}

/// What stands in backquotes is shown as code; backquotes without a partner stay.
Markup with_code(std::string_view text) {
  Markup out;
  while (!text.empty()) {
    const size_t begin = text.find('`');
    const size_t end = begin == text.npos ? text.npos : text.find('`', begin + 1);
    if (end == text.npos) return out + html_text(text);
    if (begin > 0) out += html_text(text.substr(0, begin));
    out += html_element("code", {}, html_text(text.substr(begin + 1, end - begin - 1)));
    text.remove_prefix(end + 1);
  }
  return out;
}

/// <h4>Do not</h4> for "do not"; nothing for none.
Markup label_heading(const std::string& label) {
  return label.empty() ? Markup() : html_element("h4", {}, html_text(capitalised(label)));
}

// Each block.

Markup markup_of(const Statement& statement) {
  if (is_title(statement)) return html_element("h3", {}, with_code(statement.word));
  const Markup word =
      html_element("b", {{"class", css_of(statement.word)}}, html_text(statement.word));
  if (statement.main) {
    Markup out = html_element("p", css("standing"), word + html_text(", " + statement.standing));
    if (!statement.text.empty()) out += html_paragraph(with_code(statement.text));
    return out;
  }
  Markup out = word + html_literal(" ");
  for (const std::string& text : {statement.about.place, statement.about.text}) {
    if (!text.empty()) out += html_element("code", {}, html_text(text)) + html_literal(" ");
  }
  out += with_code(statement.text);
  if (!statement.hint.empty()) out += html_literal(" → ") + with_code(statement.hint);
  return html_paragraph(out);
}

Markup markup_of(const Paragraph& paragraph) { return html_paragraph(with_code(paragraph.text)); }

Markup markup_of(const Labelled& block) {
  return label_heading(block.label) + html_paragraph(with_code(block.text));
}

Markup markup_of(const Items& list) {
  Markup rows;
  for (const std::string& item : list.items) {
    const bool is_typed = is_command(item) && item.find('`') == item.npos;
    rows += html_element("li", {},
                         list.are_sources ? html_source(item)
                         : is_typed       ? html_element("code", {}, html_text(item))
                                          : with_code(item));
  }
  if (rows.empty()) return {};
  return label_heading(list.label) + html_element("ul", {}, rows);
}

Markup markup_of(const Code& code) {
  Markup lines;
  for (const std::string& line : code.lines) lines += html_text(line) + html_literal("\n");
  return lines.empty() ? lines : html_element("pre", css("typed"), lines);
}

Markup markup_of(const Quote& quote) {
  Markup out = html_element("p", css("place"), html_element("code", {}, html_text(quote.place)));
  const std::string_view text = trim(quote.text);
  if (!text.empty()) out += html_element("pre", {}, html_text(text, kMaxLineBytes));
  return out;
}

/// The lines that tell most, and the others for those who ask.
Markup markup_of(const Quotes& quotes) {
  Markup out = label_heading(quotes.label);
  for (const Quote& quote : quotes.quotes) out += markup_of(quote);
  Markup rest;
  for (const Quote& quote : quotes.rest) rest += markup_of(quote);
  if (!rest.empty()) out += html_details(html_text(plural(quotes.rest.size(), "more line")), rest);
  if (quotes.more > 0) {
    out += html_element(
        "p", css("quiet"),
        html_text(fmt::format("… and {} that {} not kept here", plural(quotes.more, "further line"),
                              quotes.more == 1 ? "is" : "are")));
  }
  return out;
}

Markup markup_of(const Links& links) {
  Markup list = html_text(links.lead + ": ");
  for (const auto& [name, id] : links.links) {
    if (&name != &links.links.front().first) list += html_literal(", ");
    list += html_element("a", {{"href", "#" + id}}, html_text(name));
  }
  return label_heading(links.label) + html_paragraph(list);
}

Markup markup_of(const KeyValues& values) {
  Markup rows;
  for (const auto& [label, text] : values.rows) {
    rows += values.tally ? html_element("li", {},
                                        html_element("b", {}, html_text(label)) +
                                            html_literal(" ") + html_text(text))
                         : html_element("dt", {}, html_text(label)) +
                               html_element("dd", {}, html_text(text));
  }
  if (values.tally) return html_element("ul", css("states"), rows);
  return html_element("dl", css("facts"), rows);
}

Markup markup_of(const Table& table) { return html_table(table, table.name); }

Markup markup_of(const Figure& figure) {
  constexpr size_t kMaxRows = 300;
  const Markup table =
      figure.table.rows.empty() ? Markup() : html_table(figure.table, figure.table.name, kMaxRows);
  if (table.empty()) return html_figure(figure);
  return html_figure(figure) + html_details(html_literal("The same as a table"), table);
}

Markup blocks_markup(const std::vector<Block>& blocks) {
  Markup out;
  for (const Block& block : blocks) {
    out += std::visit([](const auto& each) { return markup_of(each); }, block);
  }
  return out;
}

/// The statement of a section that is a finding; nullptr for others.
const Statement* finding_of(const Section& section) {
  if (section.blocks.empty()) return nullptr;
  const auto* statement = std::get_if<Statement>(&section.blocks.front());
  return statement != nullptr && statement->main ? statement : nullptr;
}

Markup part_markup(const Section& part, bool open) {
  const Markup heading = html_element("h3", {}, with_code(part.heading));
  const Markup inside = blocks_markup(part.blocks);
  const Statement* finding = finding_of(part);
  Markup content =
      part.folds ? html_details(heading, inside, open && finding == nullptr) : heading + inside;
  if (finding == nullptr) return content;
  return html_element("article", {{"class", "finding " + css_of(finding->word)}, {"id", part.id}},
                      content) +
         html_literal("\n");
}

Markup section_markup(const Section& section) {
  constexpr size_t kOpen = 2;
  Markup content;
  const std::string heading =
      section.aside.empty() ? section.heading : section.heading + ": " + section.aside;
  if (!heading.empty()) content += html_element("h2", {}, with_code(heading));
  content += blocks_markup(section.blocks);
  for (size_t p = 0; p < section.parts.size(); ++p) {
    content += part_markup(section.parts[p], p < kOpen);
  }
  std::vector<Attribute> attributes;
  if (!section.id.empty()) attributes.push_back({"id", section.id});
  const bool is_drawn =
      !section.blocks.empty() && std::holds_alternative<Figure>(section.blocks.back());
  const bool stays = (is_drawn && (section.id == "ranks" || section.id == "time")) ||
                     (!section.parts.empty() && finding_of(section.parts.front()) != nullptr);
  // Paper has room for what is seen at a glance.
  if (section.folds && !stays) attributes.push_back({"class", "screen"});
  return html_element("section", attributes, content) + html_literal("\n");
}

/// The verdict's word and its sentence, which is the page's heading; links to the sections.
Markup header(const Document& document) {
  const Statement& lead = document.lead;
  Markup out = html_element("div", {{"class", "verdict " + css_of(lead.word)}},
                            html_element("p", css("word"), html_text(lead.word)) +
                                html_element("h1", {}, html_text(lead.text)));
  Markup links;
  for (const Section& section : document.sections) {
    if (section.id.empty()) continue;
    links += html_element(
        "li", {}, html_element("a", {{"href", "#" + section.id}}, with_code(section.heading)));
  }
  out += html_element("nav", {{"aria-label", "Sections"}}, html_element("ul", {}, links));
  return html_element("header", {}, out);
}

}  // namespace

std::string render_html(const Document& document) {
  Markup main;
  for (const Section& section : document.sections) main += section_markup(section);
  return html_page(fmt::format("{}: {}", document.lead.word, document.lead.text),
                   header(document) + html_element("main", {}, main) +
                       html_element("footer", {}, html_paragraph(with_code(document.signature))));
}

}  // namespace ncclog

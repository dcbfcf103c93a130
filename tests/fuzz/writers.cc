// Hostile text in what people and programs read: nothing acts, nothing is hidden, and programs get
// back what was there.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "fuzz/fuzz.h"
#include "report/document/document.h"
#include "report/html/html_text.h"
#include "report/tables/table.h"
#include "support/markdown_check.h"
#include "support/markup_check.h"

namespace ncclog::fuzz {
namespace {

void require_inert_markdown(const std::string& markdown) {
  const std::string complaints = join(testing::check_markdown(markdown), "\n");
  require_equal(complaints.empty() ? markdown : markdown + complaints, markdown);
}

void require_plain(const std::string& text) {
  require_equal(testing::find_hidden_character(text), "");
}

constexpr std::string_view kFormulaStarts[] = {"=", "+", "-", "@"};

/// The cells of CSV as RFC 4180 has it; none where it is not of that form.
std::vector<std::vector<std::string>> read_csv(std::string_view csv) {
  std::vector<std::vector<std::string>> rows;
  while (!csv.empty()) {
    std::vector<std::string>& row = rows.emplace_back();
    for (char end = ','; end == ',';) {
      std::string& cell = row.emplace_back();
      if (csv.starts_with('"')) {
        csv.remove_prefix(1);
        for (;; csv.remove_prefix(1)) {
          if (csv.empty()) return {};
          if (csv.starts_with("\"\""))
            csv.remove_prefix(1);
          else if (csv.front() == '"')
            break;
          cell += csv.front();
        }
        csv.remove_prefix(1);
      } else {
        const size_t length = std::min(csv.find_first_of(",\n\""), csv.size());
        cell = csv.substr(0, length);
        csv.remove_prefix(length);
      }
      if (csv.empty() || csv.front() == '"') return {};
      end = csv.front();
      csv.remove_prefix(1);
      if (end != ',' && end != '\n') return {};
    }
  }
  return rows;
}

std::string take_text(std::string_view& bytes) {
  const size_t wanted = take_byte(bytes);
  const size_t length = std::min(wanted, bytes.size());
  std::string text(bytes.substr(0, length));
  bytes.remove_prefix(length);
  return text;
}

Quote take_quote(std::string_view& bytes) { return {take_text(bytes), take_text(bytes)}; }

Table table_of_bytes(std::string_view bytes) {
  Table table;
  table.name = "sample";
  table.columns = {"host", "count", "text"};
  while (!bytes.empty() && table.rows.size() < 8) {
    const std::string host = take_text(bytes);
    table.rows.push_back({Cell(host), number_cell(take_byte(bytes)), Cell(take_text(bytes))});
  }
  table.notes = {take_text(bytes)};
  return table;
}

Block block_of(uint8_t kind, std::string_view& bytes) {
  switch (kind % 9) {
    case 0: {
      Statement statement{.word = kind < 128 ? "error" : ""};
      statement.about = take_quote(bytes);
      statement.text = take_text(bytes);
      statement.hint = take_text(bytes);
      statement.shown = take_quote(bytes);
      statement.standing = take_text(bytes);
      statement.depth = kind >> 6;
      return statement;
    }
    case 1:
      return Paragraph{take_text(bytes), kind >> 6};
    case 2:
      return Labelled{"why", take_text(bytes)};
    case 3:
      return Items{kind < 128 ? "fix" : "", {take_text(bytes), take_text(bytes)}};
    case 4:
      return Code{{take_text(bytes), take_text(bytes)}};
    case 5:
      return Quotes{"seen", {take_quote(bytes)}, {take_quote(bytes)}, take_byte(bytes), 0};
    case 6:
      return Links{"also", take_text(bytes), {{take_text(bytes), "other"}}};
    case 7:
      return KeyValues{{{"network", take_text(bytes)}}, kind >= 128};
    default: {
      Table table = table_of_bytes(bytes.substr(0, 64));
      bytes.remove_prefix(std::min<size_t>(64, bytes.size()));
      return table;
    }
  }
}

}  // namespace

void fuzz_texts(std::string_view bytes) {
  const std::string shown = printable(bytes);
  require_plain(shown);
  require_equal(printable(shown), shown);
  require(is_valid_utf8(to_valid_utf8(bytes)));
  std::string json;
  append_json_string(json, bytes);
  require_equal(nlohmann::json::parse(json).get<std::string>(), to_valid_utf8(bytes));
  require_equal(testing::markup_faults("<p>" + html_text(bytes).bytes() + "</p>"), "");
  require_equal(testing::markup_faults("<p>" + plain_text(bytes).bytes() + "</p>"), "");
  require_inert_markdown("- " + markdown_text(bytes) + "\n");
  require_inert_markdown("- " + markdown_code(bytes) + "\n");
  const std::string cell = markdown_cell(bytes);
  require_inert_markdown("| a | b |\n| --- | --- |\n| " + cell + " | " + cell + " |\n");
  const std::string line(bytes);
  require_inert_markdown(markdown_fence(std::span(&line, 1), "text"));
  require(is_valid_utf8(shortened(bytes, 16)));
}

/// The first byte is the width of the terminal.
void fuzz_document(std::string_view bytes) {
  const int width = 40 + take_byte(bytes);
  Document document;
  document.lead = {.word = "PROBLEM", .text = take_text(bytes)};
  document.lead.shown = take_quote(bytes);
  while (!bytes.empty() && document.sections.size() < 6) {
    const uint8_t kind = take_byte(bytes);
    Section& section = document.sections.emplace_back();
    section.heading = take_text(bytes);
    section.aside = kind % 2 == 0 ? "" : take_text(bytes);
    section.id = "other";
    section.folds = kind % 3 == 0;
    for (int blocks = kind >> 6; blocks >= 0; --blocks) {
      const uint8_t of = take_byte(bytes);
      section.blocks.push_back(block_of(of, bytes));
    }
  }
  require_plain(render_text(document, {.width = width}));
  require_inert_markdown(render_markdown(document));
  require_equal(testing::markup_faults(render_html(document)), "");
}

void fuzz_tables(std::string_view bytes) {
  const Table table = table_of_bytes(bytes);
  require_plain(write_table_text(table, {.width = 80}, true));
  const nlohmann::json json = nlohmann::json::parse(written(write_table_json, table));
  require(json.at("rows").size() == table.rows.size());
  const std::string lines = written(write_table_jsonl, table);
  require(static_cast<size_t>(std::ranges::count(lines, '\n')) == table.rows.size());
  const auto rows = read_csv(written(write_table_csv, table));
  require(rows.size() == table.rows.size() + 1);
  for (const auto& row : rows) require(row.size() == table.columns.size());
}

/// What programs that show tables get of them: no code that steers a terminal, no mark that turns
/// the direction, no formula.
void fuzz_inert_tables(std::string_view bytes) {
  const Table table = table_of_bytes(bytes);
  const std::string csv = written(write_table_csv, table);
  require_plain(csv);
  for (const auto& row : read_csv(csv)) {
    for (const std::string_view cell : row) {
      const bool is_formula = cell.size() > 1 && equals_one_of(cell.substr(0, 1), kFormulaStarts);
      require(!is_formula || parse_decimal(cell));
    }
  }
  require_plain(written(write_table_json, table));
  require_plain(written(write_table_jsonl, table));
}

}  // namespace ncclog::fuzz

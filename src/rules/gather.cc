#include <algorithm>
#include <set>

#include "base/sorting.h"
#include "base/text.h"
#include "diagnose/hardware/odd_ones.h"
#include "rules/judge.h"

namespace ncclog {
namespace {

/// A row of a table, or a line of a kind.
struct Row {
  const TableRow* row = nullptr;
  const ReadRecord* line = nullptr;

  int process() const { return line != nullptr ? line->process() : row->process; }
  Evidence evidence() const { return line != nullptr ? evidence_of(line->record()) : row->line; }
  std::string text(const Job& job, const FieldRef& field) const {
    return line != nullptr ? field_text(job, *line, field) : row->fields[field.index];
  }
};

std::vector<Row> rows_of(const EachCondition& each, JobView& view) {
  std::vector<Row> rows;
  if (each.table == nullptr) {
    for (const ReadRecord* line : view.lines(each.lines).records) rows.push_back({.line = line});
    return rows;
  }
  for (const TableRow& row : view.rows(*each.table)) {
    if (passes(row, each.lines.where)) rows.push_back({.row = &row});
  }
  return rows;
}

/// Leaves the first row of each process that is the odd one out, and tells what the others show.
OddOnes keep_odd(const EachCondition& each, const Job& job, std::vector<Row>& rows) {
  std::erase_if(rows, [](const Row& row) { return row.process() < 0; });
  sort_unless_sorted(rows, {}, &Row::process);
  const auto again = std::ranges::unique(rows, {}, &Row::process);
  rows.erase(again.begin(), again.end());
  PeerValues values;
  for (const Row& row : rows) values.emplace_back(row.process(), row.text(job, *each.odd));
  OddOnes odd = each.at_place ? odd_at_place(job, values) : odd_ones(values);
  const bool is_meant =
      each.usual.empty() || std::ranges::find(each.usual, odd.common) != each.usual.end();
  std::erase_if(rows, [&](const Row& row) {
    return !is_meant || !std::ranges::binary_search(odd.odd, row.process());
  });
  return odd;
}

/// The words with the row's fields in their places; clauses of which a field is empty are left out.
std::string words_of(const EachCondition& each, const Row& row, const Job& job,
                     const OddOnes& odd) {
  std::string words;
  for (const WordsClause& clause : each.words) {
    std::string text;
    bool is_whole = true;
    for (const MessagePart& part : clause.parts) {
      std::string piece = part.text;
      if (part.type == MessagePart::Type::Field) piece = row.text(job, part.field);
      if (part.type == MessagePart::Type::Common) piece = odd.common;
      if (part.type == MessagePart::Type::Alike) piece = std::to_string(odd.alike);
      is_whole &= !piece.empty();
      text += piece;
    }
    if (is_whole || !clause.is_optional) words += text;
  }
  return words;
}

}  // namespace

FactValue gather(const EachCondition& each, JobView& view) {
  const Job& job = view.job();
  // Nothing is compared across runs.
  if ((each.odd || each.differ) && !is_of_one_run(job)) return no();
  std::vector<Row> rows = rows_of(each, view);
  OddOnes odd;
  if (each.odd) odd = keep_odd(each, job, rows);
  if (each.differ) {
    std::set<std::string> texts;
    for (const Row& row : rows) texts.insert(row.text(job, *each.differ));
    if (texts.size() < 2) return no();
  }
  if (rows.empty()) return no();
  if (each.by && parse_int(rows.front().text(job, *each.by))) {
    // Ranks in their order, whichever line came first.
    std::ranges::stable_sort(
        rows, {}, [&](const Row& row) { return parse_int(row.text(job, *each.by)).value_or(-1); });
  }
  AnswerParts parts;
  std::vector<std::string> hosts;
  std::set<std::string> groups;
  for (const Row& row : rows) {
    if (row.process() >= 0) parts.processes.push_back(row.process());
    if (row.process() < 0 && !row.row->host.empty()) hosts.push_back(row.row->host);
    // A group is called by its first row, and shown by that one's line.
    if (each.by && !groups.insert(row.text(job, *each.by)).second) continue;
    std::string words = words_of(each, row, job, odd);
    // Of odd ones the first is called, because all of them are compared with the same others.
    const bool is_called = !each.odd || parts.words.empty();
    if (is_called && parts.said.insert(words).second) parts.words.push_back(std::move(words));
    if (parts.evidence.size() < each.most_lines) parts.evidence.push_back(row.evidence());
  }
  FactValue answer = parts.answer(no(), each.between, kMostNamed);
  sort_and_drop_repeats(hosts);
  answer.hosts = std::move(hosts);
  return answer;
}

}  // namespace ncclog

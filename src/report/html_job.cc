#include "report/html_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "report/html_page.h"
#include "report/html_table.h"
#include "report/job_shape.h"
#include "report/tables.h"
#include "report/text_parts.h"

namespace ncclog {
namespace {

constexpr size_t kMaxRanks = 1200;

/// How many rows of a table of ranks have which state, most first.
std::vector<std::pair<std::string, size_t>> states_of(const Table& ranks, size_t column) {
  std::map<std::string, size_t> counts;
  for (const auto& row : ranks.rows) {
    const auto* state = std::get_if<std::string>(&row[column]);
    ++counts[state == nullptr ? "unknown" : *state];
  }
  std::vector<std::pair<std::string, size_t>> states(counts.begin(), counts.end());
  std::stable_sort(states.begin(), states.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return states;
}

Markup states_list(const std::vector<std::pair<std::string, size_t>>& states) {
  Markup rows;
  for (const auto& [state, count] : states) {
    rows += html_element("li", {},
                         html_element("b", {}, html_text(std::to_string(count))) +
                             html_literal(" ") + html_text(state));
  }
  return html_element("ul", {{"class", "states"}}, rows);
}

size_t column_of(const Table& table, std::string_view name) {
  return static_cast<size_t>(std::find(table.columns.begin(), table.columns.end(), name) -
                             table.columns.begin());
}

/// Keeps kMaxRanks rows: those with a note or a rare state before others, in their order.
void keep_telling_rows(Table& table, const std::string& usual) {
  if (table.rows.size() <= kMaxRanks) return;
  const size_t state = column_of(table, "state");
  const size_t note = column_of(table, "note");
  const auto is_usual = [&](const std::vector<Cell>& row) {
    const auto* text = std::get_if<std::string>(&row[state]);
    return text != nullptr && *text == usual && std::holds_alternative<std::monostate>(row[note]);
  };
  size_t usual_left = kMaxRanks;
  size_t odd_left = kMaxRanks;
  const auto odd = static_cast<size_t>(std::count_if(
      table.rows.begin(), table.rows.end(), [&](const auto& row) { return !is_usual(row); }));
  usual_left -= std::min(kMaxRanks, odd);
  const size_t all = table.rows.size();
  std::erase_if(table.rows, [&](const auto& row) {
    size_t& left = is_usual(row) ? usual_left : odd_left;
    if (left == 0) return true;
    --left;
    return false;
  });
  table.notes.push_back(
      fmt::format("{} of {} ranks are shown, those unlike most first; 'ncclog show ranks' lists "
                  "all.",
                  table.rows.size(), all));
}

/// A setting with all its values.
struct SettingValues {
  std::map<std::string, std::vector<int>> processes_by_value;
  size_t processes = 0;
};

std::string ranks_of(const Job& job, const std::vector<int>& processes) {
  std::vector<int> ranks;
  for (const int process : processes) {
    const int rank = job.processes[static_cast<size_t>(process)].rank;
    if (rank >= 0) ranks.push_back(rank);
  }
  return ranges_text(std::move(ranks));
}

std::map<std::string, SettingValues> settings_by_name(const Job& job) {
  std::map<std::string, SettingValues> settings;
  for (const EnvironmentSetting& setting : job.environment) {
    SettingValues& values = settings[setting.name];
    values.processes_by_value[setting.value] = setting.processes;
    values.processes += setting.processes.size();
  }
  return settings;
}

size_t processes_with_settings(const Job& job) {
  std::set<int> processes;
  for (const EnvironmentSetting& setting : job.environment) {
    processes.insert(setting.processes.begin(), setting.processes.end());
  }
  return processes.size();
}

void add_rows(const Job& job, const std::string& name, const SettingValues& values, Table& table) {
  for (const auto& [value, processes] : values.processes_by_value) {
    table.rows.push_back({text_cell(name), text_cell(value), text_cell(ranks_of(job, processes)),
                          number_cell(static_cast<int64_t>(processes.size()))});
  }
}

Table inputs_table(const Job& job) {
  Table table{.name = "inputs", .columns = {"path", "format", "bytes", "lines", "status", "note"}};
  for (const JobInput& input : job.inputs) {
    table.rows.push_back({text_cell(input.path), text_cell(input.format),
                          number_cell(static_cast<int64_t>(input.bytes)),
                          number_cell(static_cast<int64_t>(input.lines)),
                          text_cell(to_string(input.status)), text_cell(input.note)});
  }
  // What could not be read whole is what one looks for.
  std::stable_sort(table.rows.begin(), table.rows.end(), [](const auto& a, const auto& b) {
    const auto whole = [](const auto& row) { return std::get<std::string>(row[4]) == "whole"; };
    return !whole(a) && whole(b);
  });
  return table;
}

Table losses_table(const LossTable& losses) {
  Table table{.name = "losses", .columns = {"loss", "severity", "count", "meaning", "advice"}};
  for (size_t i = 0; i < losses.counts.size(); ++i) {
    if (losses.counts[i] == 0) continue;
    const LossRow& row = loss_rows()[i];
    table.rows.push_back({text_cell(row.name), text_cell(to_string(row.severity)),
                          number_cell(static_cast<int64_t>(losses.counts[i])),
                          text_cell(row.meaning), text_cell(row.advice)});
  }
  return table;
}

}  // namespace

Markup html_job_shape(const Job& job) {
  Markup rows;
  for (const ShapeRow& row : job_shape(job)) {
    rows +=
        html_element("dt", {}, html_text(row.name)) + html_element("dd", {}, html_text(row.value));
  }
  return rows.empty() ? Markup() : html_element("dl", {{"class", "facts"}}, rows);
}

Markup html_ranks(const Job& job) {
  Table table = ranks_table(job);
  if (table.rows.empty()) return html_table(table, "ranks");
  const auto states = states_of(table, column_of(table, "state"));
  keep_telling_rows(table, states.front().first);
  return states_list(states) + html_table(table, "ranks", {.rows = kMaxRanks, .cell_bytes = 200});
}

Markup html_fronts(const Job& job) {
  const Table table = fronts_table(job);
  return table.rows.empty() ? Markup()
                            : html_table(table, "communicators", {.rows = 60, .cell_bytes = 200});
}

Markup html_settings(const Job& job) {
  const std::map<std::string, SettingValues> settings = settings_by_name(job);
  if (settings.empty()) return {};
  const size_t all = processes_with_settings(job);
  const std::vector<std::string> columns = {"name", "value", "ranks", "processes"};
  Table differing{.name = "env", .columns = columns};
  Table same{.name = "env", .columns = columns};
  for (const auto& [name, values] : settings) {
    const bool differs = values.processes_by_value.size() > 1 || values.processes < all;
    add_rows(job, name, values, differs ? differing : same);
  }
  Markup out;
  if (differing.rows.empty()) {
    out += html_paragraph(
        all == 1 ? std::string("One process reports settings.")
                 : fmt::format("The same in all {} processes that report settings.", all));
  } else {
    out += html_element("h3", {}, html_literal("Not the same everywhere")) +
           html_table(differing, "settings that differ", {.rows = 200});
    if (!same.rows.empty()) out += html_element("h3", {}, html_literal("The same everywhere"));
  }
  return out + html_table(same, "settings", {.rows = 200});
}

Markup html_inputs(const Job& job) {
  const LossTable& losses = job.losses;
  Markup out = html_paragraph(
      fmt::format("{} read: {} understood, {} of NCCL not understood, {} of others, {} unreadable.",
                  plural(losses.lines, "line"), losses.recognised, losses.unrecognised,
                  losses.foreign, losses.unreadable));
  const Table lost = losses_table(losses);
  if (!lost.rows.empty()) out += html_table(lost, "losses");
  const std::string files = plural(job.inputs.size(), "input");
  return out + html_details(html_text(files),
                            html_table(inputs_table(job), "inputs", {.rows = 300}),
                            job.inputs.size() <= 12);
}

}  // namespace ncclog

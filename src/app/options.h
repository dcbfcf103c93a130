// What the user typed, command by command, before anything is looked at; the flags that fill it.
//
//   ncclog analyze --format json --rules site-rules logs/
//   → AnalyzeOptions{.paths = {"logs/"}, .format = ReportFormat::Json, .rules = {"site-rules"}}
//   --format jsn → "--format: unknown value 'jsn'", "did you mean 'json'?"
//
// Options of one command stand in its struct; those of `replay` and of commands that only take
// names stand in their own files. What concerns tables by name is at the end, as several commands
// need it.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/exit_codes.h"
#include "app/output.h"
#include "diagnose/iterations/call_counts.h"
#include "model/job.h"
#include "report/graph/graph.h"
#include "report/report_formats.h"
#include "report/tables/table.h"
#include "report/tables/tables.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace ncclog {

/// How a bundle is made.
struct BundleOptions {
  std::string path;          ///< "out.tar.zst"; empty: no bundle is wanted.
  std::string mapping;       ///< Where the mapping goes; empty: beside the bundle.
  bool anonymise = true;     ///< false: all names stay, and there is no mapping.
  bool allow_leaks = false;  ///< Written even if a name is left, with a word about it.
  bool full_logs = false;    ///< The logs go in whole, however large.
  /// Logs up to this size together go in whole.
  uint64_t whole_bytes = uint64_t{8} << 20;
};

/// The numbers that a flag takes.
struct NumberRange {
  int64_t least = 0;
  int64_t most = 0;
};

/// Declares a flag that takes a number of that range, all of which `target` can hold; another one
/// is thrown as Error: "--gpus: not a number from 2 to 1048576: '0'". `target` must outlive `app`,
/// `flag` too.
CLI::Option* add_number_flag(CLI::App& app, const char* flag, NumberRange range, int& target,
                             const std::string& help);
CLI::Option* add_number_flag(CLI::App& app, const char* flag, NumberRange range, uint64_t& target,
                             const std::string& help);

enum class ReportFormat { Text, Json };
enum class TableFormat { Text, Json, Csv };
/// A table, or the drawing of the same name.
enum class ShowFormat { Text, Json, Csv, Svg, Dot };
enum class ExportFormat { Jsonl, Csv, Text, Json, Sqlite, Trace, Lnav };

/// What and how to read; part of every command that reads logs.
struct InputOptions {
  std::vector<std::string> paths;       ///< Files, folders, patterns, "-"; empty: a mistake.
  int threads = 0;                      ///< 0: one per processor.
  std::optional<StatedOutcome> stated;  ///< How the job ended, of commands that judge it.
};

/// Standard output as a flag names it.
inline constexpr const char* kStandardOutput = "-";

/// A report in one format, and where it goes.
struct ReportOutput {
  const ReportKind* kind = nullptr;  ///< Never nullptr.
  std::string path;                  ///< "-": standard output.
};

struct AnalyzeOptions {
  InputOptions input;
  std::vector<std::string> rules;  ///< Files and folders that add to the built-in rules.
  std::string expect;              ///< Profile's name or path; empty: none.
  std::string with_replay;         ///< A result of `replay run`; empty: none.
  const ReportKind* format = find_report_kind("text");  ///< Of what is printed; never nullptr.
  std::vector<ReportOutput> outputs;                    ///< Besides; in the formats' order.
  FailOn fail_on = FailOn::Error;
  ColorChoice color = ColorChoice::Auto;
};

/// Of `report`, which prints nothing but what `outputs` say.
struct ReportOptions {
  AnalyzeOptions analyze;
  BundleOptions bundle;  ///< Empty path: none.
};

enum class DiffFormat { Text, Json, Markdown };

struct DiffOptions {
  InputOptions input;              ///< Two paths, GOOD and BAD; else a mistake.
  std::vector<std::string> rules;  ///< Files and folders that add to the built-in rules.
  DiffFormat format = DiffFormat::Text;
  bool exit_code = false;  ///< Exit with 1 if the runs differ.
  ColorChoice color = ColorChoice::Auto;
};

struct ExplainOptions {
  std::string id;  ///< Of the rule; empty: a mistake.
  InputOptions input;
  std::vector<std::string> rules;  ///< Files and folders that add to the built-in rules.
  ReportFormat format = ReportFormat::Text;
  ColorChoice color = ColorChoice::Auto;
};

struct ShowOptions {
  std::string what;  ///< Name of a table; empty: a mistake.
  InputOptions input;
  ShowFormat format = ShowFormat::Text;
  std::string as;  ///< "messages": the unknown lines as a draft of a message file; else empty.
  ColorChoice color = ColorChoice::Auto;
};

enum class IterationCut { Aligned, Exact };

struct CountOptions {
  InputOptions input;
  std::vector<CountBy> by;         ///< Empty: by communicator and operation.
  std::string iteration = "auto";  ///< "auto", "period", a preset or an expression.
  IterationCut cut = IterationCut::Aligned;
  TableFormat format = TableFormat::Text;
  ColorChoice color = ColorChoice::Auto;
};

struct ExportOptions {
  std::string table = "events";  ///< Of `show` or of report/sql/sql_tables.h.
  InputOptions input;
  std::optional<ExportFormat> format;  ///< nullopt: JSON Lines; of an answer text.
  std::string sql;                     ///< A statement to be answered; empty: none.
  std::string output;                  ///< A file; empty or "-": standard output.
  bool list_tables = false;
  std::vector<std::string> rules;  ///< Files and folders that add to the built-in rules.
};

struct EnvOptions {
  std::vector<std::string> paths;  ///< Scripts, YAML, logs, "-"; empty: this process's environment.
  std::string nccl;                ///< A release, "2.27.3"; empty: any.
  std::string interfaces;          ///< "eth0,ib0": of the job's hosts; empty: unknown.
  std::string hcas;                ///< "mlx5_0,mlx5_1", the same.
  std::string log;                 ///< A log that shows the job's hosts; empty: none.
  bool strict = false;             ///< Warnings fail, too.
  ReportFormat format = ReportFormat::Text;
  ColorChoice color = ColorChoice::Auto;
};

struct RulesOptions {
  std::string id;                  ///< Of `rules show` and `rules new`.
  std::string area;                ///< Of `rules new`: the folder; empty: the working directory.
  std::string from;                ///< Of `rules new`: a line that the rule is about.
  std::vector<std::string> paths;  ///< Of `rules check` and `rules test`.
  std::vector<std::string> rules;  ///< Files and folders that add to the built-in rules.
};

/// Each declares a command's flags; parsing fills `options`, which must outlive `app`. A value that
/// a flag does not know is thrown as Error with the nearest one that it does.
void add_analyze_flags(CLI::App& app, AnalyzeOptions& options);
void add_report_flags(CLI::App& app, ReportOptions& options);
void add_explain_flags(CLI::App& app, ExplainOptions& options);
void add_diff_flags(CLI::App& app, DiffOptions& options);
void add_show_flags(CLI::App& app, ShowOptions& options);
void add_count_flags(CLI::App& app, CountOptions& options);
void add_export_flags(CLI::App& app, ExportOptions& options);
void add_env_check_flags(CLI::App& app, EnvOptions& options);
void add_input_flags(CLI::App& app, InputOptions& input);
void add_outcome_flag(CLI::App& app, InputOptions& input);
void add_rules_flag(CLI::App& app, std::vector<std::string>& rules);

// The tables as the command line knows them: for its help, and by name.

/// "Tables:" and one line for each, as help texts show it.
std::string table_list();

/// The table of that name. Throws Error, naming the command `where` and what it could have meant,
/// if there is none; `also` are further names that the command knows.
const TableKind& chosen_table(std::string_view name, std::string_view where,
                              std::span<const std::string_view> also = {});

/// The drawing of that name. Throws Error that names those there are.
const DrawingKind& chosen_drawing(std::string_view name, std::string_view where);

// A table on the console, in the format that the user wants.

/// Appends the table to `console.out`. Text is cut to the width of a terminal.
void print_table(const Table& table, TableFormat format, ColorChoice color, Console& console);

/// Writes the rows as they are made, as JSON or CSV; text needs all of them, so it needs a Table.
void print_stream(const TableStream& table, TableFormat format, Console& console);

}  // namespace ncclog

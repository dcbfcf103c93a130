#include "app/options.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace ncclog {
namespace {

constexpr Choice<StatedOutcome> kOutcomes[] = {{"hung", StatedOutcome::Hung},
                                               {"crashed", StatedOutcome::Crashed},
                                               {"slow", StatedOutcome::Slow},
                                               {"finished", StatedOutcome::Finished}};
constexpr Choice<ColorChoice> kColors[] = {
    {"auto", ColorChoice::Auto}, {"always", ColorChoice::Always}, {"never", ColorChoice::Never}};

}  // namespace

void add_input_flags(CommandRow& command, InputOptions& input) {
  add_argument(command, "PATH", input.paths, "log files, folders, quoted patterns, '-' for stdin");
  add_number(command, kInputFlags, "--threads N", {1, 1024}, input.threads,
             "how many threads read; the report does not depend on it");
}

void add_outcome_flag(CommandRow& command, InputOptions& input) {
  add_choice(command, kJudgingFlags, "--outcome", input.stated, kOutcomes,
             "what you saw of the job's end, which its logs may not tell: hung (their end is where "
             "it stood still), crashed, slow, finished");
}

void add_rules_flag(CommandRow& command, std::vector<std::string>& rules) {
  add_flag(command, kJudgingFlags, "--rules DIR", rules,
           "a folder or file of rules that add to the built-in ones or, "
           "with the same id, replace them, and of overlays; may be repeated");
}

void add_color_flag(CommandRow& command, ColorChoice& color) {
  add_choice(command, kOutputFlags, "--color", color, kColors,
             "colour: on a terminal unless NO_COLOR is set (auto), always, never");
}

const TableKind& chosen_table(std::string_view name, std::string_view where,
                              std::span<const std::string_view> also) {
  const TableKind* kind = find_table_kind(name);
  if (kind != nullptr) return *kind;
  std::vector<std::string_view> names(also.begin(), also.end());
  for (const TableKind& known : table_kinds()) names.push_back(known.name);
  const auto nearest = nearest_name(name, names);
  const std::string what =
      name.empty() ? "no table named" : fmt::format("no table '{}'", printable(name));
  throw Error(what, std::string(where),
              nearest ? fmt::format("did you mean '{}'?", *nearest)
                      : fmt::format("one of: {}", fmt::join(names, ", ")));
}

void print_table(const Table& table, TableFormat format, ColorChoice color, Console& console) {
  switch (format) {
    case TableFormat::Text:
      console.out += write_table_text(table, console.style(color), /*fit=*/console.is_terminal);
      break;
    case TableFormat::Json:
      console.out += write_table_json(table);
      break;
    case TableFormat::Csv:
      console.out += write_table_csv(table);
      break;
  }
}

void print_stream(const TableStream& table, TableFormat format, Console& console) {
  const auto take = [&console](std::string_view text) {
    console.out += text;
    return console.pass_on();
  };
  if (format == TableFormat::Json) return write_stream_json(table, take);
  write_stream_csv(table, take);
}

}  // namespace ncclog

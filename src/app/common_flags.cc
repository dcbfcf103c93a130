#include "app/common_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <vector>

#include "app/command_table.h"

namespace ncclog {
namespace {

/// Flags that several commands have are about the same thing in each. Others stay with the command.
struct GroupRow {
  const char* group;
  std::vector<std::string_view> flags;
};

const std::vector<GroupRow>& group_table() {
  static const std::vector<GroupRow> kTable = {
      {"Input", {"threads", "nccl", "interfaces", "hcas", "log", "from"}},
      {"Judging", {"outcome", "rules", "expect", "with-replay", "fail-on", "strict", "exit-code"}},
      {"Plan", {"last", "only", "gpus", "finding", "nccl-tests"}},
      {"Counting", {"by", "iteration", "cut"}},
      {"Output",
       {"format", "as", "table", "tables", "text", "json", "md", "html", "output", "area", "bundle",
        "full-logs", "anonymise", "no-anonymise", "allow-leaks", "mapping", "sql", "color"}},
      {kGeneralFlags,
       {"messages", "quiet", "verbose", "no-progress", "config", "show-config", "version", "help"}},
  };
  return kTable;
}

const char* group_of(const CLI::Option& option) {
  for (const GroupRow& row : group_table()) {
    const auto& names = option.get_lnames();
    const bool is_member = !names.empty() && std::find(row.flags.begin(), row.flags.end(),
                                                       names.front()) != row.flags.end();
    if (is_member) return row.group;
  }
  return nullptr;
}

void add_flags(CLI::App& app, CommonOptions& options) {
  app.add_flag("-q,--quiet", options.quiet, "only the verdict, in a line; no notes, no progress");
  app.add_flag("-v,--verbose", options.verbose,
               "tell on standard error what was read, and how fast");
  app.add_flag("--no-progress", options.no_progress,
               "no progress line on the terminal, however long it takes");
  app.add_option("--config", options.config, "a configuration file; '' for none")
      ->type_name("FILE");
  app.add_option("--messages", options.messages,
                 "a folder or file of messages that add to the built-in ones; may be repeated")
      ->type_name("DIR")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_flag("--show-config", options.show_config, "print these flags' values and their sources");
}

void add_everywhere(CLI::App& app, CommonOptions& options) {
  add_flags(app, options);
  if (app.get_help_ptr() != nullptr) app.set_help_flag("-h,--help", "print this help");
  for (CLI::Option* option : app.get_options([](CLI::Option*) { return true; })) {
    if (const char* group = group_of(*option)) option->group(group);
  }
  for (CLI::App* below : app.get_subcommands([](CLI::App*) { return true; })) {
    add_everywhere(*below, options);
  }
}

}  // namespace

void add_common_flags(CLI::App& root, CommonOptions& options) { add_everywhere(root, options); }

}  // namespace ncclog

#include "app/write_help.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "report/text_layout.h"

namespace ncclog {
namespace {

/// A longer flag has its help on the next line.
constexpr int kWidestLead = 26;

/// What stands left and right in a list.
using Entry = std::pair<std::string, std::string>;
using Entries = std::vector<Entry>;

int lead_width(const Entries& entries) {
  int width = 0;
  for (const auto& [left, right] : entries) {
    const int own = display_width(left);
    if (own <= kWidestLead) width = std::max(width, own);
  }
  return width;
}

std::string entry_text(const Entry& entry, int lead, const TextStyle& style) {
  const std::string margin = "  " + std::string(static_cast<size_t>(lead), ' ') + "  ";
  if (display_width(entry.first) > lead) {
    return "  " + entry.first + "\n" + hang(margin, entry.second, style);
  }
  return hang("  " + pad(entry.first, lead) + "  ", entry.second, style);
}

std::string list_text(const std::string& title, const Entries& entries, int lead,
                      const TextStyle& style) {
  std::string text = title.empty() ? "\n" : "\n" + title + ":\n";
  for (const Entry& entry : entries) text += entry_text(entry, lead, style);
  return text;
}

struct Titled {
  std::string title;
  Entries entries;
};

Entries argument_entries(const CommandRow& command) {
  Entries entries;
  for (const FlagRow& argument : command.arguments) {
    entries.emplace_back(typed_flag(argument), help_of(argument));
  }
  return entries;
}

std::vector<Titled> flag_lists(const CommandRow& command) {
  std::vector<Titled> lists;
  for (const std::string& group : flag_groups(command)) {
    Titled list{group, {}};
    for (const FlagRow& flag : command.flags) {
      if (flag.group == group) list.entries.emplace_back(typed_flag(flag), help_of(flag));
    }
    lists.push_back(std::move(list));
  }
  return lists;
}

/// Commands by task, in the order in which tasks come first.
std::vector<Titled> command_lists(const CommandRow& command) {
  std::vector<Titled> lists;
  for (const CommandRow& below : command.commands) {
    const std::string name = below.path.substr(below.path.rfind(' ') + 1);
    auto list = std::find_if(lists.begin(), lists.end(),
                             [&](const Titled& known) { return known.title == below.task; });
    if (list == lists.end()) list = lists.insert(lists.end(), Titled{below.task, {}});
    list->entries.emplace_back(name, below.help);
  }
  return lists;
}

/// One column for all lists of a text.
std::string lists_text(const std::vector<Titled>& lists, const TextStyle& style) {
  int lead = 0;
  for (const Titled& list : lists) lead = std::max(lead, lead_width(list.entries));
  std::string text;
  for (const Titled& list : lists) text += list_text(list.title, list.entries, lead, style);
  return text;
}

/// A line of a list stays as it is; one that is too long goes on under its second column.
std::string list_line(const std::string& line, const TextStyle& style) {
  const size_t word = line.find_first_not_of(' ');
  const size_t gap = word == std::string::npos ? word : line.find("  ", word);
  if (display_width(line) <= style.width || gap == std::string::npos) return line + "\n";
  const size_t column = line.find_first_not_of(' ', gap);
  return hang(line.substr(0, column), line.substr(column), style);
}

std::string notes_text(const CommandRow& command, const TextStyle& style) {
  std::string text;
  for (const NoteBlock& block : note_blocks(command.notes)) {
    text += "\n";
    if (block.heading.empty()) {
      for (const std::string& line : block.lines) text += hang("", line, style);
      continue;
    }
    text += block.heading + ":\n";
    for (const std::string& line : block.lines) text += list_line(line, style);
  }
  return text;
}

}  // namespace

std::string as_sentence(std::string_view help) {
  std::string text(help);
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') text.front() -= 'a' - 'A';
  return text.ends_with('.') ? text : text + ".";
}

std::string typed_flag(const FlagRow& flag) {
  if (flag.names.empty()) return flag.value + (flag.repeats ? "..." : "");
  std::string text = join(flag.names, ", ");
  return flag.value.empty() ? text : text + " " + flag.value;
}

std::string help_of(const FlagRow& flag) {
  const bool is_said = flag.fallback.empty() || flag.help.find("default") != std::string::npos;
  return is_said ? flag.help : fmt::format("{} (default: {})", flag.help, flag.fallback);
}

int help_columns(const Console& console) {
  return console.is_terminal ? std::min(console.columns, kHelpColumns) : kHelpColumns;
}

std::string help_text(const CLI::App& command, const Console& console) {
  return write_help(command_table(command), help_columns(console));
}

std::string write_help(const CommandRow& command, int columns) {
  const TextStyle style{.width = columns};
  std::string text = hang("usage: ", usage(command), style) + "\n";
  text += hang("", as_sentence(command.help), style);
  std::vector<Titled> lists;
  if (!command.arguments.empty()) lists.push_back({"", argument_entries(command)});
  for (Titled& list : flag_lists(command)) lists.push_back(std::move(list));
  text += lists_text(command_lists(command), style);
  return text + lists_text(lists, style) + notes_text(command, style);
}

}  // namespace ncclog

#include "app/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "app/command_line.h"
#include "base/error.h"
#include "base/text.h"
#include "report/text_layout.h"

namespace ncclog {
namespace {

// What a help says, whatever it looks like.

/// What stands left and right in a list.
using Entry = std::pair<std::string, std::string>;

/// A list, lines as they are, or a paragraph.
struct HelpBlock {
  std::string heading;  ///< "Output"; empty: arguments, or a paragraph.
  std::vector<Entry> entries;
  std::vector<std::string> lines;  ///< Below the heading, as they are; or the paragraph's, joined.
};

/// Adds an entry under its heading; headings stand in the order in which they come first.
void add_entry(std::vector<HelpBlock>& blocks, const std::string& heading, Entry entry) {
  auto block = std::ranges::find(blocks, heading, &HelpBlock::heading);
  if (block == blocks.end()) block = blocks.insert(block, HelpBlock{.heading = heading});
  block->entries.push_back(std::move(entry));
}

/// Takes `notes` apart. A line that ends with ":" before indented ones is a heading; indented lines
/// stay as they are; neighbouring lines of a paragraph become one.
void add_notes(std::string_view notes, std::vector<HelpBlock>& blocks) {
  const std::vector<std::string_view> lines = split(notes, '\n');
  bool is_new = true;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    const bool is_heading =
        line.ends_with(':') && i + 1 < lines.size() && lines[i + 1].starts_with("  ");
    if (trim(line).empty()) {
      is_new = true;
    } else if (is_heading) {
      blocks.push_back({.heading = std::string(line.substr(0, line.size() - 1))});
    } else if (line.starts_with("  ")) {
      blocks.back().lines.emplace_back(line);
    } else if (std::exchange(is_new, false)) {
      blocks.push_back({.lines = {std::string(line)}});
    } else {
      blocks.back().lines.back() += " " + std::string(line);
    }
  }
}

/// The flag's help with its default, where that is known and not in it anyhow.
std::string help_of(const FlagRow& flag) {
  const bool is_said = flag.fallback.empty() || flag.help.find("default") != std::string::npos;
  return is_said ? flag.help : fmt::format("{} (default: {})", flag.help, flag.fallback);
}

/// All that stands below what a command does.
std::vector<HelpBlock> blocks_of(const CommandRow& command, Listed listed) {
  std::vector<HelpBlock> blocks;
  for (const CommandRow& below : command.commands) {
    if (below.task.empty() || (below.is_further && listed == Listed::First)) continue;
    add_entry(blocks, below.task, {std::string(last_word(below)), below.help});
  }
  for (const FlagRow& argument : command.arguments) {
    add_entry(blocks, "", {typed_flag(argument), help_of(argument)});
  }
  for (const FlagRow& flag : command.flags) {
    if (flag.is_hidden) continue;
    add_entry(blocks, flag.group, {typed_flag(flag), help_of(flag)});
  }
  add_notes(command.notes, blocks);
  return blocks;
}

/// "Says what …" with a capital and a full stop: a help line as a sentence.
std::string as_sentence(std::string_view help) {
  const std::string text = capitalised(std::string(help));
  return text.ends_with('.') ? text : text + ".";
}

// --help

/// One column for all lists of a text; a longer flag has its help on the next line.
int lead_width(const std::vector<HelpBlock>& blocks) {
  constexpr int kWidest = 26;
  int width = 0;
  for (const HelpBlock& block : blocks) {
    for (const auto& [left, right] : block.entries) {
      if (display_width(left) <= kWidest) width = std::max(width, display_width(left));
    }
  }
  return width;
}

std::string entry_text(const Entry& entry, int lead, const TextStyle& style) {
  const std::string margin = "  " + pad("", lead) + "  ";
  if (display_width(entry.first) > lead) {
    return "  " + entry.first + "\n" + hang(margin, entry.second, style);
  }
  return hang("  " + pad(entry.first, lead) + "  ", entry.second, style);
}

/// A line of a list stays as it is; one that is too long goes on under its second column.
std::string list_line(const std::string& line, const TextStyle& style) {
  const size_t word = line.find_first_not_of(' ');
  const size_t gap = word == std::string::npos ? word : line.find("  ", word);
  if (display_width(line) <= style.width || gap == std::string::npos) return line + "\n";
  const size_t column = line.find_first_not_of(' ', gap);
  return hang(line.substr(0, column), line.substr(column), style);
}

// Pages of Markdown

/// With what a line begins that does not go on with the paragraph above.
constexpr std::string_view kBlockMarks[] = {"#", "|", "- ", "    "};

std::string without_marks(std::string_view text) {
  std::string plain(text);
  for (size_t at; (at = plain.find("**")) != plain.npos;) plain.erase(at, 2);
  return plain;
}

/// "| a | b |" as its cells.
std::vector<std::string> cells_of(std::string_view row) {
  std::vector<std::string> cells;
  for (const std::string_view cell : split(row.substr(1, row.rfind('|') - 1), '|')) {
    cells.push_back(without_marks(trim(cell)));
  }
  return cells;
}

/// All cells but the last of a row in columns, the last one hung beside them. The second line of a
/// table only says that the first one is a heading.
std::string table_on_screen(std::span<const std::string_view> lines, const TextStyle& style) {
  std::vector<std::vector<std::string>> rows;
  std::vector<int> widths;
  for (const std::string_view line : lines) {
    if (line.starts_with("|--")) continue;
    rows.push_back(cells_of(line));
    widths.resize(std::max(widths.size(), rows.back().size()));
    for (size_t i = 0; i < rows.back().size(); ++i) {
      widths[i] = std::max(widths[i], display_width(rows.back()[i]));
    }
  }
  std::string out;
  for (const std::vector<std::string>& row : rows) {
    std::string lead = "  ";
    for (size_t i = 0; i + 1 < row.size(); ++i) lead += pad(row[i], widths[i]) + "  ";
    // A command is typed as it stands, so it is not broken.
    const bool is_long = display_width(lead) + display_width(row.back()) > style.width;
    if (is_long && row.back().starts_with('`')) {
      out += "  " + std::string(trim(lead)) + "\n    " + row.back() + "\n";
    } else {
      out += hang(lead, row.back(), style);
    }
  }
  return out;
}

// Man pages

/// A line of text that means itself in roff, where a leading dot would make a request.
std::string line(std::string_view text) {
  constexpr std::pair<char, std::string_view> kMarks[] = {
      {'\\', "\\e"}, {'-', "\\-"}, {'\'', "\\(aq"}, {'`', "\\(ga"}, {'^', "\\(ha"}, {'~', "\\(ti"}};
  std::string out(text.starts_with('.') ? "\\&" : "");
  for (const char c : text) {
    const auto mark = std::ranges::find(kMarks, c, &std::pair<char, std::string_view>::first);
    out += mark == std::end(kMarks) ? std::string_view(&c, 1) : mark->second;
  }
  return out + "\n";
}

std::string in_capitals(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c -= 'a' - 'A';
  }
  return text;
}

std::string section(const std::string& title) { return ".SH " + line(in_capitals(title)); }

/// What a command does and how it is typed, then its blocks: paragraphs and arguments, and with
/// `title` in front of their headings the others.
std::string command_text(const CommandRow& command, std::string (*title)(const std::string&)) {
  std::string out = ".B " + line(usage(command)) + ".PP\n" + line(as_sentence(command.help));
  const std::vector<HelpBlock> blocks = blocks_of(command, Listed::All);
  for (const bool is_headed : {false, true}) {
    for (const HelpBlock& block : blocks) {
      const bool is_below = title != section;
      if (block.heading.empty() == is_headed || (is_below && block.heading == kGeneralFlags))
        continue;
      if (is_headed) out += title(block.heading);
      for (const auto& [left, right] : block.entries) {
        out += ".TP\n.B " + line(left) + line(as_sentence(right));
      }
      if (block.lines.empty()) continue;
      out += is_headed ? ".nf\n" : ".PP\n";
      for (const std::string& text : block.lines) out += line(text);
      if (is_headed) out += ".fi\n";
    }
  }
  return out;
}

ManPage man_page(const CommandRow& root, const CommandRow& command, std::string_view version,
                 std::string_view day) {
  const std::string name = command.path.empty() ? "ncclog" : "ncclog-" + command.path;
  std::string out = fmt::format(".TH \"{}\" 1 \"{}\" \"ncclog {}\" \"User Commands\"\n",
                                in_capitals(name), day, version) +
                    section("Name") + line(fmt::format("{} - {}", name, command.help)) +
                    section("Synopsis") + command_text(command, section);
  if (command.path.empty()) {
    out += text_of("man_sections.roff").value_or("");
  } else {
    for (const CommandRow& below : command.commands) {
      out += section(typed_name(below)) + command_text(below, [](const std::string& heading) {
               return ".PP\n" + line(heading + ":");
             });
    }
  }
  std::vector<std::string> others;
  if (!command.path.empty()) others.emplace_back(".BR ncclog (1)");
  for (const CommandRow& other : root.commands) {
    if (other.path != command.path && !other.task.empty()) {
      others.push_back(fmt::format(".BR ncclog\\-{} (1)", other.path));
    }
  }
  return {name, out + section("See also") + join(others, ",\n") + "\n"};
}

// Completions

/// The flag of that name that takes a value.
const FlagRow* flag_with_value(const CommandRow& command, std::string_view name) {
  for (const FlagRow& flag : command.flags) {
    const bool is_named = std::ranges::find(flag.names, name) != flag.names.end();
    if (is_named && !flag.value.empty()) return &flag;
  }
  return nullptr;
}

std::string offered_commands(const CommandRow& above) {
  std::string out;
  for (const CommandRow& command : above.commands) {
    if (command.task.empty()) continue;
    out += std::string(last_word(command)) + "\t" + command.help + "\n";
  }
  return out;
}

std::string offered_flags(const CommandRow& command) {
  std::string out;
  for (const FlagRow& flag : command.flags) {
    if (flag.is_hidden) continue;
    for (const std::string& name : flag.names) out += name + "\t" + flag.help + "\n";
  }
  return out;
}

/// "op,rank", "op,size", … where "op,r" is typed: no word twice.
std::string offered_words(const std::vector<std::string>& words, std::string_view typed) {
  const std::string_view before = typed.substr(0, typed.rfind(',') + 1);
  const std::vector<std::string_view> listed = split(before, ',');
  std::string out;
  for (const std::string& word : words) {
    if (std::ranges::find(listed, word) != listed.end()) continue;
    out += std::string(before) + word + "\n";
  }
  return out + ":more\n";
}

std::string offered_values(const CommandRow& root, const FlagRow& flag, std::string_view typed) {
  if (flag.value == "COMMAND") return offered_commands(root);
  const std::vector<std::string> words = value_words(flag);
  if (flag.value.find(',') != std::string::npos) return offered_words(words, typed);
  std::string out;
  for (const std::string& word : words) out += word + "\n";
  const std::string& value = flag.value;
  if (value == "PATH" || value == "FILE" || value == "PROFILE") out += ":files\n";
  return value == "DIR" || value == "FOLDER" ? out + ":folders\n" : out;
}

// ncclog help [COMMAND…], ncclog man [COMMAND], ncclog completion SHELL

struct PagesOptions {
  std::vector<std::string> words;  ///< Of a command, "rules", "new"; empty: of ncclog itself.
  std::string shell;
  std::string folder;  ///< For all man pages; empty: one is printed.
};

const CommandRow& wanted_command(const CommandRow& root, const std::string& path) {
  if (const CommandRow* command = find_command(root, path)) return *command;
  std::vector<std::string_view> names;
  for (const CommandRow* command : all_commands(root)) names.push_back(command->path);
  for (const EmbeddedFile& page : help_pages()) names.push_back(topic_of(page));
  const auto is_about_it = [&](const EmbeddedFile& page) {
    const std::string title = lower_case(page.text.substr(0, page.text.find('\n')));
    return !path.empty() && title.find(lower_case(path)) != title.npos;
  };
  std::vector<std::string_view> topics;
  for (const EmbeddedFile& page : help_pages()) topics.push_back(topic_of(page));
  const auto page = std::ranges::find_if(help_pages(), is_about_it);
  const std::string otherwise =
      page != help_pages().end()
          ? fmt::format("'ncclog help {}' tells of that", topic_of(*page))
          : fmt::format("topics are {}; 'ncclog help all' lists the commands",
                        fmt::join(topics, ", "));
  throw Error(fmt::format("unknown command or topic '{}'", printable(path)), "",
              hint_for(path, names, otherwise));
}

ExitStatus print_help(const PagesOptions& options, Console& console) {
  const std::string wanted = join(options.words, " ");
  for (const EmbeddedFile& page : help_pages()) {
    if (topic_of(page) != wanted) continue;
    console.out += page_on_screen(page.text, help_columns(console));
    return ExitStatus::Fine;
  }
  const CommandRow table = declared_commands();
  if (wanted == kAllCommands) {
    console.out += write_help(table, help_columns(console), Listed::All);
    return ExitStatus::Fine;
  }
  console.out += write_help(wanted_command(table, wanted), help_columns(console));
  return ExitStatus::Fine;
}

ExitStatus print_man(const PagesOptions& options, Console& console) {
  const CommandRow table = declared_commands();
  const std::vector<ManPage> pages = write_man_pages(table, version(), version_day());
  if (!options.folder.empty()) {
    for (const ManPage& page : pages) {
      write_output_file(options.folder + "/" + page.name + ".1", page.text);
    }
    return ExitStatus::Fine;
  }
  const std::string path = join(options.words, " ");
  wanted_command(table, path);
  // A command below another one stands on that one's page.
  const std::string name = path.empty() ? "ncclog" : "ncclog-" + options.words.front();
  for (const ManPage& page : pages) {
    if (page.name == name) console.out += page.text;
  }
  return ExitStatus::Fine;
}

ExitStatus print_completion(const PagesOptions& options, Console& console) {
  const auto script = text_of("ncclog." + options.shell);
  if (!script) {
    const bool is_named = !options.shell.empty();
    throw Error(is_named ? fmt::format("unknown shell '{}'", printable(options.shell))
                         : std::string("no shell named"),
                "completion", "one of: bash, zsh, fish");
  }
  console.out += *script;
  return ExitStatus::Fine;
}

}  // namespace

std::string_view topic_of(const EmbeddedFile& page) {
  return page.path.substr(0, page.path.rfind('.'));
}

std::string typed_flag(const FlagRow& flag) {
  if (flag.names.empty()) return flag.value + (flag.repeats ? "..." : "");
  std::string text = join(flag.names, ", ");
  return flag.value.empty() ? text : text + " " + flag.value;
}

std::optional<std::string_view> text_of(std::string_view name) {
  const auto found = std::ranges::find(help_texts(), name, &EmbeddedFile::path);
  return found == help_texts().end() ? std::nullopt : std::optional(found->text);
}

int help_columns(const Console& console) {
  return console.is_terminal ? std::min(console.columns, kHelpColumns) : kHelpColumns;
}

std::string write_help(const CommandRow& command, int columns, Listed listed) {
  const TextStyle style{.width = columns};
  std::string text = hang("usage: ", usage(command), style) + "\n";
  text += hang("", as_sentence(command.help), style);
  const std::vector<HelpBlock> blocks = blocks_of(command, listed);
  const int lead = lead_width(blocks);
  for (const HelpBlock& block : blocks) {
    text += block.heading.empty() ? "\n" : "\n" + block.heading + ":\n";
    for (const Entry& entry : block.entries) text += entry_text(entry, lead, style);
    for (const std::string& line : block.lines) {
      text += block.heading.empty() ? hang("", line, style) : list_line(line, style);
    }
  }
  return text;
}

std::string page_on_screen(std::string_view markdown, int columns) {
  const TextStyle style{.width = columns};
  while (markdown.ends_with('\n')) markdown.remove_suffix(1);
  const std::vector<std::string_view> lines = split(markdown, '\n');
  std::string out;
  const auto is_prose = [](std::string_view line) {
    return !line.empty() && !starts_with_one_of(line, kBlockMarks);
  };
  for (size_t i = 0; i < lines.size();) {
    const std::string_view line = lines[i];
    size_t end = i + 1;
    if (line.starts_with("|")) {
      while (end < lines.size() && lines[end].starts_with("|")) ++end;
      out += table_on_screen(std::span(lines).subspan(i, end - i), style);
    } else if (line.starts_with("#")) {
      out += std::string(trim(line.substr(line.find(' ')))) + "\n";
    } else if (line.starts_with("    ") || line.empty()) {
      out += std::string(line) + "\n";
    } else {
      const bool is_point = line.starts_with("- ");
      std::string text(trim(is_point ? line.substr(2) : line));
      while (end < lines.size() && is_prose(lines[end]))
        text += " " + std::string(trim(lines[end++]));
      out += hang(is_point ? "- " : "", without_marks(text), style);
    }
    i = end;
  }
  return out;
}

std::vector<ManPage> write_man_pages(const CommandRow& root, std::string_view version,
                                     std::string_view day) {
  std::vector<ManPage> pages = {man_page(root, root, version, day)};
  for (const CommandRow& command : root.commands) {
    if (command.task.empty()) continue;
    pages.push_back(man_page(root, command, version, day));
  }
  return pages;
}

std::string completions(const CommandRow& root, std::span<const std::string> words) {
  if (words.empty()) return offered_commands(root);
  // What the words before the cursor come to.
  const CommandRow* command = &root;
  const FlagRow* flag = nullptr;  // Waits for its value; nullptr: none does.
  size_t place = 0;               // How many arguments stand there.
  for (const std::string& word : words.first(words.size() - 1)) {
    const auto below = std::ranges::find(command->commands, word, last_word);
    if (flag != nullptr) {
      flag = nullptr;  // This word is its value.
    } else if (word.size() > 1 && word.starts_with('-')) {
      flag = flag_with_value(*command, word);  // "--format=json" waits for nothing.
    } else if (below != command->commands.end()) {
      command = &*below;
    } else {
      ++place;
    }
  }
  const std::string_view word = words.back();
  if (flag != nullptr) return offered_values(root, *flag, word);
  if (const size_t equals = word.find('='); word.starts_with("--") && equals != word.npos) {
    flag = flag_with_value(*command, word.substr(0, equals));
    return flag == nullptr ? "" : offered_values(root, *flag, word.substr(equals + 1));
  }
  if (word.starts_with('-')) return offered_flags(*command);
  if (!command->commands.empty()) return offered_commands(*command);
  const auto& arguments = command->arguments;
  if (place < arguments.size()) return offered_values(root, arguments[place], word);
  const bool goes_on = !arguments.empty() && arguments.back().repeats;
  return goes_on ? offered_values(root, arguments.back(), word) : "";
}

void declare_help(CommandRow& command) {
  PagesOptions& options = options_of(command, print_help);
  add_argument(command, "COMMAND", options.words,
               "a command, such as analyze or rules new, or a topic");
}

void declare_man(CommandRow& command) {
  PagesOptions& options = options_of(command, print_man);
  add_argument(command, "COMMAND", options.words, "a command; without: the page of ncclog itself");
  add_flag(command, kFurtherFlags, "--into DIR", options.folder,
           "write all pages into this folder, which must exist");
}

void declare_completion(CommandRow& command) {
  PagesOptions& options = options_of(command, print_completion);
  add_argument(command, "bash|zsh|fish", options.shell, "the shell that is to complete");
}

}  // namespace ncclog

#include "app/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "report/text_layout.h"

namespace ncclog {
namespace {

// --help

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

/// Titles of flags in the order in which they come first.
std::vector<std::string> flag_groups(const CommandRow& command) {
  std::vector<std::string> groups;
  for (const FlagRow& flag : command.flags) {
    const bool known = std::find(groups.begin(), groups.end(), flag.group) != groups.end();
    if (!known) groups.push_back(flag.group);
  }
  return groups;
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
    auto list = std::find_if(lists.begin(), lists.end(),
                             [&](const Titled& known) { return known.title == below.task; });
    if (list == lists.end()) list = lists.insert(lists.end(), Titled{below.task, {}});
    list->entries.emplace_back(last_word(below), below.help);
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

bool is_heading(std::span<const std::string_view> lines, size_t at) {
  return lines[at].ends_with(':') && at + 1 < lines.size() && lines[at + 1].starts_with("  ");
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

std::vector<NoteBlock> note_blocks(std::string_view notes) {
  const std::vector<std::string_view> lines = split(notes, '\n');
  std::vector<NoteBlock> blocks;
  bool is_new = true;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    if (trim(line).empty()) {
      is_new = true;
    } else if (is_heading(lines, i)) {
      blocks.push_back({.heading = std::string(line.substr(0, line.size() - 1))});
      is_new = false;
    } else if (line.starts_with("  ")) {
      if (blocks.empty()) blocks.emplace_back();
      blocks.back().lines.emplace_back(line);
    } else if (is_new || !blocks.back().heading.empty()) {
      blocks.push_back({.lines = {std::string(line)}});
      is_new = false;
    } else {
      blocks.back().lines.back() += " " + std::string(line);
    }
  }
  return blocks;
}

std::string_view topic_of(const EmbeddedFile& page) {
  return page.path.substr(0, page.path.rfind('.'));
}

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

namespace {

/// The file of src/app/texts; nullopt: none is called so.
std::optional<std::string_view> text_of(std::string_view name) {
  for (const EmbeddedFile& file : shell_and_man_texts()) {
    if (file.path == name) return file.text;
  }
  return std::nullopt;
}

// Man pages

/// Text that means itself in roff, in the middle of a line.
std::string literal(std::string_view text) {
  constexpr std::pair<char, std::string_view> kMarks[] = {
      {'\\', "\\e"}, {'-', "\\-"}, {'\'', "\\(aq"}, {'`', "\\(ga"}, {'^', "\\(ha"}, {'~', "\\(ti"}};
  std::string out;
  for (const char c : text) {
    const auto mark = std::find_if(std::begin(kMarks), std::end(kMarks),
                                   [c](const auto& each) { return each.first == c; });
    out += mark == std::end(kMarks) ? std::string_view(&c, 1) : mark->second;
  }
  return out;
}

/// The same as a line of its own, which a leading dot would make a request.
std::string line(std::string_view text) {
  const std::string out = literal(text);
  return (out.starts_with('.') ? "\\&" : "") + out + "\n";
}

std::string in_quotes(std::string_view text) {
  std::string out;
  for (const char c : literal(text)) out += c == '"' ? std::string("\\(dq") : std::string(1, c);
  return '"' + out + '"';
}

std::string in_capitals(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c -= 'a' - 'A';
  }
  return text;
}

std::string section(std::string_view title) {
  return ".SH " + in_quotes(in_capitals(std::string(title))) + "\n";
}

/// Lines as they are, in a fixed font.
std::string example(const std::vector<std::string>& lines) {
  std::string out = ".PP\n.nf\n";
  for (const std::string& text : lines) out += line(text);
  return out + ".fi\n";
}

/// "\fB\-\-format\fR \fItext|json\fR".
std::string bold_flag(const FlagRow& flag) {
  std::string out;
  for (const std::string& name : flag.names) {
    out += (out.empty() ? "" : ", ") + fmt::format("\\fB{}\\fR", literal(name));
  }
  if (flag.value.empty()) return out;
  return out + (out.empty() ? "" : " ") +
         fmt::format("\\fI{}\\fR{}", literal(flag.value),
                     flag.names.empty() && flag.repeats ? "..." : "");
}

std::string entry(const std::string& lead, std::string_view help) {
  return ".TP\n" + lead + "\n" + line(as_sentence(help));
}

std::string synopsis(const CommandRow& command) {
  std::string out = fmt::format(".PP\n\\fB{}\\fR", literal(typed_name(command)));
  if (!command.commands.empty()) out += " \\fICOMMAND\\fR";
  out += " [\\fIFLAG\\fR...]";
  for (const FlagRow& argument : command.arguments) out += " " + bold_flag(argument);
  return out + "\n";
}

std::string arguments_text(const CommandRow& command) {
  std::string out;
  for (const FlagRow& argument : command.arguments) {
    out += entry(bold_flag(argument), help_of(argument));
  }
  return out;
}

/// Flags under their groups' titles, as subsections.
std::string flags_text(const CommandRow& command) {
  std::string out;
  for (const std::string& group : flag_groups(command)) {
    out += ".SS " + in_quotes(group) + "\n";
    for (const FlagRow& flag : command.flags) {
      if (flag.group == group) out += entry(bold_flag(flag), help_of(flag));
    }
  }
  return out;
}

std::string commands_text(const CommandRow& command) {
  std::string out;
  for (const CommandRow& below : command.commands) {
    const std::string page = command.path.empty() ? "ncclog-" + below.path : "";
    const std::string name = page.empty() ? fmt::format("\\fB{}\\fR", literal(typed_name(below)))
                                          : fmt::format("\\fB{}\\fR(1)", literal(page));
    out += entry(name, below.help);
  }
  return out;
}

constexpr std::string_view kExitStatus = "Exit status: ";

/// Paragraphs; those on the exit status are not among them.
std::string paragraphs(const CommandRow& command) {
  std::string out;
  for (const NoteBlock& block : note_blocks(command.notes)) {
    if (!block.heading.empty() || block.lines.front().starts_with(kExitStatus)) continue;
    out += ".PP\n" + line(block.lines.front());
  }
  return out;
}

std::string exit_status_text(const CommandRow& command) {
  for (const NoteBlock& block : note_blocks(command.notes)) {
    if (block.heading.empty() && block.lines.front().starts_with(kExitStatus)) {
      return line(as_sentence(block.lines.front().substr(kExitStatus.size())));
    }
  }
  return line(
      "0 done; 2 could not do what was asked, and standard error says why; 3 done, but part "
      "of the input was unreadable or cut. ncclog(1) has all of them.");
}

std::string headed_blocks(const CommandRow& command) {
  std::string out;
  for (const NoteBlock& block : note_blocks(command.notes)) {
    if (!block.heading.empty()) out += section(block.heading) + example(block.lines);
  }
  return out;
}

/// Commands below a page's command, each a subsection.
std::string nested_commands(const CommandRow& command) {
  std::string out;
  for (const CommandRow& below : command.commands) {
    out += ".SS " + in_quotes(typed_name(below)) + "\n" + synopsis(below) + ".PP\n" +
           line(as_sentence(below.help)) + arguments_text(below);
    for (const FlagRow& flag : below.flags) {
      if (flag.group != kGeneralFlags) out += entry(bold_flag(flag), help_of(flag));
    }
    out += paragraphs(below);
  }
  return out.empty() ? out : section("Commands") + out;
}

std::string heading(const std::string& name, std::string_view help, std::string_view version,
                    std::string_view day) {
  return fmt::format(".TH \"{}\" 1 \"{}\" \"ncclog {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n",
                     in_capitals(name), day, version, literal(name), literal(help));
}

/// A section starts a paragraph by itself; mandoc minds another.
std::string without_double_starts(std::string_view page) {
  constexpr std::string_view kParagraph = ".PP";
  std::string out;
  bool is_after_heading = false;
  for (const std::string_view text : split(page, '\n')) {
    if (is_after_heading && text == kParagraph) continue;
    is_after_heading = text.starts_with(".SH") || text.starts_with(".SS");
    out += std::string(text) + "\n";
  }
  out.pop_back();  // The last line ends with a newline of its own.
  return out;
}

std::string see_also(const CommandRow& root, const CommandRow& own) {
  std::string out;
  if (!own.path.empty()) out += ".BR ncclog (1)";
  for (const CommandRow& command : root.commands) {
    if (command.path == own.path) continue;
    out += fmt::format("{}.BR {} (1)", out.empty() ? "" : ",\n", literal("ncclog-" + command.path));
  }
  return section("See also") + out + "\n";
}

std::string page_text(const CommandRow& root, const CommandRow& command) {
  std::string out = section("Synopsis") + synopsis(command) + section("Description") + ".PP\n" +
                    line(as_sentence(command.help)) + arguments_text(command) + paragraphs(command);
  out += command.path.empty() ? section("Commands") + commands_text(command)
                              : nested_commands(command);
  out += section("Options") + flags_text(command);
  return out + headed_blocks(command) +
         (command.path.empty() ? std::string(text_of("man_sections.roff").value_or(""))
                               : section("Exit status") + exit_status_text(command)) +
         see_also(root, command);
}

}  // namespace

std::vector<ManPage> write_man_pages(const CommandRow& root, std::string_view version,
                                     std::string_view day) {
  std::vector<ManPage> pages;
  const auto add = [&](const CommandRow& command) {
    const std::string name = command.path.empty() ? "ncclog" : "ncclog-" + command.path;
    pages.push_back({name, without_double_starts(heading(name, command.help, version, day) +
                                                 page_text(root, command))});
  };
  add(root);
  for (const CommandRow& command : root.commands) add(command);
  return pages;
}

namespace {

// Completions

/// What the words before the cursor came to.
struct Typed {
  const CommandRow* command = nullptr;  ///< Never nullptr.
  const FlagRow* flag = nullptr;        ///< Waits for its value; nullptr: none does.
  size_t place = 0;                     ///< How many arguments stand there.
};

const CommandRow* command_below(const CommandRow& command, std::string_view word) {
  for (const CommandRow& below : command.commands) {
    if (last_word(below) == word) return &below;
  }
  return nullptr;
}

/// The flag of that name that takes a value.
const FlagRow* flag_with_value(const CommandRow& command, std::string_view name) {
  for (const FlagRow& flag : command.flags) {
    const bool is_named = std::find(flag.names.begin(), flag.names.end(), name) != flag.names.end();
    if (is_named && !flag.value.empty()) return &flag;
  }
  return nullptr;
}

Typed typed_before(const CommandRow& root, std::span<const std::string> words) {
  Typed typed{.command = &root};
  for (const std::string& word : words) {
    if (typed.flag != nullptr) {
      typed.flag = nullptr;  // This word is its value.
    } else if (word.size() > 1 && word.starts_with('-')) {
      typed.flag = flag_with_value(*typed.command, word);  // "--format=json" waits for nothing.
    } else if (const CommandRow* below = command_below(*typed.command, word)) {
      typed.command = below;
    } else {
      ++typed.place;
    }
  }
  return typed;
}

std::string offered_commands(const CommandRow& above) {
  std::string out;
  for (const CommandRow& command : above.commands) {
    out += last_word(command) + "\t" + command.help + "\n";
  }
  return out;
}

std::string offered_flags(const CommandRow& command) {
  std::string out;
  for (const FlagRow& flag : command.flags) {
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
    if (std::find(listed.begin(), listed.end(), word) != listed.end()) continue;
    out += std::string(before) + word + "\n";
  }
  return out + ":more\n";
}

std::string offered_values(const CommandRow& root, const FlagRow& flag, std::string_view typed) {
  const std::vector<std::string> words = value_words(flag);
  switch (argument_kind(flag)) {
    case ArgumentKind::WordList:
      return offered_words(words, typed);
    case ArgumentKind::File:
      return ":files\n";
    case ArgumentKind::Folder:
      return ":folders\n";
    case ArgumentKind::Command:
      return offered_commands(root);
    case ArgumentKind::Profile:
      return join(words, "\n") + "\n:files\n";
    case ArgumentKind::Word:
    case ArgumentKind::Rule:
    case ArgumentKind::Table:
      return join(words, "\n") + "\n";
    case ArgumentKind::None:
    case ArgumentKind::Text:
      return "";
  }
  return "";
}

/// Of the argument at that place: the last one may be one that repeats.
const FlagRow* argument_at(const CommandRow& command, size_t place) {
  const auto& arguments = command.arguments;
  if (place < arguments.size()) return &arguments[place];
  return !arguments.empty() && arguments.back().repeats ? &arguments.back() : nullptr;
}

}  // namespace

std::string completions(const CommandRow& root, std::span<const std::string> words) {
  if (words.empty()) return offered_commands(root);
  const std::string_view word = words.back();
  const Typed typed = typed_before(root, words.first(words.size() - 1));
  if (typed.flag != nullptr) return offered_values(root, *typed.flag, word);
  if (const size_t equals = word.find('='); word.starts_with("--") && equals != word.npos) {
    const FlagRow* flag = flag_with_value(*typed.command, word.substr(0, equals));
    return flag == nullptr ? "" : offered_values(root, *flag, word.substr(equals + 1));
  }
  if (word.starts_with('-')) return offered_flags(*typed.command);
  if (!typed.command->commands.empty()) return offered_commands(*typed.command);
  const FlagRow* argument = argument_at(*typed.command, typed.place);
  return argument == nullptr ? "" : offered_values(root, *argument, word);
}

std::optional<std::string_view> completion_script(std::string_view shell) {
  return text_of("ncclog." + std::string(shell));
}

}  // namespace ncclog

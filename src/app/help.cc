#include "app/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <utility>

#include "app/command_line.h"
#include "base/error.h"
#include "base/text.h"
#include "base/version.h"
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

/// Adds an entry under its title; titles stand in the order in which they come first.
void add_entry(std::vector<Titled>& lists, const std::string& title, Entry entry) {
  auto list = std::ranges::find(lists, title, &Titled::title);
  if (list == lists.end()) list = lists.insert(list, Titled{title, {}});
  list->entries.push_back(std::move(entry));
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

std::vector<NoteBlock> note_blocks(std::string_view notes) {
  const std::vector<std::string_view> lines = split(notes, '\n');
  std::vector<NoteBlock> blocks;
  bool is_new = true;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    if (trim(line).empty()) {
      is_new = true;
    } else if (line.ends_with(':') && i + 1 < lines.size() && lines[i + 1].starts_with("  ")) {
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

std::optional<std::string_view> text_of(std::string_view name) {
  for (const EmbeddedFile& file : help_texts()) {
    if (file.path == name) return file.text;
  }
  return std::nullopt;
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
  std::vector<Titled> commands;
  std::vector<Titled> lists;
  for (const CommandRow& below : command.commands) {
    add_entry(commands, below.task, {last_word(below), below.help});
  }
  for (const FlagRow& argument : command.arguments) {
    add_entry(lists, "", {typed_flag(argument), help_of(argument)});
  }
  for (const FlagRow& flag : command.flags) {
    add_entry(lists, flag.group, {typed_flag(flag), help_of(flag)});
  }
  return text + lists_text(commands, style) + lists_text(lists, style) + notes_text(command, style);
}

namespace {

// Man pages

/// Text that means itself in roff, in the middle of a line.
std::string literal(std::string_view text) {
  constexpr std::pair<char, std::string_view> kMarks[] = {
      {'\\', "\\e"}, {'-', "\\-"}, {'\'', "\\(aq"}, {'`', "\\(ga"}, {'^', "\\(ha"}, {'~', "\\(ti"}};
  std::string out;
  for (const char c : text) {
    const auto mark =
        std::ranges::find_if(kMarks, [c](const auto& each) { return each.first == c; });
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
  std::vector<Titled> groups;
  for (const FlagRow& flag : command.flags) {
    add_entry(groups, flag.group, {bold_flag(flag), help_of(flag)});
  }
  std::string out;
  for (const auto& [title, entries] : groups) {
    out += ".SS " + in_quotes(title) + "\n";
    for (const auto& [lead, help] : entries) out += entry(lead, help);
  }
  return out;
}

/// What a command's notes say, by where it stands on a page.
struct NoteTexts {
  std::string paragraphs;
  std::string exit_status;
  std::string headed;
};

NoteTexts note_texts(const CommandRow& command) {
  constexpr std::string_view kExitStatus = "Exit status: ";
  NoteTexts texts;
  texts.exit_status = line(
      "0 done; 2 could not do what was asked, and standard error says why; 3 done, but part "
      "of the input was unreadable or cut. ncclog(1) has all of them.");
  for (const NoteBlock& block : note_blocks(command.notes)) {
    if (!block.heading.empty()) {
      texts.headed += section(block.heading) + example(block.lines);
      continue;
    }
    const std::string_view first = block.lines.front();
    if (first.starts_with(kExitStatus)) {
      texts.exit_status = line(as_sentence(first.substr(kExitStatus.size())));
    } else {
      texts.paragraphs += ".PP\n" + line(first);
    }
  }
  return texts;
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
    out += note_texts(below).paragraphs;
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
  const NoteTexts notes = note_texts(command);
  const bool is_root = command.path.empty();
  std::string out = section("Synopsis") + synopsis(command) + section("Description") + ".PP\n" +
                    line(as_sentence(command.help)) + arguments_text(command) + notes.paragraphs;
  if (is_root) out += section("Commands");
  for (const CommandRow& below : root.commands) {
    const std::string page = literal("ncclog-" + below.path);
    if (is_root) out += entry(fmt::format("\\fB{}\\fR(1)", page), below.help);
  }
  if (!is_root) out += nested_commands(command);
  out += section("Options") + flags_text(command) + notes.headed;
  out += is_root ? std::string(text_of("man_sections.roff").value_or(""))
                 : section("Exit status") + notes.exit_status;
  return out + see_also(root, command);
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
    const bool is_named = std::ranges::find(flag.names, name) != flag.names.end();
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
    if (std::ranges::find(listed, word) != listed.end()) continue;
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

// ncclog help [COMMAND…], ncclog man [COMMAND], ncclog completion SHELL
namespace {

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
  const auto nearest = nearest_name(path, names);
  throw Error(
      fmt::format("unknown command '{}'", printable(path)), "",
      nearest ? fmt::format("did you mean '{}'?", *nearest) : "'ncclog --help' lists the commands");
}

ExitStatus print_help(const PagesOptions& options, Console& console) {
  const std::string wanted = join(options.words, " ");
  for (const EmbeddedFile& page : help_pages()) {
    if (topic_of(page) != wanted) continue;
    console.out += page.text;
    return ExitStatus::Fine;
  }
  const CommandRow table = declared_commands();
  console.out += write_help(wanted_command(table, wanted), help_columns(console));
  return ExitStatus::Fine;
}

ExitStatus print_man(const PagesOptions& options, Console& console) {
  const CommandRow table = declared_commands();
  const std::vector<ManPage> pages = write_man_pages(table, version(), version_day());
  if (!options.folder.empty()) {
    for (const ManPage& page : pages) {
      const std::filesystem::path path = std::filesystem::path(options.folder) / (page.name + ".1");
      std::ofstream file(path, std::ios::binary);
      file << page.text;
      if (!file.flush()) throw Error("cannot write", path.string(), "is the folder there?");
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

void declare_help(CommandRow& command) {
  const auto options = std::make_shared<PagesOptions>();
  add_argument(command, "COMMAND", options->words,
               "a command, such as analyze or rules new, or a topic");
  command.run = [options](Console& console) { return print_help(*options, console); };
}

void declare_man(CommandRow& command) {
  const auto options = std::make_shared<PagesOptions>();
  add_argument(command, "COMMAND", options->words, "a command; without: the page of ncclog itself");
  add_flag(command, kFurtherFlags, "--into DIR", options->folder,
           "write all pages into this folder, which must exist");
  command.run = [options](Console& console) { return print_man(*options, console); };
}

void declare_completion(CommandRow& command) {
  const auto options = std::make_shared<PagesOptions>();
  add_argument(command, "bash|zsh|fish", options->shell, "the shell that is to complete");
  command.run = [options](Console& console) { return print_completion(*options, console); };
}

}  // namespace ncclog

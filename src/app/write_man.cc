#include "app/write_man.h"

#include <fmt/format.h>

#include "app/write_help.h"
#include "base/text.h"

namespace ncclog {
namespace {

/// Text that means itself in roff, in the middle of a line.
std::string literal(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'') {
      out += "\\(aq";
    } else if (c == '`') {
      out += "\\(ga";
    } else if (c == '^') {
      out += "\\(ha";
    } else if (c == '~') {
      out += "\\(ti";
    } else {
      out += c;
    }
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

std::string section(std::string title) {
  for (char& c : title) {
    if (c >= 'a' && c <= 'z') c -= 'a' - 'A';
  }
  return ".SH " + in_quotes(title) + "\n";
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
  std::string title = name;
  for (char& c : title) {
    if (c >= 'a' && c <= 'z') c -= 'a' - 'A';
  }
  return fmt::format(".TH \"{}\" 1 \"{}\" \"ncclog {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n",
                     title, day, version, literal(name), literal(help));
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

constexpr std::string_view kRootSections = R"(.SH "EXIT STATUS"
.TP
0
Done, and nothing at or above what \fB\-\-fail\-on\fR names.
.TP
1
Done, with findings at or above it, or with the difference or fault that the command looks for.
.TP
2
What was asked could not be done; standard error says why.
.TP
3
Done, but part of the input was unreadable or cut.
.PP
A reader that goes away, as in
.BR "ncclog show ranks logs | head" ,
changes nothing in the exit status and is no error.
Standard output that cannot be written, because the disk is full, is one.
.SH ENVIRONMENT
.TP
.B NCCLOG_CONFIG
The configuration file; empty: none.
.TP
.B XDG_CONFIG_HOME
Where the configuration file is looked for otherwise: ncclog/config.toml below it, or below ~/.config.
.TP
.B NO_COLOR
If it is set and not empty, nothing is coloured unless \fB\-\-color always\fR is given.
.TP
.B COLUMNS
The width of the terminal.
.TP
.B SOURCE_DATE_EPOCH
Seconds since 1970, taken for today where overlays end on a day.
.SH FILES
.TP
.I ~/.config/ncclog/config.toml
Values of flags, by name.
In the section of a command they are for that command, above all sections for every command that has such a flag:
.PP
.nf
    threads = 4
    color = "never"

    [analyze]
    fail\-on = "warning"
    rules = ["/etc/ncclog/site\-rules"]
.fi
.PP
The command line goes before it, and \fB\-\-show\-config\fR tells what is in force.
)";

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
         (command.path.empty() ? std::string(kRootSections)
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

}  // namespace ncclog

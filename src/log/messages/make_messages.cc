// Makes C++ of the message files when the project is built.
//
//   ncclog_make_messages messages.h messages.cc lifecycle.messages bootstrap.messages …
//
// messages.h has a struct for each kind that is `typed`, messages.cc the one table of all kinds as
// constants; their wordings are entered by their first words when the first line is read. Typed
// kinds come first, so that a kind that no code asks for by type changes no header.

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "base/posix.h"
#include "log/wording/message_file.h"
#include "log/wording/other_programs.h"

namespace ncclog {
namespace {

/// "comm_init" → "CommInit"
std::string struct_name(std::string_view kind) {
  std::string name;
  bool is_start = true;
  for (const char c : kind) {
    const bool is_small = c >= 'a' && c <= 'z';
    if (c != '_') name += is_start && is_small ? static_cast<char>(c - 'a' + 'A') : c;
    is_start = c == '_';
  }
  return name;
}

/// A C++ literal of any bytes.
std::string literal(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (c < ' ' || c > '~') {
      result += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    } else {
      result += c;
    }
  }
  return result + '"';
}

/// A string_view of that literal, whose length the compiler need not count.
std::string view(std::string_view text) {
  return text.empty() ? "{}" : fmt::format("{{{}, {}}}", literal(text), text.size());
}

std::string member_type(const FieldText& field) {
  if (field.type == FieldType::Text) return "std::string_view";
  if (field.type == FieldType::Hex) return "Hex";
  return field.wide ? "int64_t" : "int";
}

/// The field's name; errno is a macro.
std::string member_name(const FieldText& field) {
  return field.name == "errno" ? "error_number" : field.name;
}

void write_comment(std::string& out, std::string_view text, std::string_view indent) {
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    out += fmt::format("{}/// {}\n", indent, text.substr(begin, end - begin));
    begin = end + 1;
  }
}

void write_struct(std::string& out, const KindText& kind) {
  constexpr std::string_view kTypes[] = {"Text", "Integer", "Hex"};  // By FieldType.
  const std::string name = struct_name(kind.name);
  out += '\n';
  write_comment(out, kind.meaning, "");
  out += fmt::format("struct {} {{\n", name);
  for (const FieldText& field : kind.fields) {
    write_comment(out, field.meaning, "  ");
    const std::string_view value = field.type == FieldType::Integer ? " = -1" : "";
    out += fmt::format("  {} {}{};\n", member_type(field), member_name(field), value);
  }
  out += "};\ntemplate <>\n";
  out += fmt::format("inline constexpr std::array<FieldPlace, {}> kFieldPlaces<{}> = {{{{\n",
                     kind.fields.size(), name);
  for (const FieldText& field : kind.fields) {
    out += fmt::format("    FieldPlace{{offsetof({}, {}), FieldType::{}, {}}},\n", name,
                       member_name(field), kTypes[static_cast<size_t>(field.type)], field.wide);
  }
  out += "}};\n";
}

/// `kinds`: all of them, the typed ones first.
std::string header_of(const std::vector<KindText>& kinds) {
  std::string out = R"(// Made of src/log/messages/ by the build.

#pragma once

#include <cstddef>
#include <string_view>

#include "log/known_messages.h"

namespace ncclog {
)";
  for (const KindText& kind : kinds) {
    if (kind.typed) write_struct(out, kind);
  }
  out += "\n";
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (!kinds[i].typed) break;
    out += fmt::format("template <>\ninline constexpr uint16_t kKindIndex<{}> = {};\n",
                       struct_name(kinds[i].name), i);
  }
  return out + "\n}  // namespace ncclog\n";
}

/// "static_cast<HoleType>(3)".
template <typename Enum>
std::string spelled(std::string_view type, Enum value) {
  return fmt::format("static_cast<{}>({})", type, static_cast<int>(value));
}

/// The rows of one array; others refer to them by their place.
using Rows = std::vector<std::string>;

/// The row of a wording; those of its steps and choices are added.
std::string wording_row(const Wording& wording, Rows& steps, Rows& choices) {
  const size_t first_step = steps.size();
  for (const PatternStep& step : wording.steps) {
    steps.push_back(fmt::format(
        "    {{{}, {{{:#x}u, {:#x}u}}, {}, {}, {}, {}, {{kChoices + {}, {}}}}},\n",
        view(step.literal), step.leading.bytes, step.leading.mask, spelled("HoleType", step.hole),
        step.field, view(step.next), step.before_last, choices.size(), step.choices.size()));
    for (const std::string_view choice : step.choices)
      choices.push_back(fmt::format("    {},\n", view(choice)));
  }
  const std::string recogniser =
      wording.recogniser == nullptr
          ? "nullptr"
          : fmt::format("kRecognisers + {}", wording.recogniser - kRecognisers);
  return fmt::format(
      "    {{{}, {}, {}, {}, {}, {{{}, {}, {}}}, kKinds + {}, {{kSteps "
      "+ {}, {}}}}},\n",
      view(wording.text), view(wording.example), wording.quotable, wording.general, recogniser,
      spelled("WarnSeverity", wording.warning.severity),
      spelled("WarnOrigin", wording.warning.origin), view(wording.warning.meaning),
      wording.kind->index, first_step, wording.steps.size());
}

/// A table whose parts are arrays of constants that refer to each other by place.
std::string table_text(const WordingTable& table) {
  Rows fields, choices, steps, wordings, kinds;
  for (const Kind& kind : table.kinds) {
    kinds.push_back(fmt::format(
        "    {{{}, {}, {}, {}, {}, {}, {{kFields + {}, "
        "{}}}, {{kWordings + {}, {}}}}},\n",
        view(kind.name), kind.index, spelled("Library", kind.library),
        spelled("Source", kind.source), spelled("Subsystem", kind.subsystem), view(kind.meaning),
        fields.size(), kind.fields.size(), wordings.size(), kind.wordings.size()));
    for (const Field& field : kind.fields) {
      fields.push_back(fmt::format("    {{{}, {}, {}}},\n", view(field.name),
                                   spelled("FieldType", field.type), view(field.meaning)));
    }
    for (const Wording& wording : kind.wordings)
      wordings.push_back(wording_row(wording, steps, choices));
  }
  return R"(// Made of src/log/messages/ by the build.

#include "log/known_messages.h"
#include "log/wording/other_programs.h"

namespace ncclog {

)" + fmt::format(
             // With their sizes: without, clang takes no place in them for a constant.
             "extern const Recogniser kRecognisers[{}];\n\n"
             "namespace {{\n\n"
             "extern const Kind kKinds[{}];\n"
             "extern const Wording kWordings[{}];\n\n"
             "constexpr Field kFields[] = {{\n{}}};\n\n"
             "constexpr std::string_view kChoices[] = {{\n{}    {{}},\n}};\n\n"
             "constexpr PatternStep kSteps[] = {{\n{}}};\n\n"
             "constinit const Wording kWordings[] = {{\n{}}};\n\n"
             "constinit const Kind kKinds[] = {{\n{}}};\n\n"
             "}}  // namespace\n\n"
             "constinit const std::span<const Kind> kBuiltInKinds = {{kKinds, {}}};\n\n"
             "}}  // namespace ncclog\n",
             recognisers().size(), kinds.size(), wordings.size(), fmt::join(fields, ""),
             fmt::join(choices, ""), fmt::join(steps, ""), fmt::join(wordings, ""),
             fmt::join(kinds, ""), kinds.size());
}

/// Leaves a file alone that holds `text` already: nothing that includes it is compiled again.
void write_file(const std::string& path, const std::string& text) {
  if (read_whole_file(path) == text) return;
  std::ofstream out(path, std::ios::binary);
  out << text;
  if (!out.flush()) throw Error("cannot write the file", path);
}

void make_messages(const std::vector<std::string>& arguments) {
  std::vector<KindText> kinds;
  for (size_t i = 2; i < arguments.size(); ++i) {
    for (KindText& kind : parse_message_file(read_file(arguments[i]), arguments[i]))
      kinds.push_back(std::move(kind));
  }
  std::ranges::stable_sort(kinds, std::greater(), &KindText::typed);
  WordingTable table;
  build_messages({}, kinds, table);
  write_file(arguments[0], header_of(kinds));
  write_file(arguments[1], table_text(table));
}

}  // namespace
}  // namespace ncclog

int main(int argc, char** argv) {
  try {
    ncclog::make_messages({argv + 1, argv + argc});
    return 0;
  } catch (const ncclog::Error& error) {
    std::cerr << error.where() << ": " << error.what() << "\n";
    if (!error.hint().empty()) std::cerr << "  hint: " << error.hint() << "\n";
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
  }
  return 1;
}

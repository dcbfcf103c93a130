#include "report/document/document.h"

#include <fmt/format.h>

namespace ncclog {

std::string place_text(const std::string& path, uint64_t line) {
  return line == 0 ? path : fmt::format("{}:{}", path, line);
}

std::string place_text(const Job& job, SourceRef where) {
  const FileLine place = file_line(job, where);
  return place_text(place.path, where.line == 0 ? 0 : place.line);
}

Tone tone_of(std::string_view word, Tone otherwise) {
  static constexpr std::pair<std::string_view, Tone> kTones[] = {
      // Verdicts.
      {"PROBLEM", Tone::Error},
      {"SUSPICIOUS", Tone::Warning},
      {"CLEAN", Tone::Good},
      {"NOTHING FOUND", Tone::Strong},
      {"CANNOT JUDGE", Tone::Strong},
      // How bad a finding or a remark is.
      {"error", Tone::Error},
      {"warning", Tone::Warning},
      {"info", Tone::Quiet},
      {"note", Tone::Quiet},
      // Answers to questions and expectations.
      {"yes", Tone::Good},
      {"no", Tone::Quiet},
      {"met", Tone::Good},
      {"broken", Tone::Warning},
      {"unknown", Tone::Quiet},
      // Comparisons of two runs.
      {"SAME", Tone::Good},
      {"DIFFERENT", Tone::Warning},
      {"CANNOT COMPARE", Tone::Strong},
      // What replays came to.
      {"reproduced-fault", Tone::Error},
      {"reproduced-hypothesis", Tone::Good},
      {"clean-without-defect", Tone::Good},
      {"not-reproduced", Tone::Warning},
      {"not-comparable", Tone::Warning},
  };
  for (const auto& [known, tone] : kTones) {
    if (known == word) return tone;
  }
  return otherwise;
}

bool is_command(std::string_view item) {
  return !item.empty() && !(item[0] >= 'A' && item[0] <= 'Z') && !item.ends_with('.');
}

std::variant<Table, Code> text_form(const Figure& figure) {
  const auto* graph = std::get_if<Graph>(&figure.drawing);
  if (graph == nullptr) return figure.table;
  return Code{graph_lines(*graph)};
}

}  // namespace ncclog

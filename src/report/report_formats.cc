#include "report/report_formats.h"

#include <algorithm>
#include <iterator>

#include "report/document/render_text.h"
#include "report/document/report_document.h"

namespace ncclog {
namespace {

std::string json(const Report& report, const TextStyle&) { return write_json(report); }
std::string markdown(const Report& report, const TextStyle&) { return write_markdown(report); }
std::string html(const Report& report, const TextStyle&) { return write_html(report); }

constexpr ReportKind kKinds[] = {
    {"text", "text", "text for people", write_text},
    {"json", "json", "JSON for scripts, schema ncclog.report/2", json},
    {"markdown", "md", "Markdown that fits an issue on GitHub", markdown},
    {"html", "html", "one page for a browser, without any request", html},
};

}  // namespace

std::span<const ReportKind> report_kinds() { return kKinds; }

std::string write_text(const Report& report, const TextStyle& style) {
  return render_text(report_document(report), style);
}

const ReportKind* find_report_kind(std::string_view name) {
  const auto* found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                   [name](const ReportKind& kind) { return kind.name == name; });
  return found == std::end(kKinds) ? nullptr : found;
}

}  // namespace ncclog

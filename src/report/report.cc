#include "report/report.h"

#include <algorithm>
#include <iterator>

#include "report/document/render.h"
#include "report/document/report_document.h"

namespace ncclog {

std::string write_text(const Report& report, const TextStyle& style) {
  return render_text(report_document(report, Reader::Screen), style);
}

std::string write_markdown(const Report& report, const TextStyle&) {
  return render_markdown(report_document(report, Reader::Page));
}

std::string write_html(const Report& report, const TextStyle&) {
  return render_html(report_document(report, Reader::Page));
}

namespace {

std::string json(const Report& report, const TextStyle&) { return write_json(report); }

constexpr ReportKind kKinds[] = {
    {"text", "text", "text for people", write_text},
    {"json", "json", "JSON for scripts, schema ncclog.report/2", json},
    {"markdown", "md", "Markdown that fits an issue on GitHub", write_markdown},
    {"html", "html", "one page for a browser, without any request", write_html},
};

}  // namespace

std::span<const ReportKind> report_kinds() { return kKinds; }

const ReportKind* find_report_kind(std::string_view name) {
  const auto* found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                   [name](const ReportKind& kind) { return kind.name == name; });
  return found == std::end(kKinds) ? nullptr : found;
}

}  // namespace ncclog

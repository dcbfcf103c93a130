#include "support/markup_check.h"

#include <expat.h>

#include <memory>
#include <set>

namespace ncclog::testing {
namespace {

const std::set<std::string_view> kElements = {
    "html",  "head",   "meta", "title",   "link",    "style",   "body",    "header",
    "main",  "footer", "nav",  "section", "div",     "article", "h1",      "h2",
    "h3",    "h4",     "p",    "ul",      "li",      "dl",      "dt",      "dd",
    "a",     "b",      "bdi",  "code",    "pre",     "span",    "table",   "thead",
    "tbody", "tr",     "th",   "td",      "details", "input",   "summary", "svg",
    "g",     "rect",   "line", "path",    "text",    "script"};

const std::set<std::string_view> kAttributes = {
    "alt",         "aria-hidden", "aria-label", "autocomplete", "charset",
    "class",       "content",     "cx",         "cy",           "r",
    "d",           "height",      "hidden",     "href",         "http-equiv",
    "id",          "lang",        "name",       "open",         "placeholder",
    "rel",         "role",        "rx",         "scope",        "tabindex",
    "text-anchor", "title",       "transform",  "type",         "viewBox",
    "width",       "x",           "x1",         "x2",           "xmlns",
    "y",           "y1",          "y2"};

/// Where sources of rules stand: https, a known host, and nothing that could steer anything there.
bool is_source_address(std::string_view address) {
  static const std::set<std::string_view> kHosts = {
      "docs.kernel.org", "docs.nvidia.com", "docs.python.org",   "docs.pytorch.org", "github.com",
      "kubernetes.io",   "man7.org",        "rocm.docs.amd.com", "slurm.schedmd.com"};
  constexpr std::string_view kScheme = "https://";
  if (!address.starts_with(kScheme)) return false;
  const std::string_view rest = address.substr(kScheme.size());
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-/";
  return kHosts.contains(rest.substr(0, rest.find('/'))) &&
         rest.find_first_not_of(kPlain) == rest.npos;
}

struct Walk {
  std::string faults;
  std::string_view wanted;
  int inside = 0;
  std::string text;
  int scripts = 0;
};

void begin(void* user, const XML_Char* element, const XML_Char** attributes) {
  auto& walk = *static_cast<Walk*>(user);
  if (!kElements.contains(element)) walk.faults += std::string("element ") + element + "\n";
  if (element == std::string_view("script") && ++walk.scripts > 1) walk.faults += "two scripts\n";
  if (element == walk.wanted) ++walk.inside;
  for (; *attributes != nullptr; attributes += 2) {
    const std::string_view name = attributes[0];
    const std::string_view value = attributes[1];
    if (!kAttributes.contains(name)) walk.faults += "attribute " + std::string(name) + "\n";
    const bool is_source = element == std::string_view("a") && is_source_address(value);
    const bool leads_away =
        name == "href" && !value.starts_with('#') && value != "data:," && !is_source;
    if (leads_away) walk.faults += "leads to " + std::string(value) + "\n";
  }
}

void end(void* user, const XML_Char* element) {
  auto& walk = *static_cast<Walk*>(user);
  if (element == walk.wanted) --walk.inside;
}

void characters(void* user, const XML_Char* text, int length) {
  auto& walk = *static_cast<Walk*>(user);
  if (walk.inside > 0) walk.text.append(text, static_cast<size_t>(length));
}

Walk walk_through(std::string_view document, std::string_view wanted) {
  const std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser(
      XML_ParserCreate("UTF-8"), XML_ParserFree);
  Walk walk{.wanted = wanted};
  XML_SetUserData(parser.get(), &walk);
  XML_SetElementHandler(parser.get(), begin, end);
  XML_SetCharacterDataHandler(parser.get(), characters);
  const auto status =
      XML_Parse(parser.get(), document.data(), static_cast<int>(document.size()), /*isFinal=*/1);
  if (status != XML_STATUS_OK) {
    walk.faults += std::string("line ") + std::to_string(XML_GetCurrentLineNumber(parser.get())) +
                   ": " + XML_ErrorString(XML_GetErrorCode(parser.get())) + "\n";
  }
  return walk;
}

}  // namespace

std::string markup_faults(std::string_view document) { return walk_through(document, {}).faults; }

std::string text_in(std::string_view document, std::string_view element) {
  return walk_through(document, element).text;
}

}  // namespace ncclog::testing

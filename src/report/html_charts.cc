#include "report/html_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "diagnose/iterations.h"
#include "report/html_page.h"
#include "report/html_table.h"
#include "report/iteration_text.h"
#include "report/text_layout.h"

namespace ncclog {
namespace {

constexpr size_t kMaxBars = 48;
constexpr size_t kMaxSingleBars = 24;
constexpr size_t kColours = 8;
constexpr int kBarHeight = 16;
constexpr int kRowHeight = 21;
constexpr int kBarsWidth = 440;

/// One iteration, or neighbours that call the same.
struct Bar {
  int64_t first = 0;
  int64_t last = 0;
  const IterationPattern* pattern = nullptr;  ///< Never nullptr.
};

std::string label_of(const Bar& bar) {
  return bar.first == bar.last ? std::to_string(bar.first)
                               : fmt::format("{}-{}", bar.first, bar.last);
}

/// By iteration; neighbours that call the same share a bar where there are many.
std::vector<Bar> bars_of(const JobIterations& found) {
  std::vector<Bar> ranges;
  uint64_t all = 0;
  for (const IterationPattern& pattern : found.patterns) {
    for (const auto& [first, last] : pattern.iterations) {
      ranges.push_back({first, last, &pattern});
      all += static_cast<uint64_t>(last - first) + 1;
    }
  }
  std::stable_sort(ranges.begin(), ranges.end(),
                   [](const Bar& a, const Bar& b) { return a.first < b.first; });
  if (all > kMaxSingleBars) return ranges;
  std::vector<Bar> bars;
  for (const Bar& range : ranges) {
    if (range.pattern->together > 1) {
      bars.push_back(range);
      continue;
    }
    for (int64_t i = range.first; i <= range.last; ++i) bars.push_back({i, i, range.pattern});
  }
  return bars;
}

uint64_t total_of(const OpCounts& calls) {
  uint64_t total = 0;
  for (const auto& [op, n] : calls) total += n;
  return total;
}

/// A colour for each operation; those beyond the colours share the last one.
std::map<std::string, size_t> colours_of(const JobIterations& found) {
  std::map<std::string, size_t> colours;
  for (const IterationPattern& pattern : found.patterns) {
    for (const auto& [op, n] : pattern.calls) colours.try_emplace(op, 0);
  }
  size_t next = 0;
  for (auto& [op, colour] : colours) colour = std::min(next++, kColours - 1);
  return colours;
}

Markup rect(int x, int y, int width, int height, const std::string& css, const std::string& title) {
  return html_element("rect",
                      {{"x", std::to_string(x)},
                       {"y", std::to_string(y)},
                       {"width", std::to_string(width)},
                       {"height", std::to_string(height)},
                       {"class", css}},
                      html_element("title", {}, plain_text(title, 200)));
}

Markup label(int x, int y, Literal anchor, const std::string& text) {
  return html_element("text",
                      {{"x", std::to_string(x)},
                       {"y", std::to_string(y)},
                       {"text-anchor", std::string(anchor.text())}},
                      plain_text(text, 60));
}

class Chart {
 public:
  Chart(const JobIterations& found, std::vector<Bar> bars)
      : bars_(std::move(bars)), colours_(colours_of(found)) {
    for (const Bar& bar : bars_) {
      most_ = std::max(most_, total_of(bar.pattern->calls));
      left_ = std::max(left_, display_width(label_of(bar)) * 8 + 12);
    }
  }

  Markup svg() const {
    Markup rows;
    for (size_t b = 0; b < bars_.size(); ++b) rows += row(bars_[b], static_cast<int>(b));
    const int height = static_cast<int>(bars_.size()) * kRowHeight + 8;
    const int width = left_ + kBarsWidth + 70;
    return html_element("svg",
                        {{"class", "drawing"},
                         {"width", std::to_string(width)},
                         {"height", std::to_string(height)},
                         {"viewBox", fmt::format("0 0 {} {}", width, height)},
                         {"role", "img"},
                         {"aria-label", "Calls of a process by iteration"}},
                        rows);
  }

  Markup key() const {
    Markup rows;
    for (const auto& [op, colour] : colours_) {
      const Markup box = html_element(
          "svg", {{"width", "12"}, {"height", "12"}, {"aria-hidden", "true"}},
          html_element("rect",
                       {{"width", "12"}, {"height", "12"}, {"class", fmt::format("b{}", colour)}}));
      rows += html_element("li", {}, box + html_literal(" ") + html_text(op, 60));
    }
    return html_element("ul", {{"class", "key"}}, rows);
  }

 private:
  Markup row(const Bar& bar, int index) const {
    const int y = 4 + index * kRowHeight;
    Markup out = label(left_ - 8, y + 12, "end", label_of(bar));
    uint64_t before = 0;
    for (const auto& [op, n] : bar.pattern->calls) {
      const int from = pixels(before);
      const int to = pixels(before + n);
      out += rect(left_ + from, y, std::max(1, to - from), kBarHeight,
                  fmt::format("b{}", colours_.at(op)),
                  fmt::format("iteration {}: {} {}", label_of(bar), n, op));
      before += n;
    }
    return out + label(left_ + pixels(before) + 6, y + 12, "start", std::to_string(before));
  }

  int pixels(uint64_t calls) const {
    return static_cast<int>(static_cast<double>(calls) * kBarsWidth /
                            static_cast<double>(std::max<uint64_t>(1, most_)));
  }

  std::vector<Bar> bars_;
  std::map<std::string, size_t> colours_;
  uint64_t most_ = 0;
  int left_ = 40;
};

Table pattern_table(const std::vector<Bar>& bars) {
  Table table{.name = "iterations", .columns = {"iterations", "calls", "in_all", "processes"}};
  for (const Bar& bar : bars) {
    table.rows.push_back({text_cell(label_of(bar)), text_cell(calls_text(bar.pattern->calls)),
                          number_cell(static_cast<int64_t>(total_of(bar.pattern->calls))),
                          number_cell(static_cast<int64_t>(bar.pattern->processes))});
  }
  return table;
}

}  // namespace

Markup html_iterations(const Job& job) {
  const JobCalls calls = job_calls(job);
  const auto found = find_iterations(job, calls, {});
  constexpr uint64_t kFew = 3;
  if (!found || (found->source == IterationSource::Period && found->count < kFew)) return {};
  std::vector<Bar> bars = bars_of(*found);
  const size_t all = bars.size();
  if (all > kMaxBars) bars.resize(kMaxBars);
  Markup out;
  for (const std::string& sentence : iteration_text(job, calls, *found)) {
    out += html_paragraph(sentence);
  }
  const Chart chart(*found, bars);
  out += html_element("h3", {}, html_literal("Calls that one process makes")) + chart.key() +
         html_scroll_box("chart of calls by iteration", chart.svg());
  if (all > kMaxBars) {
    out +=
        html_paragraph(fmt::format("{} more bars are left out; 'ncclog count --by iteration,op' "
                                   "lists all.",
                                   all - kMaxBars));
  }
  return out + html_details(html_literal("The same as a table"),
                            html_table(pattern_table(bars), "calls by iteration"));
}

}  // namespace ncclog

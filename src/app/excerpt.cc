#include "app/excerpt.h"

#include <algorithm>
#include <deque>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "app/excerpt_calls.h"
#include "base/error.h"
#include "input/input_walk.h"
#include "log/event_reader.h"
#include "model/read_call.h"

namespace ncclog {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kAround = 3;    ///< Lines kept before and behind each line of evidence.
constexpr uint64_t kAtStart = 20;  ///< Lines kept of each file's beginning.

/// The lines of one log that are kept, by number from 1.
class KeptLinesOfLog {
 public:
  void keep(uint64_t first, uint64_t last) {
    if (last < first) return;
    if (kept_.size() <= last) kept_.resize(last + 1);
    std::fill(kept_.begin() + static_cast<std::ptrdiff_t>(first),
              kept_.begin() + static_cast<std::ptrdiff_t>(last) + 1, true);
  }
  bool keeps(uint64_t line) const { return line < kept_.size() && kept_[line]; }

 private:
  std::vector<bool> kept_ = std::vector<bool>(1);
};

/// Lines of one sort by one process: the first and the last of them are kept.
struct Sort {
  uint64_t seen = 0;
  std::deque<std::pair<uint64_t, uint64_t>> latest;  ///< First and last line of each.
};

/// A process and a message kind; or -1 and a pattern of the rules.
using SortKey = std::tuple<std::string, int64_t, int, int>;

/// Evidence of findings, by path of the log.
std::map<std::string, std::set<uint64_t>> evidence_lines(const Report& report) {
  std::map<std::string, std::set<uint64_t>> lines;
  for (const Finding& finding : report.diagnosis.findings) {
    for (const Evidence& evidence : finding.evidence) {
      const FileLine place = file_line(report.job, evidence.where);
      if (evidence.where.line != 0) lines[place.path].insert(place.line);
    }
  }
  return lines;
}

/// Chooses the lines of one log.
class LineChoice {
 public:
  LineChoice(const LineMatcher& matcher, const ExcerptSize& size, ExcerptCalls& calls)
      : matcher_(matcher), size_(size), calls_(calls) {}

  void add(const Line& record, const Event& event, int lines) {
    const uint64_t last = record.number + static_cast<uint64_t>(std::max(lines, 1)) - 1;
    const std::pair<uint64_t, uint64_t> place = {record.number, last};
    if (!calls_.keeps(event)) return;
    if (event.message.kind != nullptr && read_call(event)) return kept_.keep(place.first, last);
    if (event.fate != LineFate::Foreign) {
      const int kind = event.message.kind == nullptr ? -1 : event.message.kind->index;
      note({std::string(event.header.host), event.header.pid, kind, -1}, place);
    }
    matched_.clear();
    if (matcher_) matcher_(record.text, matched_);
    for (const int pattern : matched_) note({{}, -1, -1, pattern}, place);
  }

  /// Ends the log, which has `lines` lines.
  KeptLinesOfLog finish(uint64_t lines, const std::set<uint64_t>& evidence) {
    for (const auto& [key, sort] : sorts_) {
      for (const auto& [first, last] : sort.latest) kept_.keep(first, last);
    }
    for (const uint64_t line : evidence) {
      kept_.keep(line > kAround ? line - kAround : 1, std::min(line + kAround, lines));
    }
    kept_.keep(1, std::min(kAtStart, lines));
    kept_.keep(lines > size_.end ? lines - size_.end + 1 : 1, lines);
    return std::move(kept_);
  }

 private:
  void note(SortKey key, std::pair<uint64_t, uint64_t> place) {
    Sort& sort = sorts_[std::move(key)];
    if (++sort.seen <= size_.first) return kept_.keep(place.first, place.second);
    sort.latest.push_back(place);
    if (sort.latest.size() > size_.last) sort.latest.pop_front();
  }

  const LineMatcher& matcher_;
  const ExcerptSize& size_;
  ExcerptCalls& calls_;
  KeptLinesOfLog kept_;
  std::map<SortKey, Sort> sorts_;
  std::vector<int> matched_;
};

/// Calls `use(line)` for each line of a plain file; answers how many there are.
template <typename Use>
uint64_t each_line_of(const fs::path& file, Use&& use) {
  uint64_t lines = 0;
  InputWalk walk({}, file.string());
  while (UnitReader* reader = walk.next()) {
    for (Line line; reader->next(line);) {
      lines = line.number;
      use(line);
    }
  }
  return lines;
}

KeptLinesOfLog choose_lines(const fs::path& file, LineChoice choice,
                            const std::set<uint64_t>& evidence) {
  EventReader events(
      [&](const Line& record, const Event& event, int lines) { choice.add(record, event, lines); });
  const uint64_t lines = each_line_of(file, [&](const Line& line) { events.add(line); });
  events.finish();
  return choice.finish(lines, evidence);
}

/// Copies the kept lines, and says which they are.
ExcerptLog copy_lines(const fs::path& from, const fs::path& to, const KeptLinesOfLog& kept) {
  ExcerptLog log;
  std::ofstream out(to, std::ios::binary);
  log.lines = each_line_of(from, [&](const Line& line) {
    if (!kept.keeps(line.number)) return;
    out << line.text << '\n';
    if (log.kept.empty() || log.kept.back().second + 1 < line.number) {
      log.kept.emplace_back(line.number, line.number);
    }
    log.kept.back().second = line.number;
  });
  out.close();
  if (!out) {
    throw Error("the logs cannot be copied", to.string(), "set TMPDIR to a folder with room");
  }
  return log;
}

bool is_document_format(const JobInput& input) {
  return input.format == "flight_recorder" || input.format == "ras" || input.format == "topology";
}

}  // namespace

std::vector<ExcerptLog> write_excerpt(const Report& report, const LineMatcher& matcher,
                                      const ExcerptSize& size, const fs::path& from,
                                      const fs::path& to) {
  std::vector<ExcerptLog> logs;
  const auto evidence = evidence_lines(report);
  ExcerptCalls calls(report.job, size.calls);
  for (const JobInput& input : report.job.inputs) {
    const fs::path source = from / input.path;
    const fs::path copy = to / input.path;
    fs::create_directories(copy.parent_path());
    if (is_document_format(input)) {
      fs::copy_file(source, copy, fs::copy_options::overwrite_existing);
      logs.push_back({input.path, 0, {}});
      continue;
    }
    const auto lines = evidence.find(input.path);
    const KeptLinesOfLog kept =
        choose_lines(source, LineChoice(matcher, size, calls),
                     lines == evidence.end() ? std::set<uint64_t>() : lines->second);
    logs.push_back(copy_lines(source, copy, kept));
    logs.back().path = input.path;
  }
  return logs;
}

}  // namespace ncclog

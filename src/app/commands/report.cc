#include "app/commands/report.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <system_error>

#include "app/commands/bundle_logs.h"
#include "app/help.h"
#include "app/output.h"
#include "base/built_in.h"
#include "base/error.h"
#include "base/posix.h"
#include "base/safe_json.h"
#include "base/text.h"
#include "report/bundle_archive.h"
#include "report/tables/tables.h"
#include "report/text_layout.h"
#include "rules/load_rules.h"

namespace ncclog {
namespace {

namespace fs = std::filesystem;
using OrderedJson = nlohmann::ordered_json;

using Rename = std::function<std::string(std::string_view)>;

/// What counts of a finding, by name.
std::vector<std::pair<std::string_view, std::string>> traits_of(const Finding& finding,
                                                                const Rename& rename) {
  const Subject& subject = finding.subject;
  std::vector<std::string> hosts;
  for (const std::string& host : finding.hosts) hosts.push_back(rename(host));
  std::ranges::sort(hosts);
  std::vector<std::string> explains = finding.explains;
  std::ranges::sort(explains);
  return {{"severity", std::string(to_string(finding.severity))},
          {"confidence", std::string(to_string(finding.confidence))},
          {"role", std::string(to_string(finding.role))},
          {"hosts", join(hosts, ",")},
          {"ranks", ranges_text(finding.ranks)},
          {"subject", fmt::format("{}/{}/{}/{}", rename(subject.host), subject.rank, subject.pid,
                                  subject.communicator)},
          {"explains", join(explains, ",")}};
}

std::string same_name(std::string_view host) { return std::string(host); }

}  // namespace

std::vector<std::string> compare_findings(const Diagnosis& before, const Diagnosis& after,
                                          const Rename& rename) {
  std::vector<std::string> differences;
  if (before.verdict.status != after.verdict.status) {
    differences.push_back(fmt::format("verdict {}, was {}", to_string(after.verdict.status),
                                      to_string(before.verdict.status)));
  }
  for (const Finding& finding : before.findings) {
    const auto other = std::ranges::find(after.findings, finding.id, &Finding::id);
    if (other == after.findings.end()) {
      differences.push_back(finding.id + ": is gone");
      continue;
    }
    const auto old_traits = traits_of(finding, rename);
    const auto new_traits = traits_of(*other, same_name);
    for (size_t i = 0; i < old_traits.size(); ++i) {
      const auto& [name, value] = new_traits[i];
      if (old_traits[i].second == value) continue;
      differences.push_back(
          fmt::format("{}: {} {}, was {}", finding.id, name, value, old_traits[i].second));
    }
  }
  for (const Finding& finding : after.findings) {
    const auto known = std::ranges::find(before.findings, finding.id, &Finding::id);
    if (known == before.findings.end()) differences.push_back(finding.id + ": is new");
  }
  if (differences.empty() &&
      !std::ranges::equal(before.findings, after.findings, {}, &Finding::id, &Finding::id)) {
    differences.push_back("the findings stand in another order");
  }
  return differences;
}

namespace {

/// By it a text report is known from a log.
constexpr std::string_view kTextHead = "ncclog report\n\n";

/// The same options from any working directory. A replay's result is left out: it names ranks and
/// communicators as the logs do, not as the bundle.
AnalyzeOptions with_whole_paths(AnalyzeOptions options) {
  for (std::string& rule : options.rules) rule = fs::absolute(rule).string();
  if (fs::exists(options.expect)) options.expect = fs::absolute(options.expect).string();
  options.with_replay.clear();
  return options;
}

std::string mapping_path(const BundleOptions& options) {
  return options.mapping.empty() ? options.path + ".mapping.json" : options.mapping;
}

/// Whatever bytes the strings hold.
std::string json_text(const OrderedJson& json, int indent) {
  return safe_json(json.dump(indent, ' ', false, OrderedJson::error_handler_t::replace));
}

/// Size and time of each file: who writes to one changes them.
std::vector<std::pair<uintmax_t, fs::file_time_type>> states_of(
    const std::vector<std::string>& inputs) {
  std::vector<std::pair<uintmax_t, fs::file_time_type>> states;
  for (const std::string& input : inputs) {
    std::error_code error;
    states.emplace_back(fs::file_size(input, error), fs::last_write_time(input, error));
  }
  return states;
}

/// Some of the names that are left, in one line.
std::string leaks_text(std::span<const Leak> leaks) {
  constexpr size_t kMost = 5;
  std::string text;
  for (const Leak& leak : leaks.first(std::min(leaks.size(), kMost))) {
    text += fmt::format("{}{}: '{}', which {}", text.empty() ? "" : "; ", printable(leak.place),
                        printable(leak.name), leak.why);
  }
  if (leaks.size() > kMost) text += fmt::format("; and {} more", leaks.size() - kMost);
  return text;
}

/// A bundle being made. Its steps stand in write_bundle() in their order; each uses what those
/// before it left.
class BundleMaker {
 public:
  BundleMaker(const Report& original, const AnalyzeOptions& analyze, const BundleOptions& options,
              ReadingProgress* progress)
      : original_(original),
        analyze_(with_whole_paths(analyze)),
        options_(options),
        progress_(progress),
        inputs_(wanted_inputs(analyze.input)),
        read_(states_of(inputs_)) {
    if (std::ranges::find(inputs_, "-") == inputs_.end()) return;
    throw Error("a bundle cannot be made of standard input", "--bundle",
                "write it to a file first: it is read more than once");
  }

  void replace_names() {
    if (options_.anonymise) anonymiser_.emplace(find_identities_of(original_.job, inputs_));
    logs_ = stage_logs(inputs_, anonymiser_ ? &*anonymiser_ : nullptr, whole());
    for (const StagedLog& log : logs_) {
      if (!log.left_out.empty()) summary_.left_out.push_back(log.path);
    }
  }

  void analyse_again() {
    report_.emplace(analyse(whole()));
    for (const JobInput& input : report_->job.inputs) summary_.lines += input.lines;
    const auto rename = [this](std::string_view host) {
      return anonymiser_ ? anonymiser_->text(host) : std::string(host);
    };
    summary_.differences = compare_findings(original_.diagnosis, report_->diagnosis, rename);
  }

  void choose_logs() {
    uint64_t bytes = 0;
    for (const StagedLog& log : logs_) bytes += log.bytes;
    bundled_ = whole();
    if (options_.full_logs || bytes <= options_.whole_bytes) return;
    // Tried from the smallest on: the first that gives the same findings is taken.
    constexpr ExcerptSize kSizes[] = {
        {.calls = 512, .first = 2048, .last = 256, .end = 200},
        {.calls = 8192, .first = 16384, .last = 2048, .end = 2000},
        {.calls = 65536, .first = 131072, .last = 16384, .end = 20000}};
    const LineMatcher matcher = make_line_matcher(load_rulebook(analyze_.rules, today()));
    for (const ExcerptSize& size : kSizes) {
      const fs::path folder = folder_.path() / "excerpt";
      fs::remove_all(folder);
      excerpt_ = write_excerpt(*report_, matcher, size, whole(), folder);
      if (!is_enough(folder)) continue;
      bundled_ = folder;
      return;
    }
    excerpt_.clear();
  }

  void gather() {
    add_reports();
    add_logs();
    members_["environment.csv"] = written(write_table_csv, environment_table(report_->job));
    members_["tool.json"] = json_text(tool(), 2) + "\n";
    members_["README.txt"] = readme();
    for (size_t i = 0; i < analyze_.rules.size(); ++i) add_rules(i + 1, analyze_.rules[i]);
    add_checksums(members_, json_text(manifest(), -1));
  }

  void refuse_leaks() {
    if (!anonymiser_) return;
    LeakCheck check(anonymiser_->ordinary_words(), anonymiser_->unmistakable());
    std::string pages;
    for (const ReportKind& kind : report_kinds()) pages += kind.write(Report(), TextStyle());
    check.set_own_pages(pages);
    read_for_leaks(inputs_, check);
    // What was written since names were looked for was not looked through.
    if (states_of(inputs_) != read_) {
      throw Error("the logs were written to meanwhile: nothing was written", options_.path,
                  "make a copy of them and bundle that");
    }
    for (const auto& [path, text] : members_) {
      const bool is_own = !path.starts_with("logs/") && !path.starts_with("rules/");
      for (Leak& leak : check.find(path, text, is_own)) summary_.leaks.push_back(std::move(leak));
    }
    if (summary_.leaks.empty() || options_.allow_leaks) return;
    throw Error(fmt::format("names would be left in the bundle, so nothing was written: {}",
                            leaks_text(summary_.leaks)),
                options_.path,
                "please report this; --allow-leaks writes the bundle with these names in it");
  }

  BundleSummary write() {
    const std::string bytes = bundle_archive(members_);
    OutputFile bundle(options_.path);
    bundle.write(bytes);
    std::optional<OutputFile> mapping;
    if (anonymiser_) {
      summary_.mapping = mapping_path(options_);
      mapping.emplace(summary_.mapping, /*is_private=*/true);
      mapping->write(mapping_text());
    }
    // All of both is written: neither comes to its place without the other.
    const HeldBack signals;
    if (mapping) mapping->keep();
    try {
      bundle.keep();
    } catch (const Error&) {
      if (mapping) fs::remove(summary_.mapping);
      throw;
    }
    summary_.bytes = bytes.size();
    return std::move(summary_);
  }

 private:
  fs::path whole() const { return folder_.path() / "whole"; }

  Report analyse(const fs::path& folder) const {
    const WorkingFolder here(folder);
    AnalyzeOptions options = analyze_;
    options.input.paths = {"logs"};
    return run_pipeline(options, progress_).report;
  }

  bool is_enough(const fs::path& folder) const {
    const Report excerpt = analyse(folder);
    return compare_findings(report_->diagnosis, excerpt.diagnosis, same_name).empty();
  }

  void add_reports() {
    for (const ReportKind& kind : report_kinds()) {
      if (!kind.is_passed_on) continue;
      const std::string ending(kind.flag == "text" ? "txt" : kind.flag);
      members_["report." + ending] = kind.write(*report_, TextStyle());
      if (kind.name == "text") members_["report." + ending].insert(0, kTextHead);
    }
  }

  void add_logs() {
    for (const StagedLog& log : logs_) {
      if (log.left_out.empty()) members_[log.path] = read_file(bundled_ / log.path);
    }
    summary_.is_excerpt = !excerpt_.empty();
    summary_.lines_kept = summary_.is_excerpt ? 0 : summary_.lines;
    for (const ExcerptLog& log : excerpt_) {
      for (const auto& [first, last] : log.kept) summary_.lines_kept += last - first + 1;
    }
  }

  /// The files of the flag --rules with that number.
  void add_rules(size_t number, const std::string& path) {
    for (const std::string& file : find_rule_files(path)) {
      const std::string name = fs::path(file).filename().string();
      const std::string text = read_file(file);
      members_[fmt::format("rules/{}/{}", number, anonymiser_ ? anonymiser_->path(name) : name)] =
          anonymiser_ ? anonymiser_->text(text) : text;
    }
  }

  OrderedJson tool() const {
    return {{"name", report_->tool.name},
            {"version", report_->tool.version},
            {"build", full_version()},
            {"rulebook", report_->tool.rulebook}};
  }

  OrderedJson logs_json() const {
    OrderedJson files = OrderedJson::array();
    for (const ExcerptLog& log : excerpt_) {
      std::string kept;
      for (const auto& [first, last] : log.kept) {
        kept += fmt::format("{}{}-{}", kept.empty() ? "" : ",", first, last);
      }
      files.push_back({{"path", log.path}, {"lines", log.lines}, {"kept", kept}});
    }
    OrderedJson left_out = OrderedJson::array();
    for (const StagedLog& log : logs_) {
      if (log.left_out.empty()) continue;
      left_out.push_back({{"path", log.path}, {"reason", log.left_out}});
    }
    return {{"content", summary_.is_excerpt ? "excerpt" : "whole"},
            {"lines", summary_.lines},
            {"lines_kept", summary_.lines_kept},
            {"excerpts", std::move(files)},
            {"left_out", std::move(left_out)}};
  }

  OrderedJson manifest() const {
    OrderedJson findings = OrderedJson::array();
    for (const Finding& finding : report_->diagnosis.findings) findings.push_back(finding.id);
    return {{"schema", "ncclog.bundle/1"},
            {"tool", tool()},
            {"anonymised", anonymiser_.has_value()},
            {"findings", std::move(findings)},
            {"findings_equal", summary_.differences.empty()},
            {"differences", summary_.differences},
            {"logs", logs_json()}};
  }

  std::string readme() const {
    return fmt::format(
        fmt::runtime(text_of("bundle_readme.txt").value()), report_->tool.version,
        summary_.is_excerpt ? "the lines that give the same findings" : "all of the logs",
        anonymiser_ ? "were replaced, the same everywhere" : "are the real ones",
        analyze_.rules.empty() ? "" : " --rules rules/");
  }

  std::string mapping_text() {
    OrderedJson list = OrderedJson::array();
    for (const Replacement& replaced : anonymiser_->mapping()) {
      ++summary_.replaced[replaced.kind];
      list.push_back({{"kind", to_string(replaced.kind)},
                      {"original", to_valid_utf8(replaced.original)},
                      {"replacement", replaced.replacement}});
    }
    const OrderedJson mapping = {{"schema", "ncclog.mapping/1"}, {"replacements", std::move(list)}};
    return json_text(mapping, 2) + "\n";
  }

  const Report& original_;
  AnalyzeOptions analyze_;
  const BundleOptions& options_;
  ReadingProgress* progress_;
  std::vector<std::string> inputs_;
  std::vector<std::pair<uintmax_t, fs::file_time_type>> read_;  ///< Inputs before they are read.
  TemporaryFolder folder_ = new_temporary_folder();
  std::optional<Anonymiser> anonymiser_;
  std::vector<StagedLog> logs_;
  std::optional<Report> report_;  ///< Of the staged logs.
  fs::path bundled_;              ///< Where the logs lie that go into the bundle.
  std::vector<ExcerptLog> excerpt_;
  BundleMembers members_;
  BundleSummary summary_;
};

std::string replaced_text(const BundleSummary& summary) {
  std::vector<std::string> parts;
  for (const auto& [kind, count] : summary.replaced) {
    parts.push_back(plural(count, kind == IdentityKind::Hardware ? "MAC" : to_string(kind)));
  }
  return parts.empty() ? "no names" : join(parts, ", ");
}

}  // namespace

void check_bundle(const BundleOptions& options, const AnalyzeOptions& analyze,
                  std::span<const std::string> inputs) {
  std::set<std::string> places;
  for (const ReportOutput& output : analyze.outputs) places.insert(same_place(output.path));
  std::vector<std::string> files = {options.path};
  if (options.anonymise) files.push_back(mapping_path(options));
  for (const std::string& path : files) {
    const bool is_special = fs::exists(path) && !fs::is_regular_file(path);
    if (path == "-" || is_special) {
      throw Error("a bundle needs a file of its own", path, "name one: --bundle job.tar.zst");
    }
    check_output_file(path, inputs);
    if (!places.insert(same_place(path)).second) throw Error("is named twice", path);
  }
  // Who can put a link among the logs must not get other files of the user into the bundle.
  const std::string link = find_link_outside(analyze.input.paths, inputs);
  if (!link.empty()) {
    throw Error("leads out of the folders that were named, so nothing was written", link,
                "name the file itself to have it in the bundle, or take the link away");
  }
  const std::string file = fs::weakly_canonical(options.path).string();
  for (const std::string& folder : analyze.input.paths) {
    if (!fs::is_directory(folder)) continue;
    if (!file.starts_with(fs::canonical(folder).string() + "/")) continue;
    throw Error("the bundle would lie among the logs and be read as logs the next time",
                options.path, "name a file outside of their folder");
  }
}

BundleSummary write_bundle(const Report& report, const AnalyzeOptions& analyze,
                           const BundleOptions& options, ReadingProgress* progress) {
  BundleMaker maker(report, analyze, options, progress);
  maker.replace_names();
  maker.analyse_again();
  maker.choose_logs();
  maker.gather();
  maker.refuse_leaks();
  return maker.write();
}

std::string bundle_text(const BundleOptions& options, const BundleSummary& summary) {
  std::string text =
      fmt::format("ncclog: wrote {}: {} bytes, {} of {} lines of the logs\n",
                  printable(options.path), summary.bytes, summary.lines_kept, summary.lines);
  for (const std::string& path : summary.left_out) {
    text += fmt::format("ncclog: left out {}: it is no text\n", printable(path));
  }
  for (const std::string& difference : summary.differences) {
    text += fmt::format("ncclog: the bundle's findings differ: {}\n", printable(difference));
  }
  if (!options.anonymise) return text + "ncclog: names were not replaced\n";
  if (!summary.leaks.empty())
    text += fmt::format("ncclog: names are left in the bundle: {}\n", leaks_text(summary.leaks));
  return text + fmt::format(
                    "ncclog: replaced {}; the real ones are in {}: keep it to yourself\n"
                    "ncclog: look through the logs before you pass them on: only what a line shows "
                    "to be a name was replaced\n",
                    replaced_text(summary), printable(summary.mapping));
}

// ncclog analyze PATH…, and by its older name ncclog report PATH… what of it is passed on

namespace {

struct AnalyzeCommand {
  AnalyzeOptions analyze;
  const ReportKind* form = nullptr;  ///< What Markdown is written as; nullptr: as a report.
  BundleOptions bundle;              ///< Empty path: none.
};

void add_bundle_flags(CommandRow& command, BundleOptions& options) {
  add_flag(command, kOutputFlags, "--bundle FILE", options.path,
           "write reports, logs and settings to one tar.zst for others; names "
           "of hosts, users, addresses, paths and jobs are replaced");
  const auto add = [&command](std::string_view typed, auto& target, const char* help) {
    add_flag(command, kOutputFlags, typed, target, help).needs = "--bundle";
  };
  add("--anonymise,--no-anonymise", options.anonymise,
      "whether names are replaced in the bundle (default: yes)");
  add("--allow-leaks", options.allow_leaks,
      "write the bundle even if a name is left in it; each place is printed");
  add("--mapping FILE", options.mapping,
      "where the list of replaced names goes (default: FILE.mapping.json beside the bundle)");
  add("--full-logs", options.full_logs,
      "put large logs into the bundle whole, not the lines that give the same findings");
}

const ReportKind* const kMarkdown = find_report_kind("markdown");

/// An issue form takes the place of the Markdown: in files, else on standard output, where it is
/// then all that is printed.
AnalyzeOptions with_form(AnalyzeOptions analyze, const ReportKind* form) {
  if (form == nullptr) return analyze;
  bool is_written = false;
  for (ReportOutput& output : analyze.outputs) {
    if (output.kind != kMarkdown) continue;
    output.kind = form;
    is_written = true;
  }
  const bool is_printed = analyze.format != nullptr && analyze.format->name == "json";
  if (!is_written && !is_printed) analyze.format = form;
  return analyze;
}

/// What a merge of parts would like to read in logs that lie elsewhere is told, and written for
/// those who have them.
void hand_on_requests(const AnalyzeOptions& options, const ReadUnits& read, Console& console) {
  if (!options.requests.empty()) {
    write_requests(*read.asked, options, options.requests);
  } else if (!read.asked->empty() && !console.quiet) {
    console.err += fmt::format(
        "ncclog: {} of logs elsewhere could not be looked up; --requests FILE and 'ncclog scan "
        "--answer FILE' there give them\n",
        plural(read.asked->size(), "place"));
  }
}

/// "analyze --json logs/" names a file to write, and no logs.
void refuse_output_as_input(const AnalyzeOptions& options) {
  if (!options.input.paths.empty() || options.outputs.empty()) return;
  const auto& [kind, path] = options.outputs.front();
  throw Error("no logs named", fmt::format("--{}", kind->flag),
              fmt::format("it names the file to write; did you mean 'ncclog analyze --format {} "
                          "{}'?",
                          kind->name, path));
}

ExitStatus analyze(const AnalyzeCommand& typed, Console& console) {
  refuse_output_as_input(typed.analyze);
  AnalyzeOptions options = with_form(typed.analyze, typed.form);
  const bool has_bundle = !typed.bundle.path.empty();
  if (!options.fail_on && (typed.form != nullptr || has_bundle)) options.fail_on = FailOn::Never;
  if (!options.outputs.empty() || !options.requests.empty() || has_bundle) {
    const std::vector<std::string> inputs = wanted_inputs(options.input);
    check_outputs(options.outputs, inputs, options.format != nullptr, options.with_replay);
    if (!options.requests.empty()) check_output_file(options.requests, inputs);
    if (has_bundle) check_bundle(typed.bundle, options, inputs);
  }
  const AnalyzedLogs& logs = console.keep([&] { return run_pipeline(options, console.progress); });
  const ExitStatus status = write_analysis(logs, options, console);
  if (has_bundle) {
    console.err += bundle_text(typed.bundle,
                               write_bundle(logs.report, options, typed.bundle, console.progress));
  }
  hand_on_requests(options, logs.read, console);
  return status;
}

/// Prints nothing but what is asked for: Markdown, if nothing is; quietly, the verdict.
ExitStatus report(const AnalyzeCommand& typed, Console& console) {
  AnalyzeCommand options = typed;
  const bool is_asked = !options.analyze.outputs.empty() || !options.bundle.path.empty();
  const bool is_text = options.analyze.format->name == "text";
  if (is_text && !(console.quiet && is_asked)) {
    options.analyze.format = is_asked ? nullptr : kMarkdown;
  }
  if (!options.analyze.fail_on) options.analyze.fail_on = FailOn::Never;
  return analyze(options, console);
}

void declare(CommandRow& command,
             ExitStatus (*run)(const AnalyzeCommand& options, Console& console)) {
  AnalyzeCommand& options = options_of(command, run);
  add_analyze_flags(command, options.analyze);
  add_choice(command, kOutputFlags, "--for", options.form, choices_of(issue_forms()),
             "fill that project's issue form: the Markdown has its headings, and says what the "
             "logs do not hold");
  add_bundle_flags(command, options.bundle);
  add_expected_hosts_flag(command, options.analyze.input);
  add_flag(command, kOutputFlags, "--requests FILE", options.analyze.requests,
           "of parts: what could not be looked up, for 'ncclog scan --answer FILE' where the logs "
           "are");
}

}  // namespace

void declare_analyze(CommandRow& command) { declare(command, analyze); }

void declare_report(CommandRow& command) { declare(command, report); }

}  // namespace ncclog

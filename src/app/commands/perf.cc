// Why is it slow? What was measured, what this machine allows, which stage limits, who is late.
//
//   ncclog perf PATH…

#include <string>
#include <vector>

#include "app/command_table.h"
#include "app/commands/analyze.h"
#include "app/commands/replay.h"
#include "base/built_in.h"
#include "replay/judge/verdict.h"
#include "report/perf/perf_report.h"

namespace ncclog {
namespace {

using WritePerf = std::string (*)(const PerfReport& report, const TextStyle& style);

constexpr WritePerf kPerfAsText = [](const PerfReport& report, const TextStyle& style) {
  return render_text(perf_document(report), style);
};

constexpr Choice<WritePerf> kPerfFormats[] = {
    {"text", kPerfAsText},
    {"json", [](const PerfReport& report, const TextStyle&) { return write_perf_json(report); }},
    {"markdown",
     [](const PerfReport& report, const TextStyle&) {
       return render_markdown(perf_document(report, Reader::Page));
     }},
    {"html", [](const PerfReport& report, const TextStyle&) {
       return render_html(perf_document(report, Reader::Page));
     }}};

struct PerfOptions {
  InputOptions input;
  WritePerf format = kPerfAsText;
  std::string with_replay;  ///< A result of `replay run --time`; empty: none.
  bool fails = false;       ///< Exit with 1 if something is slow.
  ColorChoice color = ColorChoice::Auto;
};

ExitStatus perf(const PerfOptions& options, Console& console) {
  const Job& job = console.keep([&] {
    ReadUnits read;
    Job loaded = load_job(options.input, console.progress, {}, &read);
    quote_measured(read, loaded);
    return loaded;
  });
  const auto& replayed = console.keep([&] {
    return options.with_replay.empty()
               ? std::vector<Measurement>()
               : replay_measurements(load_replay_result(options.with_replay));
  });
  const PerfReport report = perf_report(job, {.version = std::string(version())}, replayed);
  const TextStyle style = console.style(options.color);
  console.out += console.quiet && options.format == kPerfAsText
                     ? lead_line(perf_document(report), style)
                     : options.format(report, style);
  const PerfStatus status = status_of(report);
  if (options.fails && status == PerfStatus::Slow) return ExitStatus::Findings;
  return status == PerfStatus::NothingMeasured ? ExitStatus::Partial : exit_status(job);
}

}  // namespace

void declare_perf(CommandRow& command) {
  PerfOptions& options = options_of(command, perf);
  add_input_flags(command, options.input);
  add_choice(command, kOutputFlags, "--format", options.format, kPerfFormats,
             "text for people, json for scripts, markdown for an issue, html for a browser");
  add_flag(command, kJudgingFlags, "--with-replay FILE", options.with_replay,
           "what 'replay run --time' measured, judged as well, by the machine it ran on");
  add_choice(command, kJudgingFlags, "--fail-on", options.fails, in_order<bool>({"never", "slow"}),
             "slow: exit with 1 if something is slow");
  add_flag(command, kJudgingFlags, "--exit-code", options.fails, "as --fail-on slow").is_hidden =
      true;
  add_color_flag(command, options.color);
}

}  // namespace ncclog

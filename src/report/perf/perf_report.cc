#include "report/perf/perf_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/collectives.h"
#include "base/text.h"
#include "diagnose/perf/machine/machine.h"
#include "diagnose/perf/verdict/perf_words.h"
#include "report/tables/table.h"

namespace ncclog {

namespace {

/// Solved where several sets of hosts were measured. One set tells nothing about its members, but
/// where it is not known to be as fast as it should be, which runs would.
NodeSetAnswer node_sets_of(const Job& job) {
  const std::vector<PerfVerdict>& verdicts = perf_verdicts(job);
  const std::vector<NodeSetRun> runs = node_set_runs(job, verdicts);
  const bool several = std::ranges::any_of(runs, [&](const NodeSetRun& run) {
    const NodeSetRun& first = runs.front();
    return run.hosts != first.hosts || run.rail != first.rail || run.parts != first.parts;
  });
  const bool may_be_slow =
      !runs.empty() && runs.front().hosts.size() > 1 &&
      std::ranges::none_of(verdicts, [](const PerfVerdict& verdict) {
        return verdict.answer == PerfAnswer::Normal || verdict.answer == PerfAnswer::Limited;
      });
  if (runs.size() < 2 && !may_be_slow) return {};
  NodeSetAnswer answer = solve_node_sets(runs);
  // Repetitions may still contradict each other; where all is normal, nothing is asked.
  const bool all_normal = std::ranges::all_of(
      verdicts, [](const PerfVerdict& verdict) { return verdict.answer == PerfAnswer::Normal; });
  const bool counts = several ? !all_normal || !answer.slow.empty() : may_be_slow;
  return counts || answer.lowest > 0 ? answer : NodeSetAnswer();
}

/// perf_verdicts of the job, with the texts of lines that Job::quoted has.
std::vector<PerfVerdict> quoted_verdicts(const Job& job) {
  std::vector<PerfVerdict> verdicts = perf_verdicts(job);
  for (PerfVerdict& verdict : verdicts) {
    for (Evidence& line : verdict.evidence) {
      const auto text = line.text.empty() ? job.quoted.find(line.where) : job.quoted.end();
      if (text != job.quoted.end()) line.text = text->second;
    }
  }
  return verdicts;
}

bool is_slow(const PerfVerdict& verdict) {
  return verdict.answer == PerfAnswer::Limited || verdict.answer == PerfAnswer::Below;
}

/// What of the possible was reached, 0 to 1; 1 where nothing tells.
double share_reached(const PerfVerdict& verdict) {
  const double possible = std::max(verdict.ceiling, verdict.machine_ceiling);
  return possible > 0 && verdict.reached >= 0 ? verdict.reached / possible : 1;
}

/// The machine could reach more than the path that was measured.
bool is_above(const PerfVerdict& verdict) {
  return verdict.machine_ceiling > 0 && verdict.machine_ceiling > verdict.ceiling * 1.05;
}

/// The slowest first, then what cannot be told, then what is normal, then what nobody measured.
std::vector<const PerfVerdict*> by_urgency(const std::vector<PerfVerdict>& verdicts) {
  std::vector<const PerfVerdict*> order;
  for (const PerfVerdict& verdict : verdicts) order.push_back(&verdict);
  const auto rank_of = [](const PerfVerdict* verdict) {
    if (verdict->measurement == nullptr) return 3;  // Says only what paths there are.
    if (is_slow(*verdict)) return 0;
    return verdict->answer == PerfAnswer::CannotTell ? 1 : 2;
  };
  std::ranges::stable_sort(order, [&](const PerfVerdict* a, const PerfVerdict* b) {
    return std::pair(rank_of(a), share_reached(*a)) < std::pair(rank_of(b), share_reached(*b));
  });
  return order;
}

const LateVerdict* first_late(const std::vector<LateVerdict>& late) {
  const auto found =
      std::ranges::find_if(late, [](const LateVerdict& verdict) { return !verdict.late.empty(); });
  return found == late.end() ? nullptr : &*found;
}

/// What the facts say, and where to look.
std::string late_sentence(const LateVerdict& verdict, const LateParty& party) {
  return fmt::format("{}; {}.", capitalised(late_words(verdict, party)),
                     party.inside_the_call
                         ? "it takes longer inside the call, so look at its links and its GPU"
                         : "the others wait for it, so look at what it does before the call");
}

// The document.

/// "AllReduce, 16 ranks on 2 hosts (all_reduce_perf)".
std::string title_of(const PerfVerdict& verdict) {
  if (verdict.measurement == nullptr) return "The job itself";
  const Measurement& measurement = *verdict.measurement;
  const bool is_known = measurement.op != Operation::Unknown;
  std::string text(is_known ? name_of(measurement.op) : "Unknown operation");
  if (!measurement.datatype.empty()) text += " of " + measurement.datatype;
  if (measurement.nranks > 0) {
    text += fmt::format(", {}{}", measurement.nranks_by_ratio ? "about " : "",
                        plural(measurement.nranks, "rank"));
  }
  if (measurement.nhosts > 0) text += fmt::format(" on {}", plural(measurement.nhosts, "host"));
  return measurement.name.empty() ? text : fmt::format("{} ({})", text, measurement.name);
}

std::string_view word_of(PerfAnswer answer) {
  constexpr std::string_view kWords[] = {"normal", "limited", "below", "unknown"};
  return kWords[static_cast<size_t>(answer)];
}

/// "482 GB/s at 8 GiB, of 480 that the path allows and 480 that the machine could".
std::string reached_text(const PerfVerdict& verdict) {
  if (verdict.reached < 0) return {};
  const bool is_known =
      verdict.measurement != nullptr && verdict.measurement->op != Operation::Unknown;
  std::string text = bandwidth_text(verdict.reached) + (is_known ? " GB/s bus bandwidth" : " GB/s");
  if (verdict.reached_at >= 0) text += " at " + bytes_text(verdict.reached_at);
  if (verdict.ceiling > 0) {
    const double share = verdict.reached / verdict.ceiling;
    text += fmt::format(", {} the {} GB/s that this path allows",
                        share < 1 ? fmt::format("{:.0f} % of", 100 * share) : "all of",
                        bandwidth_text(verdict.ceiling));
  }
  if (is_above(verdict)) {
    text += fmt::format("{}{:.0f} % of the {} GB/s that this machine could reach",
                        verdict.ceiling > 0 ? "; " : ", ",
                        100 * verdict.reached / verdict.machine_ceiling,
                        bandwidth_text(verdict.machine_ceiling));
  }
  return text;
}

Table stages_table(const PerfVerdict& verdict) {
  Table table{.name = "stages", .columns = {"stage", "GB/s", "shown", "why", "source"}};
  for (const Ceiling& ceiling : verdict.ceilings) {
    table.add(to_string(ceiling.stage), bandwidth_text(ceiling.busbw),
              ceiling.in_use ? "by the logs" : "by names", ceiling.why, ceiling.source);
  }
  return table;
}

Quotes seen(const Job& job, const std::vector<Evidence>& evidence, size_t most) {
  Quotes quotes{.label = "seen"};
  for (const Evidence& line : evidence) {
    if (quotes.quotes.size() == most) {
      ++quotes.more;
    } else {
      quotes.quotes.push_back({place_name(job, line.where), line.text});
    }
  }
  return quotes;
}

/// The curve, and straight lines across for what is possible.
Figure curve_of(const PerfVerdict& verdict) {
  const Measurement& measured = *verdict.measurement;
  CurveChart chart;
  Table table{.name = "busbw", .columns = {"size", "out_of_place", "in_place", "algbw", "time_us"}};
  CurveChart::Curve out{"out of place", {}};
  CurveChart::Curve in{"in place", {}};
  for (const MeasuredPoint& point : measured.points) {
    if (point.bytes <= 0) continue;
    const auto add = [&](CurveChart::Curve& curve, const MeasuredValue& value) {
      if (value.busbw >= 0) curve.points.emplace_back(point.bytes, value.busbw);
    };
    add(out, point.out_of_place);
    add(in, point.in_place);
    const auto number = [](double value) { return value < 0 ? Cell() : Cell(value); };
    table.rows.push_back({text_cell(bytes_text(point.bytes)), number(point.out_of_place.busbw),
                          number(point.in_place.busbw),
                          number(std::max(point.out_of_place.algbw, point.in_place.algbw)),
                          number(std::max(point.out_of_place.time_us, point.in_place.time_us))});
  }
  for (CurveChart::Curve* curve : {&out, &in}) {
    std::ranges::stable_sort(curve->points);
    if (!curve->points.empty()) chart.curves.push_back(std::move(*curve));
  }
  if (verdict.ceiling > 0) chart.lines.push_back({"this path allows", verdict.ceiling});
  if (is_above(verdict)) chart.lines.push_back({"this machine could", verdict.machine_ceiling});
  return {"bus bandwidth over size", std::move(chart), std::move(table)};
}

std::vector<Block> verdict_blocks(const Job& job, const PerfVerdict& verdict, bool is_lead,
                                  Reader reader) {
  const bool whole = reader == Reader::Page;
  std::vector<Block> blocks;
  if (!is_lead) {
    blocks.push_back(Statement{
        .word = std::string(word_of(verdict.answer)), .text = verdict.headline, .main = true});
  }
  if (std::string reached = reached_text(verdict); !reached.empty()) {
    blocks.push_back(Labelled{"reached", std::move(reached)});
  }
  const size_t most = whole ? SIZE_MAX : 4;
  if (Quotes lines = seen(job, verdict.evidence, whole ? 12 : 3); !lines.quotes.empty()) {
    blocks.push_back(std::move(lines));
  }
  add_items("note", verdict.notes, most, blocks);
  add_items("try", verdict.attempts, most, blocks);
  add_items("do not", verdict.do_not, most, blocks);
  add_items("capture", verdict.capture, most, blocks);
  if (!whole) return blocks;
  if (!verdict.ceilings.empty()) blocks.push_back(stages_table(verdict));
  if (verdict.measurement != nullptr && !verdict.measurement->points.empty())
    blocks.push_back(curve_of(verdict));
  return blocks;
}

/// Who is late, communicator by communicator; on a screen only those in which somebody is.
void add_late(const Job& job, const std::vector<LateVerdict>& late, Reader reader,
              std::vector<Section>& sections) {
  Section section{.heading = "Who is late", .id = "late"};
  for (const LateVerdict& verdict : late) {
    if (verdict.late.empty() && reader == Reader::Screen && late.size() > 1) continue;
    const std::string title = fmt::format(
        "{}: {} of {} by {}, median {}{}",
        verdict.communicator.empty() ? "Communicator" : verdict.communicator,
        plural(verdict.calls, "call"), plural(verdict.nranks, "rank"), verdict.source,
        late_time_text(verdict.median_call_us),
        verdict.clock_error_us > 0 ? ", clocks known to " + late_time_text(verdict.clock_error_us)
                                   : "");
    std::vector<std::string> points;
    for (const LateParty& party : verdict.late) points.push_back(late_sentence(verdict, party));
    if (points.empty()) {
      points.push_back(verdict.why_nobody.empty() ? "Nobody is late."
                                                  : capitalised(verdict.why_nobody) + ".");
    }
    section.blocks.push_back(Statement{.word = title});
    section.blocks.push_back(Items{"", std::move(points)});
    if (Quotes lines = seen(job, verdict.evidence, 3); !lines.quotes.empty()) {
      section.blocks.push_back(std::move(lines));
    }
  }
  if (!section.blocks.empty()) sections.push_back(std::move(section));
}

void add_node_sets(const NodeSetAnswer& answer, std::vector<Section>& sections) {
  if (answer.why.empty()) return;
  std::vector<Block> blocks = {Labelled{"result", answer.why},
                               Labelled{"found", std::string(node_set_limits())}};
  if (!answer.explained.empty()) {
    blocks.push_back(Labelled{"cause", suspects_text(answer.explained, " and ")});
  } else if (!answer.left.empty()) {
    blocks.push_back(Labelled{"may be", suspects_text(answer.left, " or ")});
  }
  std::vector<std::string> runs;
  for (const NodeSetRun& run : answer.next)
    runs.push_back("Run nccl-tests on " + run_text(run) + ".");
  add_items("next", runs, 3, blocks);
  sections.push_back({.heading = "Which hosts", .blocks = std::move(blocks), .id = "hosts"});
}

/// "a b", "a b c and 5 more".
std::string hosts_text(const PerfVerdict& verdict) {
  constexpr size_t kMostHosts = 4;
  if (verdict.measurement == nullptr) return {};
  const std::vector<std::string>& hosts = verdict.measurement->hosts;
  if (hosts.size() <= kMostHosts) return join(hosts, " ");
  return fmt::format("{} and {} more", join(std::span(hosts).first(kMostHosts - 1), " "),
                     hosts.size() - kMostHosts + 1);
}

/// A line for each verdict that is not shown whole.
Table rest_table(std::span<const PerfVerdict* const> rest) {
  Table table{.name = "measured",
              .columns = {"what", "hosts", "verdict", "reached", "of", "stage"}};
  for (const PerfVerdict* verdict : rest) {
    const auto bandwidth = [](double value) {
      return value > 0 ? bandwidth_text(value) : std::string();
    };
    table.add(title_of(*verdict), hosts_text(*verdict), word_of(verdict->answer),
              bandwidth(verdict->reached), bandwidth(verdict->ceiling), to_string(verdict->stage));
  }
  return table;
}

/// On a screen so many verdicts are shown whole.
constexpr size_t kShownWhole = 2;
constexpr size_t kCurves = 40;  ///< On a page.

std::vector<Section> perf_sections(const Job& job, const std::vector<PerfVerdict>& verdicts,
                                   const std::vector<LateVerdict>& late,
                                   const NodeSetAnswer& node_sets, bool has_lead, Reader reader) {
  std::vector<Section> sections;
  add_node_sets(node_sets, sections);
  if (reader == Reader::Screen && first_late(late) != nullptr) {
    add_late(job, late, reader, sections);
  }
  const std::vector<const PerfVerdict*> order = by_urgency(verdicts);
  size_t shown = std::min(order.size(), reader == Reader::Page ? kCurves : kShownWhole);
  // Beside slow ones, the normal ones are a line each.
  if (reader == Reader::Screen && shown > 1 && !is_slow(*order[1])) shown = 1;
  for (size_t i = 0; i < shown; ++i) {
    const bool is_lead = has_lead && i == 0;
    sections.push_back({title_of(*order[i]), verdict_blocks(job, *order[i], is_lead, reader)});
  }
  if (shown < order.size()) {
    sections.push_back({"Also measured", {rest_table(std::span(order).subspan(shown))}});
  }
  if (reader == Reader::Page || first_late(late) == nullptr) add_late(job, late, reader, sections);
  return sections;
}

}  // namespace

PerfReport perf_report(const Job& job, Tool tool, std::span<const Measurement> elsewhere) {
  std::vector<PerfVerdict> verdicts = quoted_verdicts(job);
  for (const Measurement& measurement : elsewhere) {
    // All that is known of that machine stands in the measurement.
    verdicts.push_back(judge_measurement(measurement, machine_of(Job(), measurement)));
  }
  return {std::move(tool), job, std::move(verdicts), late_verdicts(job), node_sets_of(job)};
}

PerfStatus status_of(const PerfReport& report) {
  const NodeSetAnswer& sets = report.node_sets;
  const bool is_apart = sets.lowest > 0;  // A run, from one like it.
  if (std::ranges::any_of(report.verdicts, is_slow) || first_late(report.late) != nullptr ||
      !sets.explained.empty() || !sets.slow.empty() ||
      (is_apart && sets.lowest <= kSlowTo * sets.beside)) {
    return PerfStatus::Slow;
  }
  if (report.verdicts.empty()) {
    return report.late.empty() ? PerfStatus::NothingMeasured : PerfStatus::CannotTell;
  }
  // What cannot be told of one curve does not make the others less normal.
  const bool any_normal = std::ranges::any_of(report.verdicts, [](const PerfVerdict& verdict) {
    return verdict.answer == PerfAnswer::Normal;
  });
  // Nor is a run normal where one like it is clearly faster.
  return any_normal && !is_apart ? PerfStatus::Normal : PerfStatus::CannotTell;
}

std::string headline_of(const PerfReport& report) {
  if (!report.node_sets.explained.empty()) {
    const std::vector<Suspect>& suspects = report.node_sets.explained;
    return fmt::format("{} {} the slow runs: {}", capitalised(suspects_text(suspects, " and ")),
                       suspects.size() == 1 ? "explains" : "explain", report.node_sets.why);
  }
  const LateVerdict* late = first_late(report.late);
  const auto order = by_urgency(report.verdicts);
  const NodeSetAnswer& sets = report.node_sets;
  const bool is_explained = !order.empty() && is_slow(*order.front()) &&
                            (sets.slow.empty() || order.front()->answer == PerfAnswer::Limited);
  if (sets.lowest > 0 && !is_explained) {
    constexpr std::string_view kNotYet = "Not yet: ";
    const bool are_several = sets.slow.size() > 1;
    return fmt::format(
        "{} reached {} GB/s{} where one like {} reached {}. {}",
        are_several ? plural(sets.slow.size(), "run") : "One run", bandwidth_text(sets.lowest),
        are_several ? " or more" : "", are_several ? "them" : "it", bandwidth_text(sets.beside),
        sets.slow.empty() && sets.lowest > kSlowTo * sets.beside
            ? "That is too little to be normal, and too near to be called slow."
        : sets.why.starts_with(kNotYet) ? capitalised(sets.why.substr(kNotYet.size()))
                                        : sets.why);
  }
  if (!order.empty() && (is_slow(*order.front()) || late == nullptr)) {
    return order.front()->headline;
  }
  if (late != nullptr) return late_sentence(*late, late->late.front());
  if (!report.late.empty()) {
    const auto open = std::ranges::find_if_not(report.late, &LateVerdict::is_judged);
    return open != report.late.end()
               ? fmt::format(
                     "No bandwidth was measured in these logs, and who is late cannot be "
                     "told: {}.",
                     open->why_nobody)
               : std::string(
                     "No bandwidth was measured in these logs, and nobody is late in the "
                     "calls that carry times.");
  }
  return "These logs hold no measurement that is read here: no table of nccl-tests, no benchmark, "
         "no durations.";
}

Document perf_document(const PerfReport& report, Reader reader) {
  constexpr const char* kWords[] = {"SLOW", "NORMAL", "CANNOT TELL", "NOTHING MEASURED"};
  Document document{
      .lead = {.word = kWords[static_cast<size_t>(status_of(report))],
               .text = headline_of(report),
               .main = true},
      .signature = fmt::format("{} {}. Made from the logs alone; nothing was asked of "
                               "the machines.",
                               report.tool.name, report.tool.version)};
  const auto order = by_urgency(report.verdicts);
  const bool leads = !order.empty() && headline_of(report) == order.front()->headline;
  document.sections =
      perf_sections(report.job, report.verdicts, report.late, report.node_sets, leads, reader);
  if (status_of(report) == PerfStatus::NothingMeasured) {
    add_points(document, "To measure",
               {"Run nccl-tests on the same hosts, with NCCL_DEBUG=INFO and "
                "NCCL_DEBUG_SUBSYS=INIT,GRAPH,NET,ENV,TUNING, and give both outputs to ncclog: "
                "`mpirun -np 16 -N 8 all_reduce_perf -b 8 -e 8G -f 2 -g 1`",
                "Who is late shows in Flight Recorder dumps with TORCH_NCCL_ENABLE_TIMING=1, or in "
                "files of the NCCL Inspector."});
  }
  return document;
}

Section perf_section(const Job& job) {
  Section section{.heading = "Speed", .id = "speed"};
  const std::vector<PerfVerdict> verdicts = quoted_verdicts(job);
  const std::vector<LateVerdict>& late = late_verdicts(job);
  // What a job that measured nothing could reach is no part of a report about something else.
  const bool measured = std::ranges::any_of(
      verdicts, [](const PerfVerdict& verdict) { return verdict.measurement != nullptr; });
  if (!measured && first_late(late) == nullptr) return section;
  section.parts = perf_sections(job, verdicts, late, node_sets_of(job), false, Reader::Page);
  return section;
}

}  // namespace ncclog

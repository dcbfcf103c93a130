#include "diagnose/perf/verdict/verdict_statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "base/collectives.h"
#include "base/text.h"
#include "diagnose/perf/verdict/perf_words.h"

namespace ncclog {
namespace {

std::string_view op_name(const Measurement& measurement) {
  return measurement.op == Operation::Unknown ? "The test" : name_of(measurement.op);
}

}  // namespace

std::string subject_of(const Measurement& measurement, const Machine& machine) {
  std::string text(op_name(measurement));
  if (machine.nranks > 0) text += fmt::format(" of {}", plural(machine.nranks, "rank"));
  if (machine.nhosts > 0) text += fmt::format(" on {}", plural(machine.nhosts, "host"));
  return text;
}

int percent_below(double reached, double of) {
  return static_cast<int>(std::lround(100 * (1 - reached / of)));
}

void add_words(std::vector<std::string>& to, std::vector<std::string> words) {
  for (std::string& word : words) {
    if (std::ranges::find(to, word) == to.end()) to.push_back(std::move(word));
  }
}

void quote_row(const Measurement& measurement, int64_t bytes, PerfVerdict& verdict) {
  const MeasuredPoint* best = nullptr;
  for (const MeasuredPoint& point : measurement.points) {
    if (point.bytes == bytes && (best == nullptr || point.busbw() > best->busbw())) best = &point;
  }
  if (best != nullptr && best->where.line > 0)
    verdict.evidence.push_back({best->where, best->text});
}

void note_traps(const JudgedCurve& of, PerfVerdict& verdict) {
  const Curve& curve = of.curve;
  const Measurement& measurement = of.measurement;
  const Machine& machine = of.machine;
  const auto note = [&](std::string_view key, const PerfFigures& figures = {}) {
    add_words(verdict.notes, perf_words("note", key, figures));
  };
  if (curve.wrong > 0) note("wrong", {{"figure", std::to_string(curve.wrong)}});
  const std::string size = bytes_text(curve.last_at);
  if (curve.falls) {
    note("falls", {{"figure", bandwidth_text(curve.best)}, {"last", bandwidth_text(curve.last)}});
  } else if (curve.dips) {
    note("dip", {{"size", bytes_text(curve.best_at)}, {"last", bandwidth_text(curve.last)}});
  }
  if (curve.one_size) note("one-size", {{"size", size}});
  constexpr double kNoticeable = 0.1;
  const double gap = std::abs(curve.in_place_gain);
  if (gap > kNoticeable) note("gap", {{"figure", fmt::format("{:.0f}", 100 * gap)}});
  if (measurement.by == MeasuredBy::TorchBench) note("units");
  if (curve.climbing) note("climbing", {{"size", size}});
  constexpr int64_t kSmall = int64_t{64} << 20;
  if (curve.last_at < kSmall) note("small-sizes", {{"size", size}});
  constexpr double kMisleading = 0.7;
  if (measurement.mean_busbw > 0 && measurement.mean_busbw < kMisleading * curve.best) {
    note("average", {{"figure", bandwidth_text(measurement.mean_busbw)},
                     {"from", bytes_text(curve.first_at)}});
    add_words(verdict.do_not, perf_words("not", "average"));
  }
  const double line = of.expected.line;
  if (line > 0 && curve.best > path_factor("carried") * line && verdict.stage == Stage::NIC) {
    note("over-line",
         {{"figure", bandwidth_text(line)}, {"hosts", std::to_string(machine.nhosts)}});
  }
  if (of.expected.within && machine.gpu != nullptr && machine.gpu->nvls > 0) {
    const PerfFigures figures = {{"op", std::string(name_of(measurement.op))},
                                 {"figure", bandwidth_text(machine.gpu->ring)},
                                 {"usual", bandwidth_text(machine.gpu->nvls)}};
    if (measurement.op != Operation::AllReduce && measurement.op != Operation::Unknown) {
      note("no-nvls-op", figures);
    } else if (machine.nvls == false || machine.nranks < machine.gpu->nvls_from) {
      note("no-nvls", figures);
    } else if (curve.best < 0.85 * machine.gpu->nvls && verdict.answer == PerfAnswer::Normal) {
      note("nvls-unused", figures);
    }
  }
  if (measurement.nranks_by_ratio && machine.nranks > 0) {
    note("ranks-by-ratio", {{"figure", std::to_string(machine.nranks)}});
  }
  if (machine.per_host() == 1 && machine.nhosts > 1 && machine.nics != 1) note("one-gpu-a-host");
  if (machine.shares_gpu && verdict.stage != Stage::Rank) note("shared-gpu");
  constexpr double kFarBelow = 0.6;  // The model counts no synchronisation.
  const bool is_open =
      verdict.answer == PerfAnswer::Below || verdict.answer == PerfAnswer::CannotTell;
  if (is_open && curve.best > 0 && curve.best < kFarBelow * machine.modelled) {
    note("modelled", {{"figure", bandwidth_text(machine.modelled)}, {"by", machine.modelled_by}});
  }
  if (of.expected.network.known == Known::Fitted) {
    note("nic-rate", {{"figure", fmt::format("{:g}", of.expected.network.gbits)}});
  }
}

void state_normal(const Ceiling& ceiling, const JudgedCurve& of, PerfVerdict& verdict) {
  verdict.answer = PerfAnswer::Normal;
  verdict.stage = ceiling.stage;
  verdict.ceiling = ceiling.busbw;
  verdict.machine_ceiling = ceiling.busbw;
  // Far from what large sizes give, a reader asks why that is normal.
  const bool is_small = of.curve.best < 0.6 * ceiling.busbw && of.curve.best_at > 0;
  const std::string size = bytes_text(of.curve.best_at);
  verdict.headline = fmt::format(
      "{}: {} GB/s{} of the {} that {}: normal{}", subject_of(of.measurement, of.machine),
      bandwidth_text(of.curve.best), is_small ? " at " + size : "", bandwidth_text(ceiling.busbw),
      ceiling.why, is_small ? " for no more than " + size : "");
  verdict.evidence.insert(verdict.evidence.end(), ceiling.evidence.begin(), ceiling.evidence.end());
  for (const PerfCause& cause : of.causes) {
    const auto setting = cause.figures.find("setting");
    if (setting == cause.figures.end()) continue;
    add_words(verdict.notes, perf_words("note", "set", {{"setting", setting->second}}));
  }
}

void ask_for_more(const JudgedCurve& of, PerfVerdict& verdict) {
  const Machine& machine = of.machine;
  const auto capture = [&](std::string_view key) {
    add_words(verdict.capture, perf_words("capture", key));
  };
  if (machine.gpu == nullptr && of.measurement.gpus.empty()) capture("ranks");
  if (machine.net == NetKind::Unknown && !of.expected.within) capture("transport");
  if (machine.searched.within < 0) capture("graph");
  if (machine.nics > 0 && machine.nic_gbits < 0 && !of.expected.within) capture("rates");
  constexpr int64_t kEnough = int64_t{1} << 30;
  if (of.curve.last_at > 0 && of.curve.last_at < kEnough) capture("sizes");
}

void state_limited(const PerfCause& cause, const JudgedCurve& of, PerfVerdict& verdict) {
  const MachineExpectation& expected = of.expected;
  verdict.answer = PerfAnswer::Limited;
  verdict.stage = cause.stage;
  verdict.machine_ceiling = expected.best > 0 ? expected.best : expected.deciding.busbw;
  verdict.ceiling = cause.path;
  // What was reached refutes a share that is left in general.
  if (cause.path > 0 && cause.path < of.curve.best) verdict.ceiling = verdict.machine_ceiling;
  if (cause.key == "few-nics") {
    verdict.ceiling = expected.deciding.busbw;
    verdict.machine_ceiling = cause.path;
  }
  // With all its lanes the NIC would carry what its port does.
  if (cause.key == "nic-lanes" && expected.network.by_slot && expected.network.nics > 0) {
    verdict.machine_ceiling *=
        expected.network.nics * expected.network.gbits / 8 / expected.network.bandwidth;
  }
  if (cause.stage == Stage::Protocol && is_on_loopback(of.machine)) {
    verdict.ceiling = verdict.machine_ceiling = path_factor("loopback-tcp");
  }
  if (cause.path > 0 && cause.key != "few-nics") {
    verdict.ceilings.push_back(
        {cause.stage, cause.path, -1,
         "is left by " + join(perf_words("cause", cause.key, cause.figures), ""), cause.source,
         cause.evidence, true});
  }
  const double of_what = verdict.machine_ceiling;
  verdict.headline = fmt::format(
      "{}: {} GB/s{}, limited by {}", subject_of(of.measurement, of.machine),
      bandwidth_text(of.curve.best),
      of_what > 0 ? fmt::format(", {} % below the {} of {}", percent_below(of.curve.best, of_what),
                                bandwidth_text(of_what),
                                cause.stage == Stage::Protocol && is_on_loopback(of.machine)
                                    ? "Simple on the same path"
                                    : "this machine")
                  : std::string(),
      join(perf_words("cause", cause.key, cause.figures), ""));
  for (const Evidence& line : cause.evidence) {
    if (line.where.line > 0) verdict.evidence.push_back(line);
  }
  add_words(verdict.attempts, perf_words("try", cause.key, cause.figures));
  if (cause.stage == Stage::TCP || cause.stage == Stage::SHM || cause.stage == Stage::Protocol) {
    add_words(verdict.do_not, perf_words("not", "fabric"));
  }
  if (cause.stage == Stage::Channels) add_words(verdict.do_not, perf_words("not", "channels"));
}

void state_below(double ceiling, double machine_ceiling, const std::string& of_what,
                 const JudgedCurve& of, PerfVerdict& verdict) {
  verdict.answer = PerfAnswer::Below;
  verdict.ceiling = ceiling;
  verdict.machine_ceiling = machine_ceiling;
  const bool ends_lower = of.curve.falls || of.curve.dips;
  verdict.headline = fmt::format(
      "{}: {} GB/s{}, {} % below the {} {}{}; these lines do not tell which stage or host it is",
      subject_of(of.measurement, of.machine), bandwidth_text(of.curve.best),
      ends_lower ? " at best" : "", percent_below(of.curve.best, ceiling), bandwidth_text(ceiling),
      of_what,
      ends_lower ? fmt::format(", and {} % below it at {}", percent_below(of.curve.last, ceiling),
                               bytes_text(of.curve.last_at))
                 : "");
  if (of.curve.falls) add_words(verdict.attempts, perf_words("try", "falls"));
  const bool over_pcie = of.expected.deciding.stage == Stage::PCIe;
  add_words(verdict.attempts, perf_words("try", !of.expected.within ? "below-between"
                                                : over_pcie         ? "below-pcie"
                                                                    : "below-within"));
  if (!of.expected.within && of.machine.over_ethernet) {
    add_words(verdict.attempts, perf_words("try", "below-ethernet"));
  }
  const double of_half = of.curve.best / ceiling / path_factor("acs");
  if (!of.expected.within && of_half > 0.75 && of_half < 1.25) {
    add_words(verdict.attempts, perf_words("try", "below-acs"));
  }
  constexpr int kMany = 8;
  if (of.machine.nhosts > kMany) add_words(verdict.notes, perf_words("note", "scale"));
  if (of.machine.nhosts > 1) {
    add_words(verdict.do_not, perf_words("not", "slow-host"));
    add_words(verdict.capture, perf_words("capture", "pairs"));
    add_words(verdict.capture, perf_words("capture", "repeat"));
  }
  ask_for_more(of, verdict);
}

void state_cannot_tell(const std::string& why, const JudgedCurve& of, PerfVerdict& verdict) {
  verdict.answer = PerfAnswer::CannotTell;
  verdict.headline = fmt::format("{}: {} GB/s; {}", subject_of(of.measurement, of.machine),
                                 bandwidth_text(std::max(of.curve.best, 0.0)), why);
  ask_for_more(of, verdict);
}

}  // namespace ncclog

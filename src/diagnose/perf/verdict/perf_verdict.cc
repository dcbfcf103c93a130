#include "diagnose/perf/verdict/perf_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "base/text.h"
#include "diagnose/perf/measured/curve.h"
#include "diagnose/perf/verdict/expectation.h"
#include "diagnose/settings/nccl_variables.h"

namespace ncclog {
namespace {

/// A curve beside all that it is judged by.
struct JudgedCurve {
  const Measurement& measurement;
  const Machine& machine;
  Curve curve;
  MachineExpectation expected;
  std::vector<PerfCause> causes;
};

/// From here on a curve is near its plateau.
constexpr int64_t kLargeBytes = int64_t{1} << 30;

/// "AllReduce of 16 ranks on 2 hosts: 487 GB/s": how headlines begin.
std::string reached_text(const JudgedCurve& judged) {
  const Operation op = judged.measurement.op;
  const Machine& machine = judged.machine;
  std::string text(op == Operation::Unknown ? "The test" : name_of(op));
  // Two decimals of both bandwidths tell a large number of ranks roughly.
  constexpr int kMostExact = 64;
  const bool is_rough = judged.measurement.nranks_by_ratio && machine.nranks > kMostExact;
  if (machine.nranks > 0)
    text += fmt::format(" of {}{}", is_rough ? "about " : "", plural(machine.nranks, "rank"));
  if (machine.nhosts > 0) text += fmt::format(" on {}", plural(machine.nhosts, "host"));
  if (judged.curve.best <= 0) return text;
  return fmt::format("{}: {} GB/s", text, bandwidth_text(judged.curve.best));
}

/// Of `whole`, which is above 0, in per cent.
int64_t percent_of(double reached, double whole) { return std::lround(100 * reached / whole); }

/// "74 % below", or "12 % above": how far `reached` is from `whole`, which is above 0.
std::string percent_off(double reached, double whole) {
  const int64_t off = percent_of(reached, whole) - 100;
  return fmt::format("{} % {}", std::abs(off), off > 0 ? "above" : "below");
}

/// Adds the sentences of that kind about `of` that the verdict does not have yet.
void say(PerfVerdict& verdict, std::string_view kind, std::string_view of,
         const PerfFigures& figures = {}) {
  std::vector<std::string>& to = kind == "note"  ? verdict.notes
                                 : kind == "try" ? verdict.attempts
                                 : kind == "not" ? verdict.do_not
                                                 : verdict.capture;
  for (std::string& words : perf_words(kind, of, figures)) {
    if (std::ranges::find(to, words) == to.end()) to.push_back(std::move(words));
  }
}

void add_lines(const std::vector<Evidence>& lines, PerfVerdict& verdict) {
  verdict.evidence.insert(verdict.evidence.end(), lines.begin(), lines.end());
}

/// Quotes the best row of that size.
void quote_row(const Measurement& measurement, int64_t bytes, PerfVerdict& verdict) {
  const MeasuredPoint* best = nullptr;
  for (const MeasuredPoint& point : measurement.points) {
    if (point.bytes == bytes && (best == nullptr || point.busbw() > best->busbw())) best = &point;
  }
  if (best != nullptr && best->where.line > 0)
    verdict.evidence.push_back({best->where, best->text});
}

/// The best bus bandwidth of each size.
std::map<int64_t, double> best_by_size(const Measurement& measurement) {
  std::map<int64_t, double> best;
  for (const MeasuredPoint& point : measurement.points) {
    double& known = best[point.bytes];
    known = std::max(known, point.busbw());
  }
  return best;
}

/// Where a curve that falls does so most, behind its best: a size, and the one before it.
struct SteepestFall {
  std::pair<int64_t, double> before;  ///< Bytes, GB/s.
  std::pair<int64_t, double> at;
};

/// Of a curve with two sizes or more.
SteepestFall steepest_fall(const Measurement& measurement, int64_t best_at) {
  const std::map<int64_t, double> best = best_by_size(measurement);
  auto worst = std::next(best.begin());
  const auto share = [](auto size) { return size->second / std::prev(size)->second; };
  for (auto size = worst; size != best.end(); ++size) {
    const bool is_behind = size->first > best_at;
    if (is_behind && (worst->first <= best_at || share(size) < share(worst))) worst = size;
  }
  return {*std::prev(worst), *worst};
}

/// "bus bandwidth falls from 36.8 GB/s at 32 MiB to 6.31 GB/s at 64 MiB".
std::string fall_text(const SteepestFall& fall) {
  return fmt::format("bus bandwidth falls from {} GB/s at {} to {} GB/s at {}",
                     bandwidth_text(fall.before.second), bytes_text(fall.before.first),
                     bandwidth_text(fall.at.second), bytes_text(fall.at.first));
}

/// Notes what a careless reader would take wrongly.
void note_traps(const JudgedCurve& judged, PerfVerdict& verdict) {
  const Curve& curve = judged.curve;
  const Measurement& measurement = judged.measurement;
  const Machine& machine = judged.machine;
  const auto note = [&](std::string_view key, const PerfFigures& figures = {}) {
    say(verdict, "note", key, figures);
  };
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
  // Where a smaller one is the best, or the end is even, larger ones are not what lacks.
  const bool is_even = !curve.climbing && !curve.one_size && !curve.dips && !curve.falls;
  if (curve.last_at < kSmall && !is_even &&
      (curve.best_at < 0 || curve.best_at > curve.last_at / 4))
    note("small-sizes", {{"size", size}});
  constexpr double kMisleading = 0.7;
  if (measurement.mean_busbw > 0 && measurement.mean_busbw < kMisleading * curve.best) {
    note("average", {{"figure", bandwidth_text(measurement.mean_busbw)}});
    say(verdict, "not", "average");
  }
  const double line = judged.expected.line;
  if (line > 0 && curve.best > path_factor("carried") * line && verdict.stage == Stage::NIC) {
    note("over-line",
         {{"figure", bandwidth_text(line)}, {"hosts", std::to_string(machine.nhosts)}});
  }
  if (judged.expected.within && machine.gpu != nullptr && machine.gpu->nvls > 0) {
    const PerfFigures figures = {{"op", std::string(name_of(measurement.op))},
                                 {"figure", bandwidth_text(machine.gpu->ring)},
                                 {"usual", bandwidth_text(machine.gpu->nvls)}};
    if (measurement.op != Operation::AllReduce && measurement.op != Operation::Unknown) {
      note("no-nvls-op", figures);
    } else if (machine.nvls == false) {
      note("no-nvls", figures);
    } else if (machine.nranks >= machine.gpu->nvls_from && curve.last_at >= kLargeBytes &&
               curve.best < 0.85 * machine.gpu->nvls && verdict.answer == PerfAnswer::Normal) {
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
}

/// Names what the next log should hold, so that it tells more.
void ask_for_more(const JudgedCurve& judged, PerfVerdict& verdict) {
  const Machine& machine = judged.machine;
  const auto capture = [&](std::string_view key) { say(verdict, "capture", key); };
  if (machine.gpu == nullptr && judged.measurement.gpus.empty()) capture("ranks");
  if (machine.net == NetKind::Unknown && !judged.expected.within) capture("transport");
  if (machine.searched_within < 0) capture("graph");
  if (machine.nics > 0 && machine.nic_gbits < 0 && !judged.expected.within) capture("rates");
  if (judged.curve.last_at > 0 && judged.curve.last_at < kLargeBytes) capture("sizes");
}

// The answers. Each sets answer, headline and ceilings of the verdict, and adds to the rest.

void state_normal(const Ceiling& ceiling, const JudgedCurve& judged, PerfVerdict& verdict) {
  verdict.answer = PerfAnswer::Normal;
  verdict.stage = ceiling.stage;
  verdict.ceiling = ceiling.busbw;
  verdict.machine_ceiling = ceiling.busbw;
  // Far from what large sizes give, a reader asks why that is normal.
  const bool is_small = judged.curve.best < 0.6 * ceiling.busbw && judged.curve.best_at > 0 &&
                        judged.curve.last_at < kLargeBytes;
  const bool is_all = judged.curve.best >= ceiling.busbw;
  const std::string size = bytes_text(judged.curve.best_at);
  verdict.headline = fmt::format("{}{}{} the {} that {}: normal{}", reached_text(judged),
                                 is_small ? " at " + size : "", is_all ? ", all of" : " of",
                                 bandwidth_text(ceiling.busbw), ceiling.why,
                                 is_small ? " for no more than " + size : "");
  add_lines(ceiling.evidence, verdict);
  for (const PerfCause& cause : judged.causes) {
    const auto setting = cause.figures.find("setting");
    if (setting == cause.figures.end()) continue;
    say(verdict, "note", "set", {{"setting", setting->second}});
  }
}

void state_limited(const PerfCause& cause, const JudgedCurve& judged, PerfVerdict& verdict) {
  const MachineExpectation& expected = judged.expected;
  verdict.answer = PerfAnswer::Limited;
  verdict.stage = cause.stage;
  verdict.machine_ceiling = expected.best > 0 ? expected.best : expected.deciding.busbw;
  verdict.ceiling = cause.path;
  // What was reached refutes a share that is left in general.
  if (cause.path > 0 && cause.path < judged.curve.best) verdict.ceiling = verdict.machine_ceiling;
  // What was expected is what the parts allow that are listed.
  if (cause.whole > 0) {
    verdict.ceiling = expected.deciding.busbw;
    verdict.machine_ceiling = cause.whole;
  }
  // With all its lanes the NIC would carry what its port does.
  if (cause.key == "nic-lanes" && expected.network.by_slot && expected.network.nics > 0) {
    verdict.machine_ceiling *=
        expected.network.nics * expected.network.gbits / 8 / expected.network.bandwidth;
  }
  if (cause.stage == Stage::Protocol && is_on_loopback(judged.machine)) {
    verdict.ceiling = verdict.machine_ceiling = path_factor("loopback-tcp");
  }
  if (cause.path > 0) {
    verdict.ceilings.push_back(
        {cause.stage, cause.path, -1,
         "is left by " + join(perf_words("cause", cause.key, cause.figures), ""), cause.source,
         cause.evidence, true});
  }
  // What the host would have without the setting is in no line.
  const double of_what = cause.key == "hca" ? -1 : verdict.machine_ceiling;
  constexpr double kAllOfIt = 0.5;  // Of what a limit leaves, less is held up by more than it.
  const bool is_partly = cause.path > 0 && judged.curve.best < kAllOfIt * cause.path;
  verdict.headline = fmt::format(
      "{}{}, {}limited by {}{}", reached_text(judged),
      of_what > 0 ? fmt::format(", {} the {} of {}", percent_off(judged.curve.best, of_what),
                                bandwidth_text(of_what),
                                cause.stage == Stage::Protocol && is_on_loopback(judged.machine)
                                    ? "Simple on the same path"
                                    : "this machine")
                  : std::string(),
      is_partly ? "in part " : "", join(perf_words("cause", cause.key, cause.figures), ""),
      is_partly ? fmt::format("; that alone would leave {}", bandwidth_text(cause.path)) : "");
  add_lines(cause.evidence, verdict);
  say(verdict, "try", cause.key, cause.figures);
  if (cause.stage == Stage::TCP || cause.stage == Stage::SHM || cause.stage == Stage::Protocol) {
    say(verdict, "not", "fabric");
  }
  if (cause.stage == Stage::Channels) say(verdict, "not", "channels");
}

/// `of_what`: what `ceiling` is, a clause that follows the figure.
void state_below(double ceiling, double machine_ceiling, const std::string& of_what,
                 const JudgedCurve& judged, PerfVerdict& verdict) {
  verdict.answer = PerfAnswer::Below;
  verdict.ceiling = ceiling;
  verdict.machine_ceiling = machine_ceiling;
  const bool ends_lower = judged.curve.falls || judged.curve.dips;
  verdict.headline = fmt::format(
      "{}{}, {} the {} {}{}; these lines do not tell which stage or host it is",
      reached_text(judged), ends_lower ? " at best" : "", percent_off(judged.curve.best, ceiling),
      bandwidth_text(ceiling), of_what,
      ends_lower ? fmt::format(", and {} it at {}", percent_off(judged.curve.last, ceiling),
                               bytes_text(judged.curve.last_at))
                 : "");
  if (judged.curve.falls) say(verdict, "try", "falls");
  const bool over_pcie = judged.expected.deciding.stage == Stage::PCIe;
  say(verdict, "try",
      !judged.expected.within ? "below-between"
      : over_pcie             ? "below-pcie"
                              : "below-within");
  if (!judged.expected.within && judged.machine.over_ethernet) {
    say(verdict, "try", "below-ethernet");
  }
  const double of_half = judged.curve.best / ceiling / path_factor("acs");
  if (!judged.expected.within && of_half > 0.75 && of_half < 1.25) say(verdict, "try", "below-acs");
  constexpr int kMany = 8;
  if (judged.machine.nhosts > kMany) say(verdict, "note", "scale");
  if (judged.machine.nhosts > 1) {
    say(verdict, "not", "slow-host");
    say(verdict, "capture", "pairs");
    say(verdict, "capture", "repeat");
  }
  ask_for_more(judged, verdict);
}

/// `why`: a clause that follows what was reached.
void state_cannot_tell(const std::string& why, const JudgedCurve& judged, PerfVerdict& verdict) {
  verdict.answer = PerfAnswer::CannotTell;
  verdict.headline = fmt::format("{}; {}", reached_text(judged), why);
  ask_for_more(judged, verdict);
}

// Which answer it is.

/// Share of `busbw` that a size shows where a call costs some time to begin with: 73 us on 8 H200
/// (published by size), 340 us on two hosts of 8 H100, 570 us on ten.
double share_at(int64_t bytes, double busbw, double factor, int nranks, bool within) {
  constexpr double kWithin = 73;
  constexpr double kBetween = 270;
  constexpr double kPerRank = 4;
  const double start_us = within ? kWithin : kBetween + kPerRank * std::clamp(nranks, 2, 512);
  const double moving_us = static_cast<double>(bytes) / (busbw / factor) / 1e3;
  return moving_us / (start_us + moving_us);
}

/// Nothing was moved, or nothing was measured.
bool judge_no_test(const JudgedCurve& judged, PerfVerdict& verdict) {
  if (judged.machine.nranks == 1) {
    const int lone = judged.measurement.lone_processes;
    state_cannot_tell(
        lone > 1
            ? fmt::format("cannot tell: {} processes ran the test each for itself, with one "
                          "rank, as a build without MPI does",
                          lone)
            : std::string("cannot tell: with one rank no data are moved, so this is no test of "
                          "communication"),
        judged, verdict);
    verdict.capture.clear();
    say(verdict, "try", "one-rank");
    return true;
  }
  if (judged.measurement.is_mean_alone) {
    state_cannot_tell(
        "cannot tell: that is the mean over all sizes of the test, and no row is whole", judged,
        verdict);
    say(verdict, "not", "average");
    return true;
  }
  if (judged.curve.best > 0) return false;
  const auto best =
      std::ranges::max_element(judged.measurement.points, {},
                               [](const MeasuredPoint& one) { return one.out_of_place.algbw; });
  const bool has_algbw = best != judged.measurement.points.end() && best->out_of_place.algbw > 0;
  state_cannot_tell(
      has_algbw ? fmt::format("cannot tell: the algorithm bandwidth alone is printed, {} GB/s{}; "
                              "without operation and ranks it tells nothing of a link",
                              bandwidth_text(best->out_of_place.algbw),
                              best->bytes > 0 ? " at " + bytes_text(best->bytes) : "")
                : std::string("cannot tell: no row has a bandwidth"),
      judged, verdict);
  if (has_algbw) verdict.evidence.push_back({best->where, best->text});
  return true;
}

/// Hosts with one GPU whose EFA cannot reach its memory.
bool judge_efa_without_gdr(const JudgedCurve& judged, PerfVerdict& verdict) {
  const Machine& machine = judged.machine;
  const bool is_efa = machine.provider == "efa" ||
                      (machine.provider.empty() && machine.net_name == "AWS Libfabric");
  // GPUs of the small instances, as T4, have none at all.
  const bool may_have_gdr = machine.gpu != nullptr && machine.gpu->has_rdma();
  if (!is_efa || machine.slingshot || machine.gdr == true || may_have_gdr ||
      machine.type != nullptr || machine.nranks > 4)
    return false;
  const double usual = path_factor("efa-without-gdr");
  if (judged.curve.best < path_factor("normal-nic") * usual || judged.curve.best > 2 * usual)
    return false;
  verdict.answer = PerfAnswer::Normal;
  verdict.stage = Stage::NICWithoutGDR;
  verdict.headline = reached_text(judged) +
                     " over EFA, as hosts with one GPU and data staged in host memory give: normal";
  add_lines(machine.nic_lines, verdict);
  return true;
}

/// A curve that falls needs no ceiling.
void state_fall(const JudgedCurve& judged, PerfVerdict& verdict) {
  const SteepestFall fall = steepest_fall(judged.measurement, judged.curve.best_at);
  verdict.answer = PerfAnswer::Below;
  std::string who = reached_text(judged);
  who.erase(std::min(who.rfind(": "), who.size()));
  verdict.headline = fmt::format(
      "{}: {}, which no healthy path does; {} GB/s at best; these lines do not tell why", who,
      fall_text(fall), bandwidth_text(judged.curve.best));
  quote_row(judged.measurement, fall.at.first, verdict);
  say(verdict, "try", "falls");
  ask_for_more(judged, verdict);
}

/// What most such hosts have is a guess: only what is below the least of them is accused.
void judge_typical(const JudgedCurve& judged, PerfVerdict& verdict) {
  const Ceiling& usual = judged.expected.deciding;
  // Hosts with a quarter of the usual network are sold too.
  constexpr double kLeast = 0.25;
  const double least = kLeast * judged.expected.line;
  if (judged.curve.falls) {
    state_fall(judged, verdict);
    verdict.ceiling = std::max(least, judged.curve.best);
    if (judged.curve.best < usual.busbw) verdict.machine_ceiling = usual.busbw;
    if (judged.machine.nhosts > 1) {
      say(verdict, "not", "slow-host");
      say(verdict, "capture", "pairs");
    }
    return;
  }
  if (judged.curve.best < path_factor("normal-nic") * least) {
    state_below(least, usual.busbw, "that the slowest network of such hosts gives", judged,
                verdict);
    return;
  }
  state_cannot_tell(
      fmt::format("cannot tell: {} usually, and the logs do not tell what these hosts have "
                  "({} % of that)",
                  usual.why, percent_of(judged.curve.best, usual.busbw)),
      judged, verdict);
  verdict.machine_ceiling = usual.busbw;
  const double share = judged.curve.best / usual.busbw;
  if (share > 0.4 && share < 0.6) say(verdict, "note", "half");
}

/// Which line is missing, so that there is no ceiling: a clause.
std::string what_is_unknown(const Machine& machine) {
  if (is_several_domains(machine)) return "for so many racks of NVLink no figure is published";
  if (machine.gpu == nullptr && machine.nics < 1)
    return "nothing in the logs names the machine or its links";
  if (machine.nhosts < 1) return "the logs do not tell on how many hosts it ran";
  if (machine.nics > 0)
    return fmt::format("the rate of the {} is in no line", plural(machine.nics, "NIC"));
  return fmt::format("the logs do not tell which links {} x {} have here", machine.nranks,
                     upper_case(machine.gpu->words));
}

/// No ceiling: lines may still show what limits it, and what the value would be normal of.
void judge_unknown_machine(const JudgedCurve& judged, PerfVerdict& verdict) {
  const Machine& machine = judged.machine;
  // Every process names a network, one that it does not need as well.
  constexpr double kSurelyNotLocal = 5;
  const bool may_be_local = machine.nhosts < 0 && machine.hosts_seen < 2 && !machine.has_net &&
                            judged.curve.best >= kSurelyNotLocal;
  const auto cause = std::ranges::find_if(judged.causes, [&](const PerfCause& each) {
    return !(may_be_local && each.stage == Stage::TCP && each.key.starts_with("tcp"));
  });
  if (cause != judged.causes.end()) {
    state_limited(*cause, judged, verdict);
    ask_for_more(judged, verdict);
    return;
  }
  if (judged.curve.falls) return state_fall(judged, verdict);
  const std::string fitting = rates_that_fit(machine, judged.measurement.op, judged.curve.plateau);
  state_cannot_tell(fmt::format("cannot tell: {}{}", what_is_unknown(machine),
                                fitting.empty() ? "" : "; it would be " + fitting),
                    judged, verdict);
}

/// What was reached as a part of what the cause leaves; -1: it is not known how much that is.
double share_of_path(const PerfCause& cause, const JudgedCurve& judged) {
  return cause.path > 0 ? judged.curve.best / cause.path : -1;
}

/// From here on the cause explains the value, and more than that did not pass the link.
constexpr double kNearPath = 0.5;
constexpr double kBeyondPath = 1.1;

/// Fewer NICs than GPUs, as a setting names them, are what limits what is normal for so many NICs.
bool is_at_few_hcas(const JudgedCurve& judged) {
  const MachineExpectation& expected = judged.expected;
  return !judged.curve.falls && judged.curve.best >= expected.slow_below &&
         judged.curve.best <= kBeyondPath * std::max(expected.most, expected.deciding.busbw);
}

/// A listing does not tell whether data passed the link: the value has to fit.
bool is_refuted(const PerfCause& cause, const JudgedCurve& judged) {
  if (cause.key == "hca") return judged.expected.known() && !is_at_few_hcas(judged);
  if (cause.key.find("-lanes") == cause.key.npos) return false;
  const double share = share_of_path(cause, judged);
  return share > kBeyondPath || (!judged.expected.known() && share < kNearPath);
}

/// A cause that a line proves may take so much that even a normal-looking value is its own.
bool is_at_its_limit(const PerfCause& cause, const JudgedCurve& judged) {
  const double share = share_of_path(cause, judged);
  if (cause.key == "nic-slot" || cause.key == "pcie") return share <= kBeyondPath;
  if (cause.key == "gpu-lanes" || cause.key == "nic-lanes")
    return share >= kNearPath && share <= kBeyondPath;
  if (cause.whole > 0) return judged.curve.best < 0.75 * cause.whole;
  if (cause.key == "hca") return is_at_few_hcas(judged);
  if (cause.key == "algo") {
    return cause.path > 0 && cause.path < 0.85 * judged.expected.deciding.busbw &&
           judged.curve.best < 0.85 * judged.expected.deciding.busbw;
  }
  return false;
}

/// Neither normal of the best way that data may go, nor slow of the least.
void judge_between(const JudgedCurve& judged, PerfVerdict& verdict) {
  const MachineExpectation& expected = judged.expected;
  const double most = expected.most;
  state_cannot_tell(
      fmt::format("cannot tell: {} % of the {} that {}{}", percent_of(judged.curve.best, most),
                  bandwidth_text(most),
                  expected.deciding.busbw < most ? "the best way over these links gives"
                                                 : expected.deciding.why,
                  expected.deciding.stage == Stage::PCIe
                      ? ", and hosts that are in order give less where GPUs share switches or go "
                        "through host memory"
                      : ", and the logs do not tell which way NCCL took"),
      judged, verdict);
  verdict.machine_ceiling = most;
  verdict.capture.clear();
  say(verdict, "capture", "graph");
}

void judge_by_ceiling(const JudgedCurve& judged, PerfVerdict& verdict) {
  const MachineExpectation& expected = judged.expected;
  const Ceiling& deciding = expected.deciding;
  const Curve& curve = judged.curve;
  const int nranks = std::max(judged.machine.nranks, 2);
  const double factor = std::max(1.0, bus_factor(judged.measurement.op, nranks));
  const double share = share_at(curve.last_at, deciding.busbw, factor, nranks, expected.within);
  // Below, how long a call takes to start differs more than links do.
  const bool is_too_small = share < (expected.within ? 0.25 : 0.5);
  double normal_at_size = deciding.normal_from * share;
  if (expected.within && share < 0.9)
    normal_at_size = std::max(normal_at_size, path_factor("normal-nvls") * deciding.busbw * share);
  const bool is_high = !curve.falls && (curve.plateau >= deciding.normal_from ||
                                        (!is_too_small && curve.best >= normal_at_size));
  for (const PerfCause& cause : judged.causes) {
    if (is_at_its_limit(cause, judged)) return state_limited(cause, judged, verdict);
  }
  constexpr double kNotBeyond = 1.15;
  if (is_high && curve.best > kNotBeyond * std::max(expected.most, deciding.busbw)) {
    state_cannot_tell(
        fmt::format("cannot tell: it is more than the {} that {}: something is not as assumed",
                    bandwidth_text(deciding.busbw), deciding.why),
        judged, verdict);
    return;
  }
  if (is_high) return state_normal(deciding, judged, verdict);
  if (judged.measurement.in_training) {
    return state_cannot_tell(
        "cannot tell: calls of a training were timed, and what a rank waits for others is part of "
        "them",
        judged, verdict);
  }
  // What only costs large messages shows nothing here.
  const auto shows_here = [](const PerfCause& cause) {
    return cause.stage != Stage::Protocol && cause.stage != Stage::Channels;
  };
  if (is_too_small && !curve.falls && std::ranges::none_of(judged.causes, shows_here)) {
    return state_cannot_tell(
        fmt::format("cannot tell: the size explains it; at {} starting a call takes most of its "
                    "time",
                    bytes_text(curve.last_at)),
        judged, verdict);
  }
  if (!judged.causes.empty()) {
    state_limited(judged.causes.front(), judged, verdict);
    ask_for_more(judged, verdict);
    return;
  }
  if (expected.network.known == Known::Typical && deciding.stage == Stage::NIC) {
    return judge_typical(judged, verdict);
  }
  if (!curve.falls && curve.best >= expected.slow_below * share)
    return judge_between(judged, verdict);
  const double of_what = expected.best > 0 ? expected.best : deciding.busbw;
  state_below(of_what, of_what,
              expected.best > 0
                  ? fmt::format("that such machines reach ({})", judged.machine.type_by)
                  : fmt::format("that {}", deciding.why),
              judged, verdict);
  verdict.stage = Stage::Unknown;
}

/// Of a job that measured nothing: "cannot tell", what limits by the paths that lines show, and what
/// to capture. nullopt: they show no path between ranks either.
std::optional<PerfVerdict> judge_paths(const Machine& machine) {
  const bool is_tcp = machine.net == NetKind::TCP && !machine.net_lines.empty();
  if (!machine.has_net && !machine.has_p2p && !machine.has_shm && !is_tcp) return std::nullopt;
  PerfVerdict verdict;
  std::string path = "data go over P2P";
  if (machine.has_net || (is_tcp && !machine.has_p2p && !machine.has_shm)) {
    const std::string name = "NET/" + printable(machine.net_name);
    if (machine.net == NetKind::TCP) {
      path = fmt::format("what limits it is TCP sockets ({})", name);
      verdict.stage = Stage::TCP;
    } else if (machine.gdr == false) {
      path = fmt::format(
          "what limits it is {} without GPUDirect RDMA, which stages data in host memory", name);
      verdict.stage = Stage::NICWithoutGDR;
    } else {
      path = fmt::format("data go over {} with GPUDirect RDMA, and NICs limit it", name);
      verdict.stage = Stage::NIC;
    }
    verdict.evidence = machine.has_net ? machine.gdr_lines : machine.net_lines;
  } else if (machine.has_shm) {
    path = "what limits it is host memory (SHM), through which GPUs of a host exchange data";
    verdict.stage = Stage::SHM;
    verdict.evidence = machine.shm_lines;
  } else {
    verdict.stage = Stage::NVLink;
  }
  verdict.headline = fmt::format(
      "Nothing was measured, so the rate cannot be told; {}{}", path,
      machine.channels > 0 ? fmt::format("; {}", plural(machine.channels, "channel")) : "");
  if (machine.channels > 0) verdict.evidence.push_back(machine.channels_line);
  say(verdict, "capture", "table");
  if (machine.has_net && machine.per_host() == 1) say(verdict, "capture", "pods");
  return verdict;
}

std::vector<PerfVerdict> derive_verdicts(const Job& job) {
  std::vector<PerfVerdict> verdicts;
  for (const Measurement& measurement : measurements(job)) {
    verdicts.push_back(judge_measurement(measurement, machine_of(job, measurement)));
  }
  if (verdicts.empty()) {
    if (auto paths = judge_paths(machine_of(job))) verdicts.push_back(std::move(*paths));
  }
  return verdicts;
}

// What verdicts on measurements say to rules.
//
//   job.perf_limited   yes, "AllReduce of 16 ranks on 2 hosts: 9.4 GB/s, 74 % below …, limited by …"
//   job.perf_below     yes, the same where no stage is known
//   job.perf_falls     yes, "AllReduce: bus bandwidth falls from 36.8 GB/s at 32 MiB to 6.31 GB/s …"
//   job.perf_normal    yes, where all measurements are normal
//
// A rule accuses, so that only what is known to be less than the machine gives counts as limited:
// sockets where nothing better is known are no finding.

/// Verdicts on measurements that `counts` accepts, as one answer.
template <typename Counts>
FactValue verdicts_answer(const Job& job, Counts counts) {
  // Most jobs measure nothing, and none of them is to pay for it.
  if (measurements(job).empty()) return unknown();
  AnswerParts parts;
  for (const PerfVerdict& verdict : perf_verdicts(job)) {
    if (verdict.measurement == nullptr || !counts(verdict)) continue;
    parts.words.push_back(verdict.headline);
    parts.evidence.insert(parts.evidence.end(), verdict.evidence.begin(), verdict.evidence.end());
  }
  return parts.answer(no(), "; ", kMostNamed);
}

/// Yes if some verdict is that, and less than its machine gives.
template <PerfAnswer answer>
FactValue perf_is(const Job& job, const Instance&) {
  return verdicts_answer(job, [](const PerfVerdict& verdict) {
    return verdict.answer == answer && verdict.machine_ceiling > 0 &&
           verdict.reached < verdict.machine_ceiling && !verdict.by_guess;
  });
}

/// "AllReduce reached 5.10 GB/s of bus bandwidth": what is low only by a guess of the network.
FactValue perf_low_by_guess(const Job& job, const Instance&) {
  if (measurements(job).empty()) return unknown();
  AnswerParts parts;
  for (const PerfVerdict& verdict : perf_verdicts(job)) {
    const bool is_low =
        verdict.answer == PerfAnswer::Below || verdict.answer == PerfAnswer::Limited;
    if (verdict.measurement == nullptr || !is_low || !verdict.by_guess) continue;
    const Operation op = verdict.measurement->op;
    parts.words.push_back(fmt::format("{} reached {} GB/s of bus bandwidth at {}",
                                      op == Operation::Unknown ? "The test" : name_of(op),
                                      bandwidth_text(verdict.reached),
                                      bytes_text(verdict.reached_at)));
    parts.evidence.insert(parts.evidence.end(), verdict.evidence.begin(), verdict.evidence.end());
  }
  return parts.answer(no(), "; ", kMostNamed);
}

/// "AllReduce of 16 ranks: 44.4 GB/s; cannot tell: …": measured, and not judged.
FactValue perf_open(const Job& job, const Instance&) {
  return verdicts_answer(job, [](const PerfVerdict& verdict) {
    return verdict.answer == PerfAnswer::CannotTell && verdict.reached > 0 &&
           !read_curve(*verdict.measurement).falls;
  });
}

/// "AllReduce: bus bandwidth falls from 36.8 GB/s at 32 MiB to 6.31 GB/s at 64 MiB": where a curve
/// that falls does so most, of a machine of which too little is known to judge it.
FactValue perf_falls(const Job& job, const Instance&) {
  if (measurements(job).empty()) return unknown();
  AnswerParts parts;
  for (const PerfVerdict& verdict : perf_verdicts(job)) {
    const bool is_open = verdict.measurement != nullptr && verdict.machine_ceiling <= 0;
    if (!is_open || !read_curve(*verdict.measurement).falls) continue;
    const Operation op = verdict.measurement->op;
    parts.words.push_back(
        fmt::format("{}: {}", op == Operation::Unknown ? "The test" : name_of(op),
                    fall_text(steepest_fall(*verdict.measurement, verdict.reached_at))));
    parts.evidence.insert(parts.evidence.end(), verdict.evidence.begin(), verdict.evidence.end());
  }
  return parts.answer(no(), "; ", kMostNamed);
}

/// One that is not normal, or below what nccl-tests was asked for, makes it "no".
FactValue perf_normal(const Job& job, const Instance&) {
  if (measurements(job).empty()) return unknown();
  const auto& verdicts = perf_verdicts(job);
  const bool all = std::ranges::all_of(
      verdicts, [](const PerfVerdict& verdict) { return verdict.answer == PerfAnswer::Normal; });
  const bool asked_more = std::ranges::any_of(
      job.nccl_tests, [](const NcclTestsRun& run) { return run.below_expected; });
  if (!all || asked_more) return no();
  return verdicts_answer(job, [](const PerfVerdict&) { return true; });
}

constexpr std::array kPerfFacts = {
    // Some measurement is below what its machine gives, and no line tells why.
    job_fact("job.perf_below", perf_is<PerfAnswer::Below>),
    // Some measurement is below what its machine gives, and lines show the stage that limits it.
    job_fact("job.perf_limited", perf_is<PerfAnswer::Limited>),
    // Some measurement is low where what the hosts have as network is guessed.
    job_fact("job.perf_low_by_guess", perf_low_by_guess),
    // Some bandwidth was measured, and too little is known of the machine to judge it.
    job_fact("job.perf_open", perf_open),
    // A measurement falls as messages grow, on a machine that is not known.
    job_fact("job.perf_falls", perf_falls),
    // Every measurement is what its machine gives.
    job_fact("job.perf_normal", perf_normal),
};

}  // namespace

PerfVerdict judge_measurement(const Measurement& measurement, const Machine& machine) {
  PerfVerdict verdict;
  verdict.measurement = &measurement;
  JudgedCurve judged = {measurement, machine, read_curve(measurement), {}, {}};
  verdict.reached = judged.curve.best;
  verdict.reached_at = judged.curve.best_at;
  quote_row(measurement, judged.curve.best_at, verdict);
  if (judge_no_test(judged, verdict)) return verdict;
  judged.expected = expect_of(machine, measurement.op, judged.curve.best);
  judged.causes = perf_causes(machine, measurement.op, judged.expected.deciding.busbw);
  std::erase_if(judged.causes, [&](const PerfCause& cause) { return is_refuted(cause, judged); });
  if (!judge_efa_without_gdr(judged, verdict)) {
    if (judged.expected.known()) {
      judge_by_ceiling(judged, verdict);
    } else {
      judge_unknown_machine(judged, verdict);
    }
  }
  verdict.ceilings.insert(verdict.ceilings.end(), judged.expected.ceilings.begin(),
                          judged.expected.ceilings.end());
  if (machine.modelled > 0) {
    verdict.ceilings.push_back({Stage::Algorithm,
                                machine.modelled,
                                -1,
                                fmt::format("NCCL expects of {}", machine.modelled_by),
                                "NCCL's tuning table, as it printed it",
                                {},
                                true});
  }
  const Known known = judged.expected.network.known;
  verdict.by_guess = !judged.expected.within &&
                     ((machine.rate_by_name && known == Known::Said) ||
                      (known == Known::Typical && verdict.answer == PerfAnswer::Limited));
  std::ranges::stable_sort(verdict.ceilings, {}, &Ceiling::busbw);
  std::erase_if(verdict.evidence, [](const Evidence& line) { return line.where.line == 0; });
  note_traps(judged, verdict);
  // What arrives wrong is no data, however fast it comes.
  const int64_t summed_up = measurement.wrong;
  if (judged.curve.wrong > 0 || summed_up > 0) {
    verdict.headline = fmt::format("{}, which matters before the speed; {}",
                                   judged.curve.wrong > 0
                                       ? plural(judged.curve.wrong, "value") + " arrived wrong"
                                       : plural(summed_up, "comparison") + " found wrong values",
                                   verdict.headline);
  }
  return verdict;
}

const std::vector<PerfVerdict>& perf_verdicts(const Job& job) {
  return job.answers.of<&derive_verdicts>(job);
}

std::span<const Fact> perf_facts() { return kPerfFacts; }

}  // namespace ncclog

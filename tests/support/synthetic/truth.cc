#include "support/synthetic/truth.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "support/synthetic/end_lines.h"
#include "support/synthetic/files.h"
#include "support/synthetic/nccl_lines.h"

namespace ncclog::testing {
namespace {

constexpr std::string_view kProblem = "problem";
constexpr std::string_view kSuspicious = "suspicious";
constexpr std::string_view kNothing = "nothing_found";
constexpr std::string_view kClean = "clean";

bool is_wrong_call(Fault act) {
  return act == Fault::WrongCount || act == Fault::WrongDatatype || act == Fault::WrongRoot ||
         act == Fault::WrongOp;
}

/// PyTorch up to 2.1 does not say which rank waits, unless the launcher labels its lines.
bool watchdogs_name_ranks(const Setting& setting) {
  return setting.release->torch != TorchEra::V21 || setting.prefix == LauncherPrefix::MpirunTag ||
         setting.prefix == LauncherPrefix::Srun || setting.prefix == LauncherPrefix::Prrte;
}

bool is_stopped_by_slurm(const Setting& setting) {
  return setting.ending == Ending::Stopped &&
         (setting.stopper == Stopper::Scancel || setting.stopper == Stopper::TimeLimit ||
          setting.stopper == Stopper::Preemption);
}

/// True if the end of the program stands in the log.
bool shows_finish(const Attempt& attempt, const LoopShape& shape) {
  const Setting& setting = attempt.setting;
  if (setting.ending != Ending::Finished) return false;
  const bool frees = shape.destroys && setting.logs_init && !setting.release->hides_destroy;
  return frees || says_that_it_finished(setting.steps);
}

class Evidence {
 public:
  Evidence(const Planted& planted, const Layout& layout, const LoopShape& shape,
           const Attempt& attempt, Stillness stillness)
      : planted_(planted),
        layout_(layout),
        shape_(shape),
        setting_(attempt.setting),
        run_(attempt.run),
        stillness_(stillness) {}

  /// What the guilty did left a trace: the job hung, or calls that differ stand in the log.
  bool is_marred() const {
    return planted_.act != Fault::None && (run_.hung || is_wrong_call(planted_.act));
  }

  bool must_name() const {
    const std::vector<int>& guilty = planted_.guilty;
    if (!is_marred() || !run_.hung || !setting_.logs_init) return false;
    if (std::find(guilty.begin(), guilty.end(), planted_.damaged) != guilty.end()) return false;
    // A scheduler that ends a job kills processes as well.
    if (planted_.act == Fault::Killed && setting_.kill_is_seen) {
      return !setting_.shares_process && !is_stopped_by_slurm(setting_);
    }
    // Who came after the others had given up is told from who came before by the order of lines.
    const bool is_ordered = setting_.files == Files::Merged || stamps_calls(setting_);
    if (planted_.act == Fault::Late && watchdogs_fired() && !is_ordered) return false;
    if (planted_.peer >= 0) return message_suffices();
    // A file that ends early may look whole, and of two who stopped one may seem to wait for the
    // rank whose calls are lost.
    const bool misleads = planted_.fault == Fault::CutFile || guilty.size() > 1;
    if (planted_.damaged >= 0 && misleads) return false;
    if (watchdogs_fired()) return watchdogs_suffice();
    // Without a watchdog's word nobody knows where a rank waits whose calls are lost: perhaps
    // those that are behind wait for it, while others run ahead.
    return stands_still() && planted_.damaged < 0 && calls_suffice();
  }

  /// Where as many did one thing as the other, both sides may be named.
  std::vector<int> sides() const {
    if (!is_marred() || comes_late() || planted_.act == Fault::StopMessage) return {};
    if (planted_.peer >= 0) return ends_of_message();
    if (outnumbers()) return {};
    return group().ranks;
  }

  /// Of a job that hung and whose guilty need not be named.
  bool shows_the_hang() const {
    if (watchdogs_fired() || stillness_ == Stillness::Stood) return true;
    return setting_.logs_calls && setting_.logs_init && !shape_.is_graph && ranks_are_apart();
  }

 private:
  const Group& group() const { return layout_.groups[static_cast<size_t>(planted_.group)]; }

  /// Members of a group, of those whose evidence is there, did not call as often as each other when
  /// the logs end. Where hosts run ahead, all may have called what only some of them do.
  bool ranks_are_apart() const {
    for (size_t g = 0; g < layout_.groups.size(); ++g) {
      std::set<int64_t> counts;
      for (const int rank : layout_.groups[g].ranks) {
        if (rank != planted_.damaged) {
          counts.insert(run_.progress[static_cast<size_t>(rank)][g].enqueued);
        }
      }
      if (counts.size() > 1) return true;
    }
    return false;
  }

  bool watchdogs_fired() const {
    return setting_.ending == Ending::Watchdog &&
           std::any_of(run_.ends.begin(), run_.ends.end(),
                       [](const RankEnd& end) { return end.is_in_call; });
  }

  bool stands_still() const {
    return setting_.ending == Ending::Stopped && stillness_ == Stillness::Stood;
  }

  bool comes_late() const {
    return planted_.act == Fault::Stop || planted_.act == Fault::Killed ||
           planted_.act == Fault::Late;
  }

  bool watchdogs_suffice() const {
    if (!is_wrong_call(planted_.act) && !watchdogs_name_ranks(setting_)) return false;
    if (setting_.logs_calls) return most_did_right();
    // That one rank's watchdog says nothing is no proof: the first one that gives up may end the
    // others. Where its own process tells how far it had come, it is.
    return comes_late() && all_others_wait() && tells_its_progress();
  }

  /// Both ends of a message that lacks one are in the log, and time passed.
  bool message_suffices() const {
    if (!setting_.logs_calls || shape_.is_graph || planted_.damaged >= 0) return false;
    // Behind the missing message others are missing; what came first shows a rank of the same
    // stage.
    if (layout_.tensor * layout_.data == 1) return false;
    return watchdogs_fired() ? watchdogs_name_ranks(setting_) : stands_still();
  }

  /// Without a watchdog, the calls alone have to show who waits for whom; those of a captured graph
  /// are not in the log.
  bool calls_suffice() const { return setting_.logs_calls && !shape_.is_graph && most_did_right(); }

  /// Any member that came shows that one did not; a call that differs needs a majority.
  bool most_did_right() const { return comes_late() ? honest_seen() > 0 : outnumbers(); }
  bool outnumbers() const { return honest_seen() > static_cast<int>(planted_.guilty.size()); }

  bool is_guilty(int rank) const {
    return std::binary_search(planted_.guilty.begin(), planted_.guilty.end(), rank);
  }

  /// How many ranks of the fault's group did as they should and are seen to.
  int honest_seen() const {
    return static_cast<int>(
        std::count_if(group().ranks.begin(), group().ranks.end(),
                      [&](int rank) { return rank != planted_.damaged && !is_guilty(rank); }));
  }

  /// Every process prints what it had enqueued on the first group when it hears of a time-out; the
  /// dead do not, and who has come meanwhile tells the same as the others.
  bool tells_its_progress() const {
    return setting_.release->torch == TorchEra::V27 && setting_.has_dump_signals &&
           planted_.act != Fault::Killed && planted_.act != Fault::Late && planted_.group == 0;
  }

  bool all_others_wait() const {
    for (int rank = 0; rank < layout_.world; ++rank) {
      if (run_.ends[static_cast<size_t>(rank)].is_in_call == is_guilty(rank)) return false;
    }
    return true;
  }

  /// The lines do not say whether a Send lacks its Recv or is one too many.
  std::vector<int> ends_of_message() const {
    std::vector<int> ends = planted_.guilty;
    if (planted_.peer != ends.front()) ends.push_back(planted_.peer);
    std::sort(ends.begin(), ends.end());
    return ends;
  }

  const Planted& planted_;
  const Layout& layout_;
  const LoopShape& shape_;
  const Setting& setting_;
  const JobRun& run_;
  Stillness stillness_;
};

std::vector<int> pids_of(const Layout& layout, const Setting& setting) {
  std::set<int> pids;
  for (int rank = 0; rank < layout.world; ++rank) pids.insert(pid_of(layout, setting, rank));
  return {pids.begin(), pids.end()};
}

std::vector<std::string_view> verdicts_of_healthy(const Truth& truth, const Attempt& last,
                                                  bool has_restarted) {
  const bool loses = truth.planted.damaged >= 0 || truth.planted.act != Fault::None;
  if (last.setting.ending == Ending::Finished) {
    if (loses) return {kClean, kNothing, kSuspicious};
    if (has_restarted) return {kClean, kNothing, truth.may_look_still ? kSuspicious : kClean};
    if (truth.shows_finish) return {kClean};
    return {kClean, kNothing};
  }
  if (truth.may_look_still || loses) return {kNothing, kSuspicious};
  return {kNothing};
}

std::vector<std::string_view> verdicts_of(const Truth& truth, const Evidence& evidence,
                                          const std::vector<Attempt>& attempts) {
  if (truth.must_name) return {kProblem};
  if (truth.is_hung) {
    if (evidence.shows_the_hang()) return {kProblem, kSuspicious};
    return {kProblem, kSuspicious, kNothing};
  }
  if (truth.is_marred) return {kProblem, kSuspicious, kNothing, kClean};
  return verdicts_of_healthy(truth, attempts.back(), attempts.size() > 1);
}

}  // namespace

namespace {

/// Megatron's own stamp has whole seconds.
double printed_time(const Setting& setting, const SpokenLine& line) {
  const bool is_whole = setting.steps == StepStyle::Megatron &&
                        line.voice == SpokenLine::Voice::Worker && line.is_dated;
  return is_whole ? std::floor(line.time) : line.time;
}

/// Steps and calls; what an initialisation prints says nothing about a rhythm.
bool shows_work(const SpokenLine& line) {
  return line.voice == SpokenLine::Voice::Worker ||
         line.text.find(": opCount ") != line.text.npos ||
         line.text.find("NCCL CALL nccl") != line.text.npos;
}

}  // namespace

Stillness stillness_of(const Setting& setting, bool calls_show_work, const SpokenLines& lines,
                       double stopped) {
  const bool is_collected = setting.prefix == LauncherPrefix::CloudWatch;
  if (setting.stopper == Stopper::Nobody) return Stillness::Unknown;
  if (!dates_its_words(setting.stopper) && !is_collected) return Stillness::Unknown;
  constexpr double kMoment = 0.05;  // Lines of one moment show no rhythm.
  double undated = 0;
  std::vector<double> beats;
  std::vector<double> work;
  for (const SpokenLine& line : lines) {
    if (is_dated(setting, line) && is_of_collectors_clock(setting, line)) {
      beats.push_back(printed_time(setting, line));
      if (shows_work(line)) work.push_back(beats.back());
    } else if (line.voice == SpokenLine::Voice::Worker) {
      undated = std::max(undated, line.time);
    }
  }
  std::sort(beats.begin(), beats.end());
  double longest = 0;
  for (size_t i = 1; i < beats.size(); ++i) longest = std::max(longest, beats[i] - beats[i - 1]);
  std::sort(work.begin(), work.end());
  size_t distinct = work.empty() ? 0 : 1;
  for (size_t i = 1; i < work.size(); ++i) distinct += work[i] - work[i - 1] > kMoment ? 1 : 0;
  if (distinct < 3) return Stillness::Unknown;
  // Steps without a date may have gone on for long, unless dated calls would show it.
  if (undated > beats.back() && !calls_show_work) return Stillness::Unknown;
  const double still = stopped - beats.back();
  // Slurm prints whole seconds.
  if (still <= std::max(longest, 1.0)) return Stillness::Worked;
  return still >= std::max(10.0, 8 * longest) ? Stillness::Stood : Stillness::Unknown;
}

Truth make_truth(const Planted& planted, const Layout& layout, const LoopShape& shape,
                 const std::vector<Attempt>& attempts, Stillness stillness) {
  const Attempt& first = attempts.front();
  const Evidence evidence(planted, layout, shape, first, stillness);
  Truth truth;
  truth.planted = planted;
  std::set<std::string> hosts;
  for (const int rank : planted.guilty) hosts.insert(host_name(layout, rank));
  truth.hosts.assign(hosts.begin(), hosts.end());
  truth.is_hung = first.run.hung;
  truth.is_marred = evidence.is_marred();
  truth.must_name = evidence.must_name();
  truth.sides = evidence.sides();
  truth.finished = attempts.back().setting.ending == Ending::Finished;
  truth.shows_finish = shows_finish(attempts.back(), shape);
  for (const Attempt& attempt : attempts) {
    const Ending ending = attempt.setting.ending;
    const bool was_cut_off = ending == Ending::Copied || ending == Ending::Stopped;
    truth.may_look_still |= was_cut_off && (&attempt != &first || stillness != Stillness::Worked);
    truth.may_look_still |= planted.damaged >= 0 && !shows_finish(attempt, shape);
    truth.run_pids.push_back(pids_of(layout, attempt.setting));
    const bool is_clean = shows_finish(attempt, shape) && (&attempt != &first || !truth.is_marred);
    truth.run_verdicts.push_back(is_clean ? kClean : std::string_view());
  }
  truth.verdicts = verdicts_of(truth, evidence, attempts);
  return truth;
}

}  // namespace ncclog::testing

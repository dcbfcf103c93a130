// What can two runs differ in? A run taken apart into statements that another run is held against.
//
//   setting    NCCL_P2P_DISABLE   "1"                      n1.txt:18
//   transport  within a host      P2P/CUMEM: 100%          n1.txt:60
//   channels   largest …          "24 coll, 0 nvls, …"     n1.txt:49
//
// A trait says nothing that differs between two runs of one job: no pid, pointer, port, address,
// time or name of a host. Ranks stand for hosts. A run that lacks a trait has nothing of the sort,
// or its logs do not tell; absence_of says which.

#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "diagnose/facts/coverage.h"
#include "diagnose/facts/fact.h"
#include "model/job.h"

namespace ncclog {

/// What a trait is about, in the order in which differences matter: what people choose before what
/// follows from it.
enum class Topic {
  Setting,
  Version,
  Network,
  Interface,
  Shape,
  Topology,
  Transport,
  Channels,
  Algorithm,
  Timing,
  Calls,
  Finding,
  Warning,
  UnknownLine,
};
inline constexpr int kTopics = 14;

/// "setting", "unknown_line": lower case, stable, for scripts.
std::string_view to_string(Topic topic);

/// A number of which only a large change counts.
struct Measure {
  double value = 0;
  double ratio = 1;  ///< The larger one must be so many times the smaller one, above 1,
  double least = 0;  ///< and larger by this much.
};

/// One thing that a run shows of itself.
struct Trait {
  Topic topic = Topic::Setting;
  std::string name;   ///< Once in a topic: "NCCL_P2P_DISABLE", "within a host". May hold any bytes.
  std::string value;  ///< For people; may hold any bytes.
  /// What is compared instead of the value, where that holds what does not matter.
  std::string alike;
  /// Compared instead of all that, if there are some; each with a line, where one is known.
  std::map<std::string, Evidence> items;
  std::map<std::string, double> shares;  ///< Likewise: what makes up which part of the whole, 0..1.
  std::optional<Measure> measure;        ///< Likewise.
  std::vector<std::string> explains;     ///< Names of traits of the same topic that follow from it.
  bool is_note = false;  ///< Worth a line if it differs, but the runs do not differ by that.
  bool is_late = false;  ///< Of a setting: printed behind the end of an initialisation only.
  std::vector<Evidence> evidence;  ///< The first lines that show it, at most kMaxEvidence.

  static constexpr size_t kMaxEvidence = 2;
};

/// True if the runs do not differ in it.
bool are_alike(const Trait& a, const Trait& b);

/// How a run stands to a trait that it lacks and another run has.
struct Absence {
  enum class State {
    Proven,      ///< It has nothing of the sort.
    Unknown,     ///< Its logs do not tell.
    Irrelevant,  ///< The two cannot be held against each other, and another trait says so.
  };
  State state = State::Proven;
  std::string why;  ///< If unknown: "its logs show no call", a clause about the run.
};

/// The global ranks whose settings the logs show.
std::set<int> ranks_with_settings(const Job& job);

/// All traits but findings, by topic and name. Of settings only what `ranks` say; empty: everybody.
std::vector<Trait> traits_of(const Job& job, const std::set<int>& ranks);

/// Why `job` lacks the trait `other` of another run.
Absence absence_of(const Job& job, const Trait& other);

// The collectors of traits, one for each part of a job, as diagnose/compare/run_difference.cc joins
// them.

using Traits = std::vector<Trait>;

/// Each adds what the job shows of its part.
void add_setting_traits(const Job& job, const std::set<int>& ranks, Traits& traits);
void add_version_traits(const Job& job, Traits& traits);
void add_network_traits(const Job& job, Traits& traits);
void add_interface_traits(const Job& job, Traits& traits);
void add_shape_traits(const Job& job, Traits& traits);
void add_transport_traits(const Job& job, Traits& traits);
void add_channel_traits(const Job& job, Traits& traits);
void add_topology_traits(const Job& job, Traits& traits);
void add_algorithm_traits(const Job& job, Traits& traits);
void add_timing_traits(const Job& job, Traits& traits);
void add_call_traits(const Job& job, Traits& traits);
void add_warning_traits(const Job& job, Traits& traits);

/// Each says why the job lacks a trait of its topic.
Absence setting_absence(const Job& job, const Trait& other);
Absence version_absence(const Job& job, const Trait& other);
Absence network_absence(const Job& job, const Trait& other);
Absence interface_absence(const Job& job, const Trait& other);
Absence shape_absence(const Job& job, const Trait& other);
Absence transport_absence(const Job& job, const Trait& other);
Absence channel_absence(const Job& job, const Trait& other);
Absence topology_absence(const Job& job, const Trait& other);
Absence algorithm_absence(const Job& job, const Trait& other);
Absence timing_absence(const Job& job, const Trait& other);
Absence call_absence(const Job& job, const Trait& other);
Absence warning_absence(const Job& job, const Trait& other);

inline Absence proven() { return {}; }
inline Absence irrelevant() { return {Absence::State::Irrelevant, {}}; }
inline Absence not_told(std::string why) { return {Absence::State::Unknown, std::move(why)}; }

/// Values that parts of a job give for one thing, with the first line that shows each.
struct StatedValues {
  std::map<std::string, Evidence> lines;

  void add(std::string value, const Evidence& line) { lines.try_emplace(std::move(value), line); }
  bool empty() const { return lines.empty(); }
};

/// A trait of all the values, "2.28.9, 2.29.2".
Trait trait_of(Topic topic, std::string name, const StatedValues& values);

/// True if some process has come to the end of an initialisation.
bool has_initialised(const Job& job);

/// `text` with hosts of the job and with addresses replaced: "peer gpu-a<41822>" → "peer *<41822>".
std::string without_names(const Job& job, std::string_view text);

/// "24 P2P/CUMEM", "P2P/CUMEM 75%, SHM 25%": what makes up a whole of `counts`, largest first.
std::string shares_text(const std::map<std::string, int64_t>& counts);

/// The parts of the whole that `counts` make up.
std::map<std::string, double> shares_of(const std::map<std::string, int64_t>& counts);

// Which difference between two runs may explain which other one?
//
//   NCCL_P2P_DISABLE   →  transports within a host, number of channels, times
//   another network    →  interfaces, transports between hosts, channels
//
// What a variable acts on was read in NCCL's source (graph/, transport/, init.cc of 2.18 to 2.28).
// "May" is all that can be said: two runs differ in more than their logs show.

/// What a difference is about.
struct DifferenceSubject {
  Topic topic = Topic::Setting;
  std::string_view name;
};

/// True if a difference in `cause` may bring about one in `effect`.
bool may_explain(const DifferenceSubject& cause, const DifferenceSubject& effect);

// What differs between two runs, and which difference may explain which?
//
//   setting    NCCL_P2P_DISABLE   good: not there      bad: "1"
//   transport  within a host      good: P2P/CUMEM      bad: SHM/direct/direct   ← may follow from
//   it
//
// Three answers for each trait that one of the runs has: alike, different, or not comparable
// because the other run's logs do not tell. Silence is never a difference. The sides are treated
// alike: compared the other way round, the same rows come with their sides exchanged.

/// What one run says.
struct DifferenceSide {
  std::string value;  ///< Empty: the run has nothing of the sort, or its logs do not tell.
  std::string gap;    ///< Why that is not known, a clause about the run; empty: it is known.
  std::vector<Evidence> evidence;
};

enum class RowState {
  Differs,
  Note,           ///< Differs in what does not matter to the job, such as how long it went on.
  NotComparable,  ///< One run's logs do not tell.
};

/// "differs", "note", "not_comparable".
std::string_view to_string(RowState state);

struct DifferenceRow {
  Topic topic = Topic::Setting;
  std::string name;  ///< Of the trait; empty: several of the topic, which the known side lists.
  RowState state = RowState::Differs;
  DifferenceSide good;
  DifferenceSide bad;
  std::vector<std::string> explains;  ///< As the traits: names of rows that follow from it.
  std::vector<size_t> causes;         ///< Rows that may explain it, into RunDifference::rows.
};

struct RunDifference {
  /// What differs, by topic and name; then notes; then what is not comparable.
  std::vector<DifferenceRow> rows;
  size_t alike = 0;  ///< Traits in which the runs do not differ.
};

/// A run as it is compared.
struct ComparedRun {
  const Job& job;
  std::vector<Trait> traits;  ///< By topic and name.
};

RunDifference compare_runs(const ComparedRun& good, const ComparedRun& bad);

/// How many rows have that state.
size_t count_rows(const RunDifference& difference, RowState state);

/// Of a row that others may explain, the one at the start: a row without causes.
size_t root_of(const RunDifference& difference, size_t row);

}  // namespace ncclog

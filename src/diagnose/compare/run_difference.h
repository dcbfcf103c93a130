// What differs between two runs, and which difference may explain which?
//
//   setting    NCCL_P2P_DISABLE   good: not there      bad: "1"
//   transport  within a host      good: P2P/CUMEM      bad: SHM/direct/direct   ← may follow from it
//
// A run is taken apart into facts that another run of the same job would share: no pid, pointer,
// port, address, time or name of a host is in them, and ranks stand for hosts. Three answers for
// each fact that one of the runs has: alike, different, or not comparable because the other run's
// logs do not tell. Silence is never a difference. The sides are treated alike: compared the other
// way round, the same rows come with their sides exchanged.

#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <set>

#include "diagnose/compare/speed_difference.h"
#include "diagnose/facts/fact.h"

namespace ncclog {

/// What a compared fact is about, in the order in which differences matter: what people choose
/// before what follows from it.
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

/// A topic, and the facts of it that a job shows.
struct TopicRow {
  Topic topic;
  std::string_view name;     ///< "setting", "unknown_line": stable, for scripts.
  std::string_view title;    ///< In front of a fact's name; empty: that says it all.
  std::string_view missing;  ///< Where a run has nothing of the sort: "not set".
  /// One value for each name, which is once in a topic. Of settings only what the instance's
  /// processes say. nullptr: others derive them.
  FactValue::Set (*derive)(const Job& job, const Instance& compared);
  /// Why logs do not tell of a fact that another run has; empty: `absent` knows.
  std::string_view untold;
  /// What a job says of a fact that `other` of another run has and it has not: "no", it has nothing
  /// of the sort; unknown, its logs do not tell, and `why` is a clause about the run; unknown
  /// without a reason, the two cannot be held against each other, and another fact says so.
  FactValue (*absent)(const Job& job, const FactValue& other, const Job& other_job) = nullptr;
};

/// All topics, in the enum's order.
std::span<const TopicRow> topic_rows();

/// What is known of the topic.
const TopicRow& row_of(Topic topic);

std::string_view to_string(Topic topic);

// The topics of each file that derives some.

std::span<const TopicRow> setup_topics();  ///< diagnose/compare/setup_facts.cc
std::span<const TopicRow> work_topics();   ///< diagnose/compare/work_facts.cc

/// The facts by which a run is compared, by topic and name.
using ComparedFacts = std::map<std::pair<Topic, std::string>, FactValue>;

/// All but findings. Of settings only what processes of `ranks` say; empty: everybody.
ComparedFacts compared_facts(const Job& job, const std::set<int>& ranks);

/// The global ranks whose settings the logs show.
std::set<int> ranks_with_settings(const Job& job);

// Words for deriving them.

constexpr size_t kMostShown = 2;  ///< Lines that show a compared fact.

/// Values that parts of a job state for one thing, with the first line that shows each.
using Stated = std::map<std::string, Evidence>;

/// What messages of kind T state; `value_of` makes a text of one, empty if it states nothing.
template <typename T, typename ValueOf>
Stated stated_by(const Job& job, ValueOf&& value_of) {
  Stated values;
  for_each_said<T>(job, [&](const Said<T>& said) {
    std::string value(value_of(said.message));
    if (!value.empty()) values.try_emplace(std::move(value), evidence_of(said.record()));
  });
  return values;
}

/// The same by the name of the fact.
using StatedByName = std::map<std::string, Stated>;

/// `facts`, and one for each name of which something is stated: "2.28.9, 2.29.2".
FactValue::Set stated_facts(const StatedByName& stated, FactValue::Set facts = {});

/// "56 NVL, 8 SYS".
template <typename Counts>
std::string counts_text(const Counts& counts) {
  std::vector<std::string> parts;
  for (const auto& [what, count] : counts) parts.push_back(fmt::format("{} {}", count, what));
  return join(parts, ", ");
}

/// `text` with hosts of the job and with addresses replaced: "peer gpu-a<41822>" → "peer *<41822>".
std::string without_names(const Job& job, std::string_view text);

// Which difference between two runs may explain which other one?
//
//   NCCL_P2P_DISABLE   →  transports within a host, number of channels, times
//   another network    →  interfaces, transports between hosts, channels
//
// "May" is all that can be said: two runs differ in more than their logs show. Which may explain
// which stands in influences.table.

/// True if a difference in `cause` may bring about one in `effect`; each is a topic and a name,
/// "transport within a host".
bool may_explain(std::string_view cause, std::string_view effect);

enum class RowState {
  Differs,
  Note,           ///< Differs in what does not matter to the job, such as how long it went on.
  NotComparable,  ///< One run's logs do not tell.
};

/// "differs", "note", "not_comparable".
constexpr std::string_view enum_words(RowState) { return "differs|note|not_comparable"; }

struct DifferenceRow {
  Topic topic = Topic::Setting;
  std::string name;  ///< Of the fact; empty: several of the topic, which the known side lists.
  RowState state = RowState::Differs;
  /// What each run says, in words; empty: nothing of the sort, or `why` its logs do not tell.
  FactValue good;
  FactValue bad;
  std::vector<size_t> causes;  ///< Rows that may explain it, into RunDifference::rows.
};

struct RunDifference {
  /// What differs, by topic and name; then notes; then what is not comparable.
  std::vector<DifferenceRow> rows;
  size_t alike = 0;                           ///< Facts in which the runs do not differ.
  std::optional<SpeedDifference> speed = {};  ///< Where both measured, and one is slower.
};

/// A run as it is compared.
struct ComparedRun {
  const Job& job;
  ComparedFacts facts;
  /// By the id of a finding, those that follow from it.
  std::map<std::string, std::vector<std::string>> explained = {};
};

RunDifference compare_runs(const ComparedRun& good, const ComparedRun& bad);

/// How many rows have that state.
size_t count_rows(const RunDifference& difference, RowState state);

/// Of a row that others may explain, the one at the start: a row without causes.
size_t root_of(const RunDifference& difference, size_t row);

}  // namespace ncclog

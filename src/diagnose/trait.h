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

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/fact.h"
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

}  // namespace ncclog

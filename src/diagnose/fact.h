// Facts: what the job as a whole shows and no single line says.
//
//   communicator.host_count = 2
//   job.rdma_evidence       = yes, "host a07 lists mlx5_0 (ibdev2netdev)"
//   job.watchdog_behind     = yes, ranks {5}; unknown where a rank's own lines are missing
//
// A fact is one function and one row of a family's table. Rules name it, messages quote it.
// It has three answers: a value, "no", and unknown. Silence is never taken for "no".

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/source_ref.h"
#include "diagnose/instance.h"
#include "model/job.h"

namespace ncclog {

/// A line that shows something.
struct Evidence {
  SourceRef where;
  std::string text;  ///< The line as read.

  bool operator==(const Evidence&) const = default;
};

/// The answer of a fact. monostate: unknown.
struct FactValue {
  std::variant<std::monostate, bool, int64_t, std::string> value;
  std::string what;  ///< The evidence in words, for messages; empty where `value` says it all.
  std::vector<Evidence> evidence;
  /// Processes (into Job::processes) that the fact identifies as guilty; empty: it names none.
  std::vector<int> processes;
  /// Global ranks identified as guilty that no process of the log stands for.
  std::vector<int> ranks;
  bool inferred = false;     ///< It rests on a communicator that was inferred: a grade less sure.
  std::string communicator;  ///< Id of the one in which it happened; empty: no single one.
  /// Hosts identified as guilty of which no process may be known.
  std::vector<std::string> hosts = {};

  bool known() const { return !std::holds_alternative<std::monostate>(value); }
};

enum class FactType { Bool, Integer, Text };

struct Fact {
  std::string_view name;  ///< "job.rdma_evidence": scope, dot, words.
  Scope scope;            ///< Asked about instances of this scope.
  FactType type;
  std::string_view meaning;  ///< One sentence for `ncclog rules show` and rules/README.md.
  FactValue (*derive)(const Job& job, const Instance& instance);
};

/// All facts, sorted by name; valid for the whole program.
std::span<const Fact> all_facts();

/// The fact with that name; nullptr if there is none.
const Fact* find_fact(std::string_view name);

/// As messages quote it: the number, the text, "yes"/"no", "unknown".
std::string fact_text(const FactValue& value);

}  // namespace ncclog

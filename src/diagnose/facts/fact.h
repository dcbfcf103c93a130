// Facts: what the job as a whole shows and no single line says.
//
//   communicator.host_count = 2
//   job.rdma_evidence       = yes, "host a07 lists mlx5_0 (ibdev2netdev)"
//   job.watchdog_behind     = yes, ranks {5}; unknown where a rank's own lines are missing
//
// A fact is one function and one row of a table. Rules and messages name it, a profile says what it
// should be, a diff compares it with another job's, coverage is why it is unknown. It is asked
// about an instance: the job, a host, a rank, a pair of ranks. It has three answers: a value, "no",
// and unknown. Silence is never taken for "no".

#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/line.h"
#include "log/known_messages.h"
#include "log/messages.h"
#include "log/wording/message_kind.h"
#include "model/job.h"
#include "model/statements.h"

namespace ncclog {

// What is a rule or a fact asked about? The whole job, a host, a process, a rank, a communicator, two
// ranks with a connection.
//
//   Channel 00/0 : 1[1] -> 2[2] via NET/IB/0     rank_pair: ranks 1 and 2

enum class Scope { Job, Host, Process, Rank, Communicator, RankPair };

/// As rule files spell it: "job", "host", …, "rank_pair".
constexpr std::string_view enum_words(Scope) {
  return "job|host|process|rank|communicator|rank_pair";
}

/// One thing of a scope, and the processes that speak for it.
struct Instance {
  Scope scope = Scope::Job;
  std::vector<int> processes;  ///< Into Job::processes, ascending.
  std::string host;            ///< Scope::Host; empty for processes whose host is unknown.
  int rank = -1;               ///< Scope::Rank; -1 for lines that name nobody.
  int communicator = -1;       ///< Scope::Communicator: into Job::communicators.
  /// RankPair: the paths between the two, as printed after "via": distinct, sorted.
  std::vector<std::string> paths = {};
};

/// Every instance of a scope, in sorted order. Lines that name neither host nor rank form
/// instances of their own for Host, Process and Rank, so that a quoted line is judged too.
std::vector<Instance> instances_of(const Job& job, Scope scope);

/// The instance of the whole job.
Instance job_instance(const Job& job);

/// Every two processes with a connection whose other end is known; lower ranks first, those whose
/// rank is unknown last (diagnose/network/connections.cc).
std::vector<Instance> rank_pairs(const Job& job);

/// "node-a", "rank 3", "ranks 1 and 2", "GPU 1b000 on node-a", "mlx5_0 port 1 on node-a",
/// "communicator 0x9c"; of a process its rank, else its pid. Any bytes that the log holds may be
/// in it.
std::string name_of(const Job& job, const Instance& instance);

/// A number of seconds ("s") or GB/s.
struct Quantity {
  double value = 0;
  std::string_view unit;
};

/// How often each of several things comes, as parts of a whole: "P2P/CUMEM" 18, "SHM" 6.
using Shares = std::map<std::string, int64_t>;

/// The answer of a fact. monostate: unknown.
struct FactValue {
  /// What each of the things is that a fact is about, such as all connections.
  using Set = std::vector<FactValue>;

  std::variant<std::monostate, bool, int64_t, std::string, Quantity, Set, Shares> value;
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
  /// Why it is unknown, or what a "no" about the log itself misses; may be empty.
  std::string why = {};
  std::string of = {};  ///< Which of the things of a set: "NCCL_P2P_DISABLE". May hold any bytes.
  bool minor = false;   ///< Two jobs that differ in nothing else do not differ.

  bool known() const { return !std::holds_alternative<std::monostate>(value); }
};

/// What the values of a fact are. It also says how those of two jobs are compared: numbers of a
/// unit by their ratio, shares by how far they are apart, everything else exactly.
enum class FactType { Bool, Integer, Text, Number, Set, Share };

struct Fact {
  std::string_view name;  ///< "job.rdma_evidence": scope, dot, words.
  Scope scope;            ///< Asked about instances of this scope.
  FactType type;
  std::string_view meaning;  ///< One sentence, for what was not judged; empty: nobody asks for it.
  FactValue (*derive)(const Job& job, const Instance& instance);
  /// How the next log tells the fact; nullptr: no log would.
  std::string (*how_to_capture)(const Job& job) = nullptr;
  /// It compares processes with each other, so it is unknown of a job that is not of one run.
  bool compares = false;

  /// The answer about an instance of the job. Nobody else calls `derive`: nothing is ever compared
  /// across runs.
  FactValue ask(const Job& job, const Instance& instance) const {
    return compares && !is_of_one_run(job) ? FactValue() : derive(job, instance);
  }
};

/// So many things of a kind a fact names in its words; the rest it counts.
inline constexpr size_t kMostNamed = 4;

/// The row of a fact about the whole job that answers yes, no or unknown, as nearly all do.
constexpr Fact job_fact(std::string_view name,
                        FactValue (*derive)(const Job& job, const Instance& the_job),
                        std::string_view meaning, std::string (*how_to_capture)(const Job& job)) {
  return {name, Scope::Job, FactType::Bool, meaning, derive, how_to_capture};
}

/// One for rules alone: their own words say what it means, and no log is asked for to tell it.
constexpr Fact job_fact(std::string_view name,
                        FactValue (*derive)(const Job& job, const Instance& the_job),
                        FactType type = FactType::Bool) {
  return {name, Scope::Job, type, {}, derive};
}

/// The row of a fact that compares processes with each other; takes what job_fact takes.
constexpr Fact comparing_fact(auto... row) {
  Fact fact = job_fact(row...);
  fact.compares = true;
  return fact;
}

/// All facts, sorted by name; valid for the whole program.
std::span<const Fact> all_facts();

/// The one of `facts` with that name; nullptr if there is none.
inline const Fact* find_fact(std::string_view name, std::span<const Fact> facts = all_facts()) {
  const auto found = std::ranges::find(facts, name, &Fact::name);
  return found == facts.end() ? nullptr : &*found;
}

/// As messages quote it: the number, the text, "yes"/"no", "unknown".
std::string fact_text(const FactValue& value);

/// True if two jobs do not differ in the fact; what lines show it makes no difference.
bool are_alike(const FactValue& a, const FactValue& b);

/// What `count` of all things makes up of the whole, 0 to 1.
double share_of(int64_t count, const Shares& all);

// The tables of facts, one for each file that derives some. A new fact adds a row there.

std::span<const Fact> job_facts();            ///< diagnose/facts/job_facts.cc
std::span<const Fact> end_facts();            ///< diagnose/outcome/end_facts.cc
std::span<const Fact> rendezvous_facts();     ///< diagnose/outcome/rendezvous_facts.cc
std::span<const Fact> outcome_facts();        ///< diagnose/outcome/outcome.cc
std::span<const Fact> stack_facts();          ///< diagnose/outcome/stacks_apart.cc
std::span<const Fact> error_facts();          ///< diagnose/outcome/error_facts.cc
std::span<const Fact> nccl_tests_facts();     ///< diagnose/outcome/nccl_tests_facts.cc
std::span<const Fact> gpu_memory_facts();     ///< diagnose/outcome/gpu_memory_facts.cc
std::span<const Fact> interface_facts();      ///< diagnose/network/interfaces.cc
std::span<const Fact> connection_facts();     ///< diagnose/network/connections.cc
std::span<const Fact> setting_facts();        ///< diagnose/settings/job_settings.cc
std::span<const Fact> host_facts();           ///< diagnose/hardware/host_facts.cc
std::span<const Fact> pci_facts();            ///< diagnose/hardware/pci_links.cc
std::span<const Fact> gpu_map_facts();        ///< diagnose/hardware/gpu_map.cc
std::span<const Fact> port_list_facts();      ///< diagnose/hardware/port_lists.cc
std::span<const Fact> p2p_matrix_facts();     ///< diagnose/hardware/p2p_matrix.cc
std::span<const Fact> odd_facts();            ///< diagnose/hardware/odd_ones.cc
std::span<const Fact> report_facts();         ///< diagnose/hosts/report_facts.cc
std::span<const Fact> host_network_facts();   ///< diagnose/hosts/networks.cc
std::span<const Fact> hang_facts();           ///< diagnose/calls/hang_facts.cc
std::span<const Fact> mismatch_facts();       ///< diagnose/calls/mismatch_facts.cc
std::span<const Fact> early_end_facts();      ///< diagnose/calls/early_end_facts.cc
std::span<const Fact> init_facts();           ///< diagnose/calls/init_facts.cc
std::span<const Fact> recorder_facts();       ///< diagnose/calls/recorder_facts.cc
std::span<const Fact> watchdog_facts();       ///< diagnose/calls/watchdog_facts.cc
std::span<const Fact> watchdog_call_facts();  ///< diagnose/calls/watchdog_call_facts.cc
std::span<const Fact> ras_facts();            ///< diagnose/calls/ras_facts.cc
std::span<const Fact> proxy_facts();          ///< diagnose/calls/proxy_dumps.cc
std::span<const Fact> perf_facts();           ///< diagnose/perf/verdict/perf_verdict.cc
std::span<const Fact> node_set_facts();       ///< diagnose/perf/node_sets/node_set_runs.cc
std::span<const Fact> late_facts();           ///< diagnose/perf/late/late_ranks.cc
std::span<const Fact> transfer_facts();       ///< diagnose/network/slow_transfers.cc

// Tables: what the program made of many lines of a job, in rows that rules gather, compare and name.
//
//   kernel_event     kind=xid  code=79  host=node-a  bus_id=0000:1b:00  concerns=job
//   setting_remark   kind=invalid  variable=NCCL_ALGO  value=Rign  message="is no algorithm, …"
//
//   {each: kernel_event, where: {kind: xid, code: 79}, words: "Xid {code}[ on {host}]"}
//
// A fact decides something; a table only says what is there, and a rule file what follows.

struct TableRow {
  std::vector<std::string> fields;  ///< One for each field of the table; empty: not known.
  Evidence line;                    ///< Shows it.
  int process = -1;                 ///< Whom it is about, into Job::processes; -1: nobody.
  std::string host = {};            ///< Where `process` is nobody: the host that it is about.
};

struct JobTable {
  std::string_view name;
  std::span<const Field> fields;
  std::vector<TableRow> (*rows)(const Job& job);
};

/// All of them; valid for the whole program.
std::span<const JobTable> job_tables();

JobTable kernel_event_table();    ///< diagnose/hardware/kernel_events.cc
JobTable named_failure_table();   ///< diagnose/outcome/named_failures.cc
JobTable port_counter_table();    ///< diagnose/hardware/port_counters.cc
JobTable rank_conflict_table();   ///< diagnose/facts/job_facts.cc
JobTable setting_remark_table();  ///< diagnose/settings/job_settings.cc

// Words for writing facts: how an answer is made.
//
//   return yes("ranks 1-3 wait for rank 0", {evidence_of(record)}, {process});
//
// A fact that cannot know returns unknown(); silence is never "no".

/// Every rank that lines of the communicator number belongs to a process of the job.
inline bool is_all_seen(const Communicator& comm) {
  return std::ranges::none_of(comm.ranks, [](const CommRank& rank) { return rank.process < 0; });
}

inline FactValue unknown(std::string why = {}) { return {.why = std::move(why)}; }

inline FactValue no() { return {false, {}, {}, {}, {}}; }

/// "yes" with its evidence in words and lines, and the processes (into Job::processes) and ranks
/// that it identifies as guilty.
inline FactValue yes(std::string what, std::vector<Evidence> evidence = {},
                     std::vector<int> processes = {}, std::vector<int> ranks = {}) {
  return {true, std::move(what), std::move(evidence), std::move(processes), std::move(ranks)};
}

inline FactValue number(int64_t value) { return {value, {}, {}, {}, {}}; }

/// The answer is "yes".
inline bool is_yes(const FactValue& value) {
  const bool* yes = std::get_if<bool>(&value.value);
  return yes != nullptr && *yes;
}

/// "yes" in the words that `words_of` has for the last message of kind T for which it has any, with
/// its line; no: there is none.
template <typename T, typename WordsOf>
FactValue said_answer(const Job& job, WordsOf words_of) {
  FactValue answer = no();
  for_each_said<T>(job, [&](const Said<T>& said) {
    std::string words = words_of(said);
    if (!words.empty()) answer = yes(std::move(words), {evidence_of(said.record())});
  });
  return answer;
}

/// An answer that several things make up, each with its words, lines and processes.
struct AnswerParts {
  std::vector<std::string> words;
  std::vector<Evidence> evidence;
  std::vector<int> processes;
  std::set<std::string> said = {};  ///< What add() has put into `words`.

  /// One thing more: its words, if they are new, a line that shows it, and who is guilty of it.
  void add(std::string word, Evidence line, int process = -1);

  /// The same where its words are new; else nothing.
  void add_new(std::string word, Evidence line);

  /// "yes" with the words of all, at most `most` of them in full; `otherwise` where there are none.
  FactValue answer(FactValue otherwise, std::string_view separator = "; ", size_t most = SIZE_MAX);
};

/// "a, b and 3 more": at most `most` parts in full.
std::string few_of(const std::vector<std::string>& parts, size_t most, std::string_view separator);

/// The communicator was inferred, and others have as many ranks: members of it may be theirs.
bool may_mix_others(const Job& job, const Communicator& comm);

/// "rank 3", "ranks 0-3", or "" for no ranks.
std::string ranks_phrase(const std::vector<int>& ranks);

/// "ranks 0-3", or "2 processes" where a rank is not known.
std::string processes_phrase(const Job& job, const std::vector<int>& processes);

// What do lines prove by where they stand? Each answer is known only where the lines around are all
// there: nothing torn, cut or lost.

/// Both lines stand in one input, so their order is that in which they were printed.
bool are_ordered(const Job& job, SourceRef a, SourceRef b);

/// Nanoseconds from one line to another; nullopt: one carries no time, their clocks do not compare,
/// or time runs backwards.
std::optional<int64_t> nanoseconds_between(std::string_view from, std::string_view to);

/// "12:04:11", as the line prints it; empty: it carries no time of day.
std::string clock_of(std::string_view line);

// What was the program doing when it stopped: training, or one of the rare phases between?
//
//   Validation:   1%|          | 2/210 [00:01<02:58,  1.16it/s]
//
// Evaluation and checkpoints are where ranks do different amounts of work.

/// Evaluation or checkpoint output shortly before `line` in the same stretch of input, or without
/// newline in front of it, unless training output stands between: "yes" with what is printed,
/// "Validation". Unknown: there is none that is known.
FactValue rare_phase_before(const Job& job, const Evidence& line);

}  // namespace ncclog

// Does the job look as somebody says that it should?
//
//   between_hosts: NET/IB     met: 64 connections
//   gpudirect: true           broken: rank 3 -> rank 11 via NET/IB/3 (2 of 64 connections)
//   nvls: true                cannot tell: no line says whether NVLink SHARP can be used
//
// Each is a fact of the job and what it should be. It has three outcomes: silence neither meets nor
// breaks it.

#pragma once

#include "diagnose/facts/fact.h"

namespace ncclog {

/// How values of a fact must fit what is expected of them.
enum class Fit {
  IsOne,        ///< Each is one of the texts,
  BeginsAsOne,  ///< begins as one of them,
  HoldsOne,     ///< holds one of them,
  IsNone,       ///< is none of them.
  Limits,       ///< Each is that number, or within limits of it.
  YesOrNo,
  Version,  ///< {at_least: "2.18"} or {at_most: …}: compared part by part.
};

/// What is expected. Only what its fit needs is set.
struct Expected {
  std::vector<std::string> texts;
  std::optional<int64_t> at_least;
  std::optional<int64_t> at_most;
  std::string version_at_least;
  std::string version_at_most;
  bool yes = false;
};

/// A fact that profiles may name.
struct ExpectedFact {
  /// Asked about the whole job. Its value is a set, which `what` says for people; with a `why`,
  /// there may be more values than are known. Of Scope::Host: there is one value for each host.
  Fact fact;
  Fit fit;
  std::string_view thing = {};  ///< What the values are of: they are counted. "connection"
};

/// All of them, in the order in which the manual lists them; valid for the whole program.
std::span<const ExpectedFact> expected_facts();

/// The one of that name; nullptr if there is none.
const ExpectedFact* find_expected(std::string_view name);

/// Whether the fact is as expected: "yes", or "no" with who breaks it. `what` says what the log
/// shows, or what it lacks.
FactValue test_fact(const ExpectedFact& fact, const Expected& expected, const Job& job);

/// Of a tested fact: "met", "broken", "unknown".
std::string_view outcome_word(const FactValue& tested);

}  // namespace ncclog

// Does the job look as somebody says that it should?
//
//   between_hosts: NET/IB     met: 64 connections
//   gpudirect: true           broken: rank 3 -> rank 11 via NET/IB/3 (2 of 64 connections)
//   nvls: true                cannot tell: no line says whether NVLink SHARP can be used
//
// An expectation is one word of a table with what it compares to. It has three outcomes: silence
// neither meets nor breaks it.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/facts/fact.h"
#include "model/job.h"

namespace ncclog {

/// What an expectation is given as.
enum class ExpectedType {
  Texts,    ///< One text or several, of which one must fit.
  Number,   ///< A number, or limits of it.
  YesOrNo,  ///< true or false.
  Version,  ///< {at_least: "2.18"} or {at_most: …}: compared part by part.
};

/// The value that is expected. Only what its type names is set.
struct Expected {
  std::vector<std::string> texts;
  std::optional<int64_t> at_least;
  std::optional<int64_t> at_most;
  std::string version_at_least;
  std::string version_at_most;
  bool yes = false;
};

enum class OutcomeState { Met, Broken, Unknown };

/// "met", "broken", "unknown".
std::string_view to_string(OutcomeState state);

/// How the job stands to an expectation.
struct Outcome {
  OutcomeState state = OutcomeState::Unknown;
  std::string what;                ///< What the log shows, or what it lacks.
  std::vector<Evidence> evidence;  ///< Of a broken one.
  std::vector<int> processes;      ///< Who breaks it; into Job::processes.
};

/// A word that profiles may use.
struct ExpectationKind {
  std::string_view name;
  ExpectedType type;
  std::string_view meaning;  ///< One line for people.
  std::string_view capture;  ///< How the next log answers it.
  Outcome (*check)(const Job& job, const Expected& expected);
};

/// All words, in the order in which the manual lists them; valid for the whole program.
std::span<const ExpectationKind> expectation_kinds();

/// The word with that name; nullptr if there is none.
const ExpectationKind* find_expectation(std::string_view name);

}  // namespace ncclog

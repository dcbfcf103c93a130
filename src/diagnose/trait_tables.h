// The collectors of traits, one for each part of a job, as diagnose/trait.cc joins them.

#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "diagnose/trait.h"

namespace ncclog {

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

/// True if some process has printed lines of that subsystem.
bool has_spoken(const Job& job, Subsystem subsystem);

/// True if some process has come to the end of an initialisation.
bool has_initialised(const Job& job);

/// `text` with hosts of the job and with addresses replaced: "peer gpu-a<41822>" → "peer *<41822>".
std::string without_names(const Job& job, std::string_view text);

/// "24 P2P/CUMEM", "P2P/CUMEM 75%, SHM 25%": what makes up a whole of `counts`, largest first.
std::string shares_text(const std::map<std::string, int64_t>& counts);

/// The parts of the whole that `counts` make up.
std::map<std::string, double> shares_of(const std::map<std::string, int64_t>& counts);

}  // namespace ncclog

// How is a verdict on a curve put into words: headline, notes, what to try and what not, evidence?
//
//   AllReduce of 16 ranks on 2 hosts: 9.4 GB/s, 81 % below the 50.0 of this machine, limited by TCP
//   sockets, although the hosts have RDMA NICs
//
// Sentences are rows of perf_words.table; which of them hold is decided here, by what was measured
// and what is known of the machine. The answer itself is given by perf_verdict.cc.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diagnose/perf/machine/machine.h"
#include "diagnose/perf/measured/curve.h"
#include "diagnose/perf/measured/measurement.h"
#include "diagnose/perf/verdict/expectation.h"
#include "diagnose/perf/verdict/perf_causes.h"
#include "diagnose/perf/verdict/perf_verdict.h"

namespace ncclog {

/// A curve beside all that it is judged by.
struct JudgedCurve {
  const Measurement& measurement;
  const Machine& machine;
  Curve curve;
  MachineExpectation expected;
  std::vector<PerfCause> causes;
};

/// "AllReduce of 16 ranks on 2 hosts".
std::string subject_of(const Measurement& measurement, const Machine& machine);

/// By how many per cent `reached` is below `of`, which is above 0.
int percent_below(double reached, double of);

/// Adds those of `words` that are not there yet.
void add_words(std::vector<std::string>& to, std::vector<std::string> words);

/// Quotes the best row of that size.
void quote_row(const Measurement& measurement, int64_t bytes, PerfVerdict& verdict);

/// Notes what a careless reader would take wrongly.
void note_traps(const JudgedCurve& of, PerfVerdict& verdict);

/// Names what the next log should hold, so that it tells more.
void ask_for_more(const JudgedCurve& of, PerfVerdict& verdict);

// The answers. Each sets answer, headline and ceilings of the verdict, and adds to the rest.

void state_normal(const Ceiling& ceiling, const JudgedCurve& of, PerfVerdict& verdict);
void state_limited(const PerfCause& cause, const JudgedCurve& of, PerfVerdict& verdict);

/// `of_what`: what `ceiling` is, a clause that follows the figure.
void state_below(double ceiling, double machine_ceiling, const std::string& of_what,
                 const JudgedCurve& of, PerfVerdict& verdict);

/// `why`: a clause that follows what was reached.
void state_cannot_tell(const std::string& why, const JudgedCurve& of, PerfVerdict& verdict);

}  // namespace ncclog

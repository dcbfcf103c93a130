// The job on a time axis, for chrome://tracing and ui.perfetto.dev: Trace Event Format, JSON.
//
//   {"ph":"B","ts":75292000000.000,"pid":1,"tid":14800,"name":"init of rank 0 of 4","cat":"init",…}
//   {"ph":"i","ts":75292000000.000,"pid":1,"tid":14800,"name":"network_selected",…}
//
// A process of the trace is a process of the job, a thread one of its threads; a line is an
// instant. What begins and ends with lines of one thread (initialisation, destroy) is a slice. A
// collective's line tells when the host entered the call and nothing more, so it is an instant;
// what a Flight Recorder dump tells is a slice from the call to when PyTorch's watchdog noticed its
// end. Lines without a time, or of another clock (app/trace_clock.h), are counted and left out.
// Written while the logs are read.

#pragma once

#include "app/console.h"
#include "app/exit_status.h"
#include "app/options.h"

namespace ncclog {

/// Reads the logs twice: for who is who, then for the events. Throws Error if nothing carries a
/// time, with what makes the next log do so, and for standard input.
ExitStatus export_trace(const ExportOptions& options, Console& console);

}  // namespace ncclog

// The job in the Markdown report: what it is like, who is ahead and behind, its settings,
// communicators, iterations and inputs.
//
// Each function gives one section within `bytes` and what it takes to say what is left out:
// Markdown that begins with a heading or is collapsed, and ends with an empty line; empty if the
// log says nothing about it.

#pragma once

#include <cstddef>
#include <string>

#include "report/report.h"

namespace ncclog {

std::string markdown_shape(const Job& job, size_t bytes);
std::string markdown_fronts(const Job& job, size_t bytes);
std::string markdown_settings(const Job& job, size_t bytes);
std::string markdown_communicators(const Job& job, size_t bytes);
std::string markdown_iterations(const Job& job, size_t bytes);
std::string markdown_inputs(const Job& job, size_t bytes);

}  // namespace ncclog

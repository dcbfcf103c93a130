// The second look: single units are read again for what the first reading did not keep.
//
//   where exactly two ranks' calls begin to differ   → the calls between two checkpoints
//   messages that differ in size                     → their lines
//   a line that shows a finding, known by its place  → its text
//
// Standard input cannot be read again, and a file may have changed meanwhile: then the exact place
// stays a range and the line is shown without its text.

#pragma once

#include <span>
#include <string>
#include <vector>

#include "input/units.h"
#include "model/first_difference.h"
#include "rules/finding.h"

namespace ncclog {

/// Reads calls of `job` again. `job`, `inputs` and `units`, in which it was read, must outlive it.
CallReader call_reader(const Job& job, std::span<const std::string> inputs,
                       std::span<const Unit> units);

/// Sets the texts of those lines that have none.
void fill_lines(std::span<const std::string> inputs, std::span<const Unit> units,
                std::span<Evidence* const> lines);

/// Shows the finding about messages of unlike sizes by the lines of these messages, in the place of
/// the last calls of their ends.
void show_messages(const Job& job, std::span<const std::string> inputs, std::span<const Unit> units,
                   std::vector<Finding>& findings);

/// Sets the texts of evidence that has none.
void fill_evidence(std::span<const std::string> inputs, std::span<const Unit> units,
                   std::vector<Finding>& findings);

}  // namespace ncclog

// What did a line of each fixed input cost when the hot path was last looked at?
//
//   GNU 12 x86_64 -O2 -DNDEBUG | collectives | 1234
//   GNU 12 x86_64 -O2 -DNDEBUG | init        | 2345
//
// One figure for each build and input: instructions for one line more. Figures of one build say
// nothing about another. Lines that start with "#" are comments.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace ncclog::testing {

/// By build and input.
using InstructionRecord = std::map<std::pair<std::string, std::string>, double>;

/// Throws std::runtime_error with the line that is no figure.
InstructionRecord parse_instruction_record(std::string_view text);

/// The text of the whole file, with what its figures mean.
std::string write_instruction_record(const InstructionRecord& record);

/// How much more a line may cost than recorded.
inline constexpr double kMaxGrowth = 1.10;

enum class Growth {
  Unrecorded,  ///< Nothing is recorded for this build: nothing can be said.
  TooMuch,     ///< More than kMaxGrowth.
  Fine,
};

/// How `measured` stands beside the record.
Growth growth_of(const InstructionRecord& record, const std::string& build,
                 const std::string& input, double measured);

/// What callgrind counted, from what it printed: "==4121== Collected : 122226269". nullopt: it did
/// not print that.
std::optional<double> collected_instructions(std::string_view printed);

}  // namespace ncclog::testing

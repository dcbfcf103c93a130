#include "bench/instruction_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/text.h"

namespace ncclog::testing {
namespace {

constexpr std::string_view kOpening =
    "# Instructions that `ncclog analyze --threads 1` takes for one line more of a fixed input, "
    "by\n"
    "# callgrind: build | input | instructions. Written by count_instructions, which fails where "
    "a\n"
    "# line takes 10 % more. Record anew after a change that is worth it, and say so in its "
    "message:\n"
    "#   NCCLOG_UPDATE_INSTRUCTIONS=1 build/release/tests/bench/count_instructions\n";

}  // namespace

InstructionRecord parse_instruction_record(std::string_view text) {
  InstructionRecord record;
  for (std::string_view line : split(text, '\n')) {
    if (trim(line).empty() || line.front() == '#') continue;
    const auto cells = split(line, '|');
    const auto figure = cells.size() == 3 ? parse_int(trim(cells[2])) : std::nullopt;
    if (!figure) throw std::runtime_error(fmt::format("no figure: {}", line));
    record[{std::string(trim(cells[0])), std::string(trim(cells[1]))}] =
        static_cast<double>(*figure);
  }
  return record;
}

std::string write_instruction_record(const InstructionRecord& record) {
  std::string text(kOpening);
  for (const auto& [key, instructions] : record) {
    text += fmt::format("{} | {} | {:.0f}\n", key.first, key.second, instructions);
  }
  return text;
}

Growth growth_of(const InstructionRecord& record, const std::string& build,
                 const std::string& input, double measured) {
  const auto recorded = record.find({build, input});
  if (recorded == record.end()) return Growth::Unrecorded;
  return measured > recorded->second * kMaxGrowth ? Growth::TooMuch : Growth::Fine;
}

std::optional<double> collected_instructions(std::string_view printed) {
  constexpr std::string_view kWord = "Collected : ";
  const size_t at = printed.find(kWord);
  if (at == printed.npos) return std::nullopt;
  std::string_view rest = printed.substr(at + kWord.size());
  const auto figure = parse_int(rest.substr(0, rest.find_first_not_of("0123456789")));
  return figure ? std::optional(static_cast<double>(*figure)) : std::nullopt;
}

}  // namespace ncclog::testing

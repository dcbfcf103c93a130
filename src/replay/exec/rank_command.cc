#include "replay/exec/rank_command.h"

#include <fmt/format.h>

#include "base/text.h"

namespace ncclog {

std::optional<PlantedCorruption> parse_corruption(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ':');
  if (parts.size() != 3) return std::nullopt;
  int64_t numbers[3];
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::optional<int64_t> number = parse_int(parts[i]);
    if (!number || *number < 0) return std::nullopt;
    numbers[i] = *number;
  }
  return PlantedCorruption{static_cast<int>(numbers[0]), static_cast<uint64_t>(numbers[1]),
                           numbers[2]};
}

std::string to_string(const PlantedCorruption& corruption) {
  return fmt::format("{}:{}:{}", corruption.rank, corruption.call, corruption.element);
}

std::string_view mode_word(MadeIn mode) { return mode == MadeIn::Defect ? "defect" : "clean"; }

std::optional<MadeIn> parse_mode(std::string_view word) {
  if (word == "clean") return MadeIn::Clean;
  if (word == "defect") return MadeIn::Defect;
  return std::nullopt;
}

std::vector<std::string> arguments_of(const RankCommand& command) {
  std::vector<std::string> arguments{"rank",
                                     "--plan",
                                     command.plan,
                                     "--mode",
                                     std::string(mode_word(command.mode)),
                                     "--rank",
                                     std::to_string(command.rank),
                                     "--device",
                                     std::to_string(command.gpu)};
  const auto add = [&](const char* flag, std::string value) {
    arguments.insert(arguments.end(), {flag, std::move(value)});
  };
  if (!command.nccl.empty()) add("--nccl", command.nccl);
  if (command.timed_runs > 0) add("--time", std::to_string(command.timed_runs));
  if (command.corrupt) add("--corrupt", to_string(*command.corrupt));
  return arguments;
}

}  // namespace ncclog

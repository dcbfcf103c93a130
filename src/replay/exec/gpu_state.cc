#include "replay/exec/gpu_state.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

namespace ncclog {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const GpuState& state) {
  Json json{{"gpu", state.gpu.gpu},
            {"name", state.gpu.name},
            {"bus_id", state.gpu.bus_id},
            {"memory", state.gpu.memory},
            {"free", state.free}};
  json["processes"] = state.processes ? Json(*state.processes) : Json(nullptr);
  return json;
}

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string gib_text(int64_t bytes) {
  return bytes < 0 ? "unknown" : fmt::format("{:.1f}", static_cast<double>(bytes) / (1LL << 30));
}

std::string processes_text(const GpuState& state) {
  if (!state.processes) return "processes on it unknown";
  if (state.processes->empty()) return "no process on it";
  return fmt::format("busy: {} {}", state.processes->size() == 1 ? "process" : "processes",
                     fmt::join(*state.processes, ", "));
}

}  // namespace

std::string write_gpus_json(const GpuMachine& machine) {
  Json json{{"gpus", Json::array()},
            {"runtime", machine.runtime},
            {"driver", machine.driver},
            {"problem", machine.problem}};
  for (const GpuState& state : machine.gpus) json["gpus"].push_back(to_json(state));
  return dump(json) + "\n";
}

std::string write_gpus_text(const GpuMachine& machine) {
  std::string text;
  for (const GpuState& state : machine.gpus) {
    text += fmt::format("GPU {}: {}, {}, {} of {} GiB free, {}\n", state.gpu.gpu, state.gpu.name,
                        state.gpu.bus_id, gib_text(state.free), gib_text(state.gpu.memory),
                        processes_text(state));
  }
  text += fmt::format("CUDA {}, driver for CUDA {}\n", machine.runtime, machine.driver);
  return text;
}

std::string write_probe(const GpuCheck& check) {
  return dump({{"gpu", check.gpu},
               {"answers", check.answers},
               {"free", check.free_after},
               {"error", check.error}});
}

std::optional<GpuCheck> parse_probe(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("gpu") || !json["gpu"].is_number_integer() ||
      !json.contains("answers") || !json["answers"].is_boolean()) {
    return std::nullopt;
  }
  GpuCheck check;
  check.gpu = json["gpu"].get<int>();
  check.answers = json["answers"].get<bool>();
  if (json.contains("free") && json["free"].is_number_integer()) {
    check.free_after = json["free"].get<int64_t>();
  }
  if (json.contains("error") && json["error"].is_string()) {
    check.error = json["error"].get<std::string>();
  }
  return check;
}

}  // namespace ncclog

#include "bench/generated_files.h"

#include <fmt/format.h>

#include <fstream>
#include <stdexcept>
#include <string>

#include "support/process.h"

namespace ncclog::testing {
namespace {

/// What a collective line takes, so that sizes can be said in calls.
constexpr uint64_t kBytesACall = 200;

}  // namespace

void write_log_file(const std::filesystem::path& file, const LogOptions& options) {
  std::ofstream out(file, std::ios::binary);
  generate_log(options, out);
  out.close();
  if (!out) throw std::runtime_error("cannot write " + file.string());
}

void write_rank_files(const std::filesystem::path& folder, const LogOptions& options) {
  std::filesystem::create_directories(folder);
  LogOptions own = options;
  // Ends by bytes differ, because ranks have one to four digits; a rank short of a call hangs.
  own.calls = std::min(options.calls, options.bytes / kBytesACall);
  own.bytes = options.mix == LogMix::Collectives ? UINT64_MAX : options.bytes;
  for (own.rank = 0; own.rank < options.ranks; ++own.rank) {
    write_log_file(folder / fmt::format("nccl.gpu-{:04}.{}", own.rank / own.ranks_per_host + 1,
                                        40001 + own.rank),
                   own);
  }
}

bool has_tool(std::string_view name) {
  const std::string command = fmt::format("command -v {}", name);
  return run_command({.arguments = {"sh", "-c", command}}).exit_code == 0;
}

std::optional<std::filesystem::path> pack_file(const std::filesystem::path& file,
                                               const Packing& packing) {
  if (!has_tool(packing.tool)) return std::nullopt;
  const std::string packed = file.string() + std::string(packing.suffix);
  const std::string command = fmt::format("({}) > \"$2\"", packing.command);
  const Outcome outcome =
      run_command({.arguments = {"sh", "-c", command, "sh", file.string(), packed}});
  if (outcome.exit_code != 0) throw std::runtime_error(outcome.standard_error);
  return packed;
}

}  // namespace ncclog::testing

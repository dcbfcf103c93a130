// Who fills a GPU that ran out of memory?
//
//   GPU 0 has a total capacity of 39.49 GiB of which 119.06 MiB is free. … this process has 8.38 GiB
//       → job.gpu_memory_use = yes, "other processes hold 31.0 of the GPU's 39.5 GiB, this one 8.4"
//   (GPU 3; 79.17 GiB total capacity; …   and the same of seven more, of ranks that no line names
//       → ": GPUs 0-7 ran out, GPU 0 has 11.35 of 79.2 GiB free"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "log/line/scanner.h"

namespace ncclog {
namespace {

/// GiB that stand behind `mark`, as in "of which 119.06 MiB is free"; nullopt: none.
std::optional<double> gibibytes_after(std::string_view text, std::string_view mark) {
  const size_t at = text.find(mark);
  if (at == text.npos) return std::nullopt;
  const std::vector<std::string_view> words = split_blanks(text.substr(at + mark.size(), 32));
  const auto number = words.size() < 2 ? std::nullopt : parse_decimal(words[0]);
  if (!number) return std::nullopt;
  if (words[1].starts_with("GiB")) return number;
  if (words[1].starts_with("MiB")) return *number / 1024;
  return words[1].starts_with("KiB") ? std::optional(*number / (1024 * 1024)) : std::nullopt;
}

/// What PyTorch counts when a GPU is full, in GiB.
///
///   GPU 0 has a total capacity of 39.49 GiB of which 119.06 MiB is free. Including non-PyTorch memory,
///   this process has 8.38 GiB memory in use. Of the allocated memory 8.01 GiB is allocated by PyTorch
struct GpuMemory {
  std::string_view gpu;  ///< "0"
  double all = 0;
  std::optional<double> free;
  std::optional<double> own;      ///< Of this process.
  std::optional<double> tensors;  ///< Of PyTorch's own in it.
  std::optional<double> allowed;  ///< To PyTorch, where the program set a fraction.

  /// What is neither free nor this process's; 0 where that is not told.
  double others() const { return own && free ? all - *free - *own : 0; }
};

/// "(GPU 3; 79.17 GiB total capacity; 63.77 GiB already allocated; 11.35 GiB free; 65.52 GiB reserved
/// …": up to 2.0.
std::optional<GpuMemory> older_gpu_memory_in(std::string_view text) {
  constexpr std::string_view kGpu = "(GPU ";
  const size_t begin = text.find(kGpu);
  if (begin == text.npos) return std::nullopt;
  GpuMemory memory{.gpu = Scanner(text.substr(begin + kGpu.size())).take_while(is_digit)};
  for (size_t at = begin; (at = text.find("; ", at)) != text.npos;) {
    at += 2;
    const std::string_view part = text.substr(at, text.find(';', at) - at);
    const std::optional<double> gibibytes = gibibytes_after(part, "");
    if (!gibibytes) continue;
    if (part.find("total capac") != part.npos) memory.all = *gibibytes;
    if (part.find(" free") != part.npos) memory.free = gibibytes;
    if (part.find("already allocated") != part.npos) memory.tensors = gibibytes;
  }
  return memory.gpu.empty() || memory.all <= 0 ? std::nullopt : std::optional(memory);
}

std::optional<GpuMemory> gpu_memory_in(std::string_view text) {
  if (auto older = older_gpu_memory_in(text)) return older;
  // Up to 2.2 the word is misspelt.
  auto all = gibibytes_after(text, "total capacity of ");
  if (!all) all = gibibytes_after(text, "total capacty of ");
  const auto free = gibibytes_after(text, " of which ");
  constexpr std::string_view kGpu = " GPU ";
  const size_t gpu = text.rfind(kGpu, text.find(" has a total capac"));
  if (!all || !free || gpu == text.npos) return std::nullopt;
  const std::string_view number = Scanner(text.substr(gpu + kGpu.size())).take_while(is_digit);
  if (number.empty()) return std::nullopt;
  // "60.25 GiB allowed; "
  const size_t allowed = text.find(" GiB allowed; ");
  const std::string_view before = text.substr(0, allowed);
  return GpuMemory{
      number,
      *all,
      free,
      gibibytes_after(text, "this process has "),
      gibibytes_after(text, "Of the allocated memory "),
      allowed == text.npos ? std::nullopt : parse_decimal(before.substr(before.rfind(' ') + 1))};
}

/// Who fills a GPU that is full, in words for behind a clause: others, where their share is large; where
/// several ranks ran out, of the GPU of which others hold most. Else what the first one counts.
FactValue gpu_memory_use(const Job& job, const Instance&) {
  constexpr double kLeast = 2;  // The driver and NCCL take some hundred MiB that nobody counts.
  FactValue value = unknown();
  double most = kLeast;
  std::set<int> processes;
  std::set<int> gpus;
  std::set<double> sizes;
  for_each_said<CudaOomException>(job, [&](const auto& said) {
    const std::string text = said.record().text();
    processes.insert(said.process);
    const auto memory = gpu_memory_in(text);
    const int64_t gpu = memory ? parse_int(memory->gpu).value_or(-1) : -1;
    constexpr int64_t kMostGpus = 1024;  // Of a host; else it is no number of one.
    if (gpu < 0 || gpu >= kMostGpus) return;
    gpus.insert(static_cast<int>(gpu));
    sizes.insert(memory->all);
  });
  // Where ranks are known, they are named.
  const bool has_ranks = std::ranges::any_of(
      processes, [&](int process) { return nth_process(job, process).rank >= 0; });
  const std::string together =
      has_ranks || gpus.size() < 2 || sizes.size() > 1
          ? ""
          : fmt::format(" GPUs {} ran out,", ranges_text(std::vector(gpus.begin(), gpus.end())));
  for_each_said<CudaOomException>(job, [&](const Said<CudaOomException>& said) {
    const std::string text = said.record().text();
    const auto memory = gpu_memory_in(text);
    if (!memory) return;
    const double others = memory->others();
    if (others > most && others >= memory->all / 10) {
      most = others;
      value =
          yes(fmt::format(": other processes hold {:.1f} of the GPU's {:.1f} GiB, this one {:.1f}",
                          others, memory->all, *memory->own),
              {evidence_of(said.record())});
    } else if (!value.known() && memory->free) {
      const int rank = processes.size() < 2 ? -1 : nth_process(job, said.process).rank;
      std::string words =
          fmt::format(":{} GPU {}{} has {:.2f} of {:.1f} GiB free", together, memory->gpu,
                      rank < 0 ? "" : fmt::format(" of rank {}", rank), *memory->free, memory->all);
      if (memory->tensors) words += fmt::format(", PyTorch holds {:.1f}", *memory->tensors);
      if (memory->allowed) words += fmt::format(" of {:.1f} allowed to it", *memory->allowed);
      value = yes(std::move(words), {evidence_of(said.record())});
    }
  });
  return value;
}

constexpr std::array kGpuMemoryFacts = {
    // A GPU ran out of memory of which other processes hold a part: how much, in words.
    job_fact("job.gpu_memory_use", gpu_memory_use),
};

}  // namespace

std::span<const Fact> gpu_memory_facts() { return kGpuMemoryFacts; }

}  // namespace ncclog

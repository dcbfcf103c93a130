#include "replay/exec/gpu_probe.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <thread>

#include "base/error.h"
#include "base/text.h"
#include "replay/exec/child_process.h"
#include "replay/exec/gpu_state.h"

namespace ncclog {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// What may be lacking without a leak: fragments, and the like of other programs.
constexpr int64_t kTolerance = 256LL << 20;

/// A GPU that is being asked.
struct Question {
  int gpu = -1;
  int output = -1;                        ///< Memory that takes what it writes.
  std::unique_ptr<ChildProcess> process;  ///< nullptr: it could not be started.
  std::string error;
};

Question ask(const GpuProbe& probe, int gpu) {
  Question question{.gpu = gpu, .output = memfd_create("probe", MFD_CLOEXEC)};
  try {
    question.process = std::make_unique<ChildProcess>(
        ProcessStart{.program = probe.program,
                     .arguments = {"ncclog-replay", "probe", std::to_string(gpu)},
                     .environment = this_environment(),
                     .output = fmt::format("/proc/self/fd/{}", question.output)});
  } catch (const Error& error) {
    question.error = fmt::format("the probe {}", error.what());
  }
  return question;
}

/// Waits for the end of the process, until `latest` at most.
bool has_ended(ChildProcess& process, Clock::time_point latest) {
  while (!process.reap()) {
    const auto left = std::chrono::ceil<milliseconds>(latest - Clock::now());
    if (left.count() <= 0) return false;
    pollfd polled{process.descriptor(), POLLIN, 0};
    const bool is_blind = process.descriptor() < 0;
    poll(&polled, 1,
         static_cast<int>(is_blind ? std::min<int64_t>(left.count(), 20) : left.count()));
  }
  return true;
}

/// The answer among the lines of the probe's output.
std::optional<GpuCheck> read_answer(int output) {
  std::string text(65536, '\0');
  const ssize_t size = pread(output, text.data(), text.size(), 0);
  text.resize(static_cast<size_t>(std::max<ssize_t>(size, 0)));
  for (std::string_view line : split(text, '\n')) {
    if (auto check = parse_probe(line)) return check;
  }
  return std::nullopt;
}

GpuCheck answer_to(Question& question, Clock::time_point latest) {
  GpuCheck check{.gpu = question.gpu, .error = question.error};
  if (!question.process) return check;
  if (!has_ended(*question.process, latest)) {
    question.process->signal(SIGKILL);
    // What not even SIGKILL ends hangs in the driver, and waiting for it would hang too.
    if (!has_ended(*question.process, Clock::now() + milliseconds(2000)))
      question.process->abandon();
    check.error = "it does not answer in time";
    return check;
  }
  const auto answer = read_answer(question.output);
  if (!answer || answer->gpu != question.gpu) {
    check.error = "the probe ended without an answer";
    return check;
  }
  check.answers = answer->answers;
  check.free_after = answer->free_after;
  check.error = printable(answer->error);
  return check;
}

int64_t lacking(const GpuCheck& check) {
  if (check.free_before < 0 || check.free_after < 0) return 0;
  return check.free_before - check.free_after;
}

}  // namespace

std::vector<GpuCheck> probe_gpus(const GpuProbe& probe, const std::vector<int>& gpus) {
  const auto latest = Clock::now() + probe.patience;
  std::vector<Question> questions;
  for (int gpu : gpus) questions.push_back(ask(probe, gpu));
  std::vector<GpuCheck> checks;
  for (Question& question : questions) {
    checks.push_back(answer_to(question, latest));
    if (question.output >= 0) close(question.output);
  }
  return checks;
}

std::vector<GpuCheck> probe_after(const GpuProbe& probe, const std::vector<GpuCheck>& before) {
  std::vector<int> gpus;
  for (const GpuCheck& check : before) gpus.push_back(check.gpu);
  std::vector<GpuCheck> checks;
  for (int attempt = 0; attempt < 4; ++attempt) {
    if (attempt > 0) std::this_thread::sleep_for(milliseconds(500));
    checks = probe_gpus(probe, gpus);
    for (size_t i = 0; i < checks.size(); ++i) checks[i].free_before = before[i].free_after;
    const bool is_back = std::all_of(checks.begin(), checks.end(), [](const GpuCheck& check) {
      return lacking(check) <= kTolerance;
    });
    if (is_back) break;
  }
  return checks;
}

std::vector<std::string> gpu_leftovers(const std::vector<GpuCheck>& checks, bool are_shared) {
  std::vector<std::string> found;
  for (const GpuCheck& check : checks) {
    if (!check.answers) {
      found.push_back(fmt::format("GPU {} does not answer: {}", check.gpu, check.error));
    } else if (!are_shared && lacking(check) > kTolerance) {
      found.push_back(fmt::format("GPU {}: {} MiB of its memory are not back", check.gpu,
                                  lacking(check) >> 20));
    }
  }
  return found;
}

}  // namespace ncclog

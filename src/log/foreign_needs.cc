#include "log/foreign_needs.h"

#include "log/foreign_lines.h"
#include "log/nccl_tests_lines.h"
#include "log/pasted_lines.h"

namespace ncclog {

std::span<const ForeignNeeds> foreign_needs() {
  static constexpr ForeignNeeds kNeeds[] = {
      {recognise_python_exception, kExceptionEnds, {}},
      {recognise_process_end, kShellPlace, kProcessEnds},
      {recognise_progress_bar, kBarMark, {}},
      {recognise_eval_progress, kBarMark, kEvalBegins},
      {recognise_rank_leaves, kLeavingWords, {}},
      {recognise_shm_usage, kShmMount, {}},
      {recognise_memlock_answer, kMemlockQuestion, {}},
      {recognise_gid_row, kGidVersions, {}},
      {recognise_shell_command, kPromptEnds, kBarePrompt},
      {recognise_ras_communicator_row, {}, kDigits},
      {recognise_nccl_tests_result, {}, kDigits},
  };
  return kNeeds;
}

}  // namespace ncclog

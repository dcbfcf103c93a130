#include "log/foreign_needs.h"

#include "log/foreign_lines.h"
#include "log/nccl_tests_lines.h"
#include "log/pasted_lines.h"

namespace ncclog {

std::span<const KnownRecogniser> known_recognisers() {
  static constexpr KnownRecogniser kRecognisers[] = {
      {"python_exception", recognise_python_exception, kExceptionEnds, {}},
      {"process_end", recognise_process_end, kShellPlace, kProcessEnds},
      {"progress_bar", recognise_progress_bar, kBarMark, {}},
      {"eval_progress", recognise_eval_progress, kBarMark, kEvalBegins},
      {"rank_leaves", recognise_rank_leaves, kLeavingWords, {}},
      {"shm_usage", recognise_shm_usage, kShmMount, {}},
      {"memlock_answer", recognise_memlock_answer, kMemlockQuestion, {}},
      {"gid_row", recognise_gid_row, kGidVersions, {}},
      {"shell_command", recognise_shell_command, kPromptEnds, kBarePrompt},
      {"ras_communicator_row", recognise_ras_communicator_row, {}, kDigits},
      {"nccl_tests_result", recognise_nccl_tests_result, {}, kDigits},
      {"nccl_tests_rank", recognise_nccl_tests_rank, {}, {}},
      {"nccl_tests_columns", recognise_nccl_tests_columns, {}, {}},
      {"failure_time", recognise_failure_time, {}, {}},
      {"megatron_step", recognise_megatron_step, {}, {}},
      {"titan_step", recognise_titan_step, {}, {}},
      {"memlock_row", recognise_memlock_row, {}, {}},
      {"p2p_row", recognise_p2p_row, {}, {}},
      {"topo_row", recognise_topo_row, {}, {}},
  };
  return kRecognisers;
}

}  // namespace ncclog

// What would carry a replay out here?

#pragma once

#include <string>

#include "replay/exec/choose_gpus.h"

namespace ncclog {

/// GPUs, shared memory and the NCCL that load_nccl() finds for `library`. Never throws: what is
/// missing is said in the result.
ReplayMachine query_machine(const std::string& library);

}  // namespace ncclog

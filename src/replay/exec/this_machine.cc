#include "replay/exec/this_machine.h"

#include "base/error.h"
#include "replay/exec/gpus.h"
#include "replay/exec/leftovers.h"
#include "replay/exec/nccl_library.h"

namespace ncclog {
namespace {

void find_nccl(const std::string& library, ReplayMachine& machine) {
  try {
    const NcclLibrary nccl = load_nccl(library);
    machine.nccl_version = nccl.version;
    machine.nccl_library = nccl.path;
  } catch (const Error& error) {
    machine.nccl_problem = error.what();
  }
}

}  // namespace

ReplayMachine query_machine(const std::string& library) {
  ReplayMachine machine;
  machine.gpus = query_gpus();
  machine.shared_memory = free_bytes();
  find_nccl(library, machine);
  return machine;
}

}  // namespace ncclog

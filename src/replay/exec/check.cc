#include "replay/exec/check.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "log/nccl_names.h"

namespace ncclog {
namespace {

std::string site_text(const CallSite& site) {
  std::string text;
  if (site.rank >= 0) text += fmt::format("rank {}: ", site.rank);
  text += site.function;
  if (site.communicator >= 0) text += fmt::format(" on communicator {}", site.communicator);
  if (site.call >= 0) text += fmt::format(" (call {})", site.call);
  return text;
}

std::string last_error(const NcclLibrary& nccl, ncclComm_t comm) {
  const char* text = nccl.get_last_error(comm);
  return text == nullptr || *text == '\0' ? "" : "; " + printable(text);
}

}  // namespace

void check(cudaError_t result, const CallSite& site) {
  if (result == cudaSuccess) return;
  throw Error(fmt::format("{}: {}, {}", site_text(site), cudaGetErrorName(result),
                          cudaGetErrorString(result)));
}

void check(ncclResult_t result, const CallSite& site, const NcclLibrary& nccl, ncclComm_t comm) {
  if (result == ncclSuccess || result == ncclInProgress) return;
  throw Error(fmt::format("{}: {}, {}{}", site_text(site), result_name(result),
                          nccl.get_error_string(result), last_error(nccl, comm)));
}

}  // namespace ncclog

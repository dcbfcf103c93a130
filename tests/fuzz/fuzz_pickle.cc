// Any bytes as a pickle and as a Flight Recorder dump: both are read or refused with a reason, in
// memory and time that the number of bytes bounds.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "import/document.h"
#include "import/import.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const ncclog::ParsedDocument document = ncclog::read_pickle(bytes);
  require(document.problem.empty() || document.value.is_null());
  const auto import = ncclog::import_flight_recorder(bytes, "nccl_trace_rank_3");
  require(import.problem.empty() || import.value == ncclog::FlightRecorderDump());
  return 0;
}

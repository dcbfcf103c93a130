// Any bytes as a pickle and as a Flight Recorder dump: both are read or refused with a reason, in
// memory and time that the number of bytes bounds.

#include "fuzz/fuzz.h"
#include "import/document.h"
#include "import/import.h"

namespace ncclog::fuzz {

void fuzz_recorder(std::string_view bytes) {
  const ParsedDocument document = read_pickle(bytes);
  require(document.problem.empty() || document.value.is_null());
  const auto import = import_flight_recorder(bytes, "nccl_trace_rank_3");
  require(import.problem.empty() || import.value == FlightRecorderDump());
}

}  // namespace ncclog::fuzz

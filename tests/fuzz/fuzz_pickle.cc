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

bool lies_inside(std::string_view text, std::string_view bytes) {
  return text.data() >= bytes.data() && text.data() + text.size() <= bytes.data() + bytes.size();
}

/// Every value of a document that was read refers to values of it, and every text that was not
/// decoded lies in the file.
struct Checker {
  const ncclog::ParsedDocument& document;
  std::string_view bytes;

  void operator()(std::string_view text) const {
    require(text.empty() || lies_inside(text, bytes) || !document.decoded.empty());
  }
  void operator()(const ncclog::ListValue& list) const {
    for (const ncclog::ValueId item : list.items) require(item < document.values.size());
  }
  void operator()(const ncclog::DictValue& dict) const {
    for (const auto& [key, value] : dict.members) {
      require(key < document.values.size() && value < document.values.size());
    }
  }
  template <typename Scalar>
  void operator()(const Scalar&) const {}
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const ncclog::ParsedDocument document = ncclog::read_pickle(bytes);
  require(document.values.size() <= size + 1);
  for (const ncclog::Value& value : document.values) std::visit(Checker{document, bytes}, value);
  require(!document.problem.empty() || document.root < document.values.size());
  const auto import = ncclog::import_flight_recorder(bytes, "nccl_trace_rank_3");
  require(import.problem.empty() || import.dump == ncclog::FlightRecorderDump());
  return 0;
}

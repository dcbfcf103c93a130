#include "support/describe_document.h"

namespace ncclog::testing {

std::string describe_document(const ParsedDocument& document) {
  return document.problem.empty() ? document.value.dump() : document.problem;
}

}  // namespace ncclog::testing

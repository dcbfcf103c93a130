// Any bytes as the record of a host: it is refused, or read, and written as it is read again.

#include "base/error.h"
#include "fuzz/fuzz.h"
#include "host/read_host.h"

namespace ncclog::fuzz {

void fuzz_host_record(std::string_view bytes) {
  try {
    HostTree tree = HostTree::recorded(bytes, "n1.host");
    // Escaped once, odd bytes in paths stand in another place among the others.
    const std::string record = HostTree::recorded(tree.record(), "again").record();
    require_equal(HostTree::recorded(record, "again").record(), record);
    read_host(tree, "n1.host");
  } catch (const Error& error) {
    require(!std::string_view(error.what()).empty());
  }
}

}  // namespace ncclog::fuzz

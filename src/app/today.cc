#include "app/today.h"

#include <chrono>
#include <cstdlib>

#include "base/text.h"

namespace ncclog {

Date today() {
  if (const char* epoch = std::getenv("SOURCE_DATE_EPOCH")) {
    if (const auto seconds = parse_int(epoch)) return date_of(*seconds);
  }
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return date_of(std::chrono::duration_cast<std::chrono::seconds>(now).count());
}

}  // namespace ncclog

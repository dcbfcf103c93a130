#include "replay/exec/poll_list.h"

#include <algorithm>
#include <cstdint>

namespace ncclog {

void PollList::add(int descriptor) {
  if (descriptor >= 0) polled.push_back({descriptor, POLLIN, 0});
}

void PollList::add(const Connection& connection) {
  add(connection.descriptor());
  if (connection.is_open() && connection.has_unsent()) polled.back().events |= POLLOUT;
}

void PollList::wait(std::chrono::milliseconds most) {
  constexpr int64_t kHour = 3'600'000;
  poll(polled.data(), polled.size(), static_cast<int>(std::clamp<int64_t>(most.count(), 0, kHour)));
}

}  // namespace ncclog

#include "model/ras_lines.h"

#include <utility>

#include "base/text.h"

namespace ncclog {
namespace {

constexpr size_t kMaxTextBytes = 512;  ///< NCCL's own lines are far shorter.

}  // namespace

void RasLines::add(SourceRef where, const Event& event) {
  if (event.message.kind == nullptr || event.message.kind->library != Library::RasClient) return;
  if (kept.size() == kMaxKept) kept.pop_front();
  kept.push_back({where, std::string(trim(event.header.message).substr(0, kMaxTextBytes))});
}

void RasLines::merge(RasLines&& later) {
  for (RasLine& line : later.kept) kept.push_back(std::move(line));
  while (kept.size() > kMaxKept) kept.pop_front();
}

}  // namespace ncclog

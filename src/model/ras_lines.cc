#include "model/ras_lines.h"

#include <utility>

#include "base/text.h"
#include "log/messages/all_messages.h"

namespace ncclog {
namespace {

constexpr size_t kMaxTextBytes = 512;  ///< NCCL's own lines are far shorter.

/// The kinds of RasClientMessages stand behind each other.
bool is_of_answer(uint16_t kind) {
  return kind >= kKindIndex<RasClientVersion> && kind <= kKindIndex<RasLateAnswers>;
}

}  // namespace

void RasLines::add(SourceRef where, const Event& event) {
  if (event.message.kind == nullptr || !is_of_answer(event.message.kind->index)) return;
  if (kept.size() == kMaxKept) kept.pop_front();
  kept.push_back({where, std::string(trim(event.header.message).substr(0, kMaxTextBytes))});
}

void RasLines::merge(RasLines&& later) {
  for (RasLine& line : later.kept) kept.push_back(std::move(line));
  while (kept.size() > kMaxKept) kept.pop_front();
}

}  // namespace ncclog

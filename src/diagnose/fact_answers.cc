#include "diagnose/fact_answers.h"

#include "base/text.h"

namespace ncclog {

std::string ranks_phrase(const std::vector<int>& ranks) {
  if (ranks.empty()) return {};
  const std::string text = ranges_text(ranks);
  const bool one = text.find_first_of(",-") == std::string::npos;
  return (one ? "rank " : "ranks ") + text;
}

}  // namespace ncclog

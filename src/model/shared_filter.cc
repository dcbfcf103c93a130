#include "model/shared_filter.h"

#include <string>
#include <vector>

#include "log/marker_needles.h"

namespace ncclog {

const ForeignFilter* SharedFilter::get() const {
  std::call_once(once_, [this] {
    if (matcher_ && !matcher_.literals) return;
    std::vector<std::string> wanted = marker_needles(finder_);
    if (matcher_) {
      wanted.insert(wanted.end(), matcher_.literals->begin(), matcher_.literals->end());
    }
    filter_.emplace(wanted);
  });
  return filter_ ? &*filter_ : nullptr;
}

}  // namespace ncclog

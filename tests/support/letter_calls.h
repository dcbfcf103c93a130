// The calls of a process, one letter each: "rBGSRGSR".

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diagnose/iterations/folded_calls.h"
#include "model/calls.h"

namespace ncclog::testing {

/// `text`, so many times.
inline std::string repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

/// A tape of such calls; their kinds are the letters.
struct LetterCalls {
  explicit LetterCalls(std::string_view letters) {
    for (const char c : letters) tape.add(0, {std::string_view(&c, 1), 1, 7, 0, 0});
    for (const CallTape::Entry& entry : tape.entries()) {
      kinds.push_back(entry.call.op.view().front());
    }
  }

  /// Valid as long as the calls are.
  FoldedCalls folded() const { return {tape, kinds}; }

  CallTape tape;
  std::vector<int> kinds;  ///< By entry of the tape.
};

}  // namespace ncclog::testing

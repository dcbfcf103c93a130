// How is something refused? With an Error, here as one line of text.

#pragma once

#include <string>

#include "base/error.h"

namespace ncclog::testing {

/// "where: what (hint)" of the Error that `act` ends with, empty parts left out; empty if it ends
/// with none.
template <typename Act>
std::string refusal_of(Act act) {
  try {
    act();
  } catch (const Error& error) {
    const std::string where = error.where().empty() ? "" : error.where() + ": ";
    return where + error.what() + (error.hint().empty() ? "" : " (" + error.hint() + ")");
  }
  return {};
}

}  // namespace ncclog::testing

// Values that a word announces: what stands behind a key, in a URL, or is a token.
//
//   https://alice:p!ss@store.acme.com/x     User, Secret, Host, Domain, Path
//   PASSWORD="hunter2,extra9"               Secret, up to the closing quote
//   Authorization: Basic dXNlcjpwYXNz       Secret, behind its scheme
//   hf_AbCdEf…                              Secret
//
// A run that was walked through is remembered: a word inside of it walks no second time.

#pragma once

#include <cstddef>

#include "report/identity_cursor.h"

namespace ncclog {

/// A run of characters that ends at `end`, no matter where in it one begins.
struct WalkedRun {
  size_t begin = 0;
  size_t end = 0;
};

/// Runs that were walked through last.
struct WalkedRuns {
  WalkedRun tokens;
  WalkedRun values;
};

/// Takes the URL, token or key that begins at the cursor; false: there is none, nothing has moved.
bool take_announced(IdentityCursor& in, WalkedRuns& walked);

}  // namespace ncclog

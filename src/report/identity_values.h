// Values that a word announces: what stands behind a key, in a URL, or is a token.
//
//   https://alice:p!ss@store.acme.com/x     User, Secret, Host, Domain, Path
//   PASSWORD="hunter2,extra9"               Secret, up to the closing quote
//   Authorization: Basic dXNlcjpwYXNz       Secret, behind its scheme
//   SLURM_JOB_NAME=…  --rdzv-id …           Name
//   hf_AbCdEf…                              Secret
//
// A run that was walked through is remembered: a word inside of it walks no second time.
//
// Runs are cut at kLongestRun, so that hostile text costs no more than so many steps a byte; runs
// of what is taken whole or remembered go on to their end.

#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "report/identity_scan.h"

namespace ncclog {

/// Where a search stands. Invariant: all of `found` ends at or before `at`, which only grows.
struct IdentityCursor {
  static constexpr size_t kLongestRun = 512;

  std::string_view text;
  const KnownHosts& hosts;
  size_t at = 0;
  std::vector<FoundIdentity> found = {};

  /// NUL behind the end.
  char peek(size_t place) const { return place < text.size() ? text[place] : '\0'; }
  /// The character before; a blank at the beginning.
  char prev(size_t place) const { return place > 0 ? text[place - 1] : ' '; }
  std::string_view rest(size_t place) const { return text.substr(std::min(place, text.size())); }
  std::string_view slice(size_t begin, size_t end) const { return text.substr(begin, end - begin); }

  /// Where the run of such characters that begins at `begin` ends, or is cut.
  template <typename Is>
  size_t run_end(size_t begin, Is&& is) const {
    const size_t most = std::min(text.size(), begin + kLongestRun);
    while (begin < most && is(text[begin])) ++begin;
    return begin;
  }

  /// The same, never cut.
  template <typename Is>
  size_t long_run_end(size_t begin, Is&& is) const {
    while (begin < text.size() && is(text[begin])) ++begin;
    return begin;
  }

  /// The end of what was printed before `at`, as far as it says what follows.
  std::string_view before() const;

  /// `before` and as much behind it.
  std::string_view around() const;

  /// Adds what stands at [begin, end) and moves behind it; false if that is nothing.
  bool add(IdentityKind kind, size_t begin, size_t end);

  /// Adds a user whose name says something.
  bool add_user(size_t begin, size_t end);

  /// Adds a host name, with or without its domain.
  bool add_host(size_t begin, size_t end);

  /// Adds an absolute path that begins at `begin`.
  bool add_path(size_t begin);

  /// Adds a name of a job, a run, a project, or the number of a job.
  bool add_name(IdentityKind kind, size_t begin, size_t end);
};

constexpr bool is_name_char(char c) { return is_word(c) || c == '-'; }
constexpr bool is_label_char(char c) { return is_alnum(c) || c == '-'; }
constexpr bool is_mail_char(char c) {
  return is_alnum(c) || c == '.' || c == '_' || c == '+' || c == '-';
}

/// Where a value without quotes ends.
bool ends_value(char c);

/// Digits alone.
bool is_number(std::string_view text);

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

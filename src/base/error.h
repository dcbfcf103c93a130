// What ends a run: ncclog cannot do what it was asked to do.
//
//   ncclog: rules/net/x.yaml:7:3: unknown key 'sevrity'
//     hint: did you mean 'severity'?
//
// Only requests fail this way: a bad flag, an unreadable path, an invalid rule file. Imperfect log
// data never throws; it is counted in the LossTable (base/loss_table.h).

#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace ncclog {

/// Thrown where the request fails, caught once in main, printed as `where: what` and `hint`.
class Error : public std::runtime_error {
 public:
  /// `where` names a path, optionally with `:line:column`; empty when no place is to blame.
  /// `hint` says what to do about it; empty when there is nothing useful.
  explicit Error(const std::string& what, std::string where = {}, std::string hint = {})
      : std::runtime_error(what), where_(std::move(where)), hint_(std::move(hint)) {}

  const std::string& where() const { return where_; }
  const std::string& hint() const { return hint_; }

 private:
  std::string where_;
  std::string hint_;
};

}  // namespace ncclog

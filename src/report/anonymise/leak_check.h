// Does what is to be passed on still name somebody, and where?
//
//   logs/a.log:17: 'gpu-n41', which stood before a process id
//
// The last look before a bundle is written. It is cruder than what replaced the names, and shares
// nothing with it but where in a text a word stands (WordReplacer), so that one mistake is not made
// twice: names are taken from the logs as they came, by what a reader would take for one (what
// stands before ":313:313 [", behind "ip=" or "/home/", before a port, with an '@'), and looked for
// in any place of the result, inside of other words, and where it is percent-encoded or escaped as
// in JSON or HTML.

#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "report/anonymise/anonymise.h"

namespace ncclog {

/// A name that is left.
struct Leak {
  std::string place;  ///< "logs/a.log:17", or a member's path.
  std::string name;
  std::string why;  ///< "stood before a process id".

  bool operator==(const Leak&) const = default;
};

class LeakCheck {
 public:
  /// No name is looked for inside of `ordinary` words; all of `replaced` are.
  LeakCheck(const OrdinaryWords& ordinary, const std::set<std::string>& replaced);

  /// Adds what looks like names in a text as it came: lines of a log, or a path.
  void read(std::string_view text);

  /// What stands in `pages`, which are made of no log, is ours in other pages of ours as well.
  void set_own_pages(std::string_view pages);

  static constexpr size_t kMost = 20;

  /// What is left in the member `path` with that text; the first kMost. In pages that ncclog itself
  /// writes, names that may be words of theirs count for none: a user is called "color", a host "h2".
  /// They are made of the logs, in which those names are looked for as well.
  std::vector<Leak> find(std::string_view path, std::string_view text, bool is_own = false) const;

 private:
  void add(std::string_view name, std::string_view why);
  Leak find_in(std::string_view line, bool is_own) const;

  OrdinaryWords ordinary_;
  std::string own_pages_;  ///< In lower case.
  WordReplacer names_;     ///< In lower case; what would replace a name is why it is one.
};

/// `text` with all that begins with `mark` written as what it means: '%' of URLs ("%2e"), '\' of
/// JSON ("\u002e", "\."), '&' of HTML ("&#46;", "&amp;"). What is no escape stays.
std::string unescaped(std::string_view text, char mark);

}  // namespace ncclog

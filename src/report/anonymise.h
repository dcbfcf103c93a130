// Takes people, machines and jobs out of the texts of a run, and leaves the run in.
//
//   gpu-n41:313:313 [5] NCCL INFO NET/Socket : Using [0]eth0:10.12.8.41<0>
//   host-1:313:313 [5] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>
//
// Equal names become equal replacements in every text; other names become others. A replacement is
// of the same sort as what it replaces (report/pseudonyms.h, report/address_map.h) and none of the
// run's own names, so replacing twice is replacing once. Pointers, commIds, opCounts, bus ids,
// pids, interfaces and HCAs are NCCL's own and stay.
//
// What cannot be known: a name that no line shows as one, by shape, by what stands in front or by a
// path. Whoever passes a log on reads it first.

#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "report/identities.h"
#include "report/word_replacer.h"

namespace ncclog {

/// One replaced name.
struct Replacement {
  IdentityKind kind = IdentityKind::Name;
  std::string original;
  std::string replacement;

  auto operator<=>(const Replacement&) const = default;
};

/// Invariant: all replacements are chosen when it is made.
class Anonymiser {
 public:
  explicit Anonymiser(Identities identities);

  /// `text` with everything replaced: a line, or many. Any bytes.
  std::string text(std::string_view text) const;

  /// The path of an input below its run's folder, with everything replaced, part by part.
  std::string path(std::string_view relative) const;

  /// All that is replaced, sorted by kind and name.
  std::vector<Replacement> mapping() const;

  /// The first of the replaced names that `text` still holds, also where it is percent-encoded or
  /// escaped as in JSON or HTML; empty: none. Names that stand for themselves only where a key
  /// announces them (LIDs, short numbers) cannot be searched for.
  std::string find_leak(std::string_view text) const;

 private:
  /// Adds the replacements, in lower case, to those already `chosen`.
  void assign(IdentityKind kind, std::set<std::string>& chosen);
  void append(std::string& out, std::string_view text, const FoundIdentity& found) const;
  void append_path(std::string& out, std::string_view text, const FoundIdentity& found) const;
  const std::string* known(std::string_view original) const;
  std::string search_leak(std::string_view text) const;

  Identities identities_;
  AddressMap addresses_;
  std::map<std::string, Replacement, std::less<>> replacements_;  ///< By name in lower case.
  WordReplacer words_;  ///< What is replaced wherever it stands.
  WordReplacer leaks_;  ///< What must stand nowhere.
};

}  // namespace ncclog

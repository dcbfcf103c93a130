// Takes people, machines and jobs out of the texts of a run, and leaves the run in.
//
//   gpu-n41:313:313 [5] NCCL INFO NET/Socket : Using [0]eth0:10.12.8.41<0>
//   host-1:313:313 [5] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>
//
// Names are gathered first and replaced then: a user whom one line's path gives away is replaced in
// all other lines, too. None of this reads what a line means: a name is replaced in lines that are
// torn, unknown or of another program, inside longer words, and in halves (report/torn_names.h).
//
// Equal names become equal replacements in every text; other names become others. A replacement is
// of the same sort as what it replaces: gpu-n41 → host-1, trainbox → host-a (no digit before, none
// after), c2f6608d913e → c0de00000001 (a container), 481516 → 100001 (as many digits),
// ec0d:9a03:0012:3456 → 0200:0000:0000:0001; addresses: report/address_map.h. None is one of the
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

#include "report/address_map.h"
#include "report/identity_scan.h"
#include "report/torn_names.h"
#include "report/word_replacer.h"

namespace ncclog {

/// The identities of a run, as printed.
class Identities {
 public:
  /// Adds a host that is known for sure, from a job or a line's header; its domain, too. Hosts come
  /// before texts: texts are searched for names like theirs.
  void add_host(std::string_view host);

  /// Adds an address that is known for sure.
  void add_address(std::string_view address) { addresses_.add(address); }

  /// Adds what find_identities finds in the lines of a text.
  void read(std::string_view text);

  /// Adds what the name of an input says: folders and file of a relative path.
  void read_path(std::string_view relative);

  /// Words, in lower case, in which nobody's name is looked for: "channel" where a user is "chan".
  void set_ordinary_words(const OrdinaryWords& words) { ordinary_ = words; }

  const OrdinaryWords& ordinary_words() const { return ordinary_; }
  const KnownHosts& hosts() const { return hosts_; }
  const AddressMap& addresses() const { return addresses_; }

  /// Without addresses and paths, whose parts stand under their own kinds.
  const std::map<IdentityKind, std::set<std::string>>& values() const { return values_; }

 private:
  void add(IdentityKind kind, std::string_view value);
  void add_host_name(std::string_view host);
  void read_line(std::string_view line);

  KnownHosts hosts_;
  AddressMap addresses_;
  OrdinaryWords ordinary_;
  std::map<IdentityKind, std::set<std::string>> values_;
};

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

  /// `text` with everything replaced: a line, or many. Any bytes. A name that a line break tears in
  /// two is found where both lines are in `text`.
  std::string text(std::string_view text) const;

  /// The path of an input below its run's folder, with everything replaced, part by part.
  std::string path(std::string_view relative) const;

  /// All that is replaced, sorted by kind and name.
  std::vector<Replacement> mapping() const;

  /// The names that must stand nowhere in what is passed on, in lower case. Names that stand for
  /// themselves only where a key announces them (LIDs, short numbers) are not among them.
  const std::set<std::string>& unmistakable() const { return unmistakable_; }

  const OrdinaryWords& ordinary_words() const { return identities_.ordinary_words(); }

 private:
  /// A name that a line break tears in two: how much of it stands before and behind.
  struct BrokenName {
    size_t before = 0;  ///< 0: there is none.
    size_t after = 0;
    std::string_view replacement;
  };

  /// Adds the replacements, in lower case, to those already `chosen`.
  void assign(IdentityKind kind, std::set<std::string>& chosen);
  void add_word(const std::string& name, const std::string& replacement,
                const std::set<std::string>& chosen);
  BrokenName broken_name(std::string_view before, std::string_view after) const;
  void append_line(std::string& out, std::string_view line) const;
  void append(std::string& out, std::string_view text, const FoundIdentity& found) const;
  void append_path(std::string& out, std::string_view text, const FoundIdentity& found) const;
  const std::string* known(std::string_view original) const;

  Identities identities_;
  AddressMap addresses_;
  std::map<std::string, Replacement, std::less<>> replacements_;  ///< By name in lower case.
  WordReplacer words_;  ///< What is replaced wherever it stands.
  TornNames torn_;      ///< Of the same.
  std::set<std::string> unmistakable_;
};

}  // namespace ncclog

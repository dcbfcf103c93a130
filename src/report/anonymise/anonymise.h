// Takes people, machines and jobs out of the texts of a run, and leaves the run in.
//
//   gpu-n41:313:313 [5] NCCL INFO NET/Socket : Using [0]eth0:10.12.8.41<0>
//   host-1:313:313 [5] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>
//
// Names are gathered first and replaced then: a user whom one line's path gives away is replaced in
// all other lines, too. None of this reads what a line means: a name is replaced in lines that are
// torn, unknown or of another program, inside longer words, and in halves.
//
// Equal names become equal replacements in every text; other names become others. A replacement is
// of the same sort as what it replaces: gpu-n41 → host-1, trainbox → host-a (no digit before, none
// after), c2f6608d913e → c0de00000001 (a container), 481516 → 100001 (as many digits),
// ec0d:9a03:0012:3456 → 0200:0000:0000:0001; addresses: address_map.h. None is one of the run's own
// names, so replacing twice is replacing once. Pointers, commIds, opCounts, bus ids, pids,
// interfaces and HCAs are NCCL's own and stay.
//
// What cannot be known: a name that no line shows as one, by shape, by what stands in front or by a
// path. Whoever passes a log on reads it first.

#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "report/anonymise/address_map.h"
#include "report/anonymise/identity_patterns.h"

namespace ncclog {

/// The identities of a run, as printed.
class Identities {
 public:
  /// Adds a host that is known for sure, from a job or a line's header; its domain, too. Hosts come
  /// before texts: texts are searched for names like theirs.
  void add_host(std::string_view host);

  /// Adds an address that is known for sure.
  void add_address(std::string_view address) { addresses_.add(address); }

  /// Adds what find_identities finds in the lines of a text, and keys of many lines:
  ///
  ///   [rank0]: -----BEGIN OPENSSH PRIVATE KEY-----
  ///   [rank0]: b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW
  ///
  /// A text that goes on is given in pieces, one after the other; read_path begins a new one.
  void read(std::string_view text);

  /// Adds what the name of an input says: folders and file of a relative path.
  void read_path(std::string_view relative);

  /// Words, in lower case, in which nobody's name is looked for: "channel" where a user is "chan".
  void set_ordinary_words(const OrdinaryWords& words) { ordinary_ = words; }

  /// What a line shows; of paths their parts that are somebody's, the rest between them as Path.
  std::vector<FoundIdentity> find_in(std::string_view line) const;

  const OrdinaryWords& ordinary_words() const { return ordinary_; }
  const AddressMap& addresses() const { return addresses_; }

  /// Without addresses.
  const std::map<IdentityKind, std::set<std::string>>& values() const { return values_; }

 private:
  void read_key(std::string_view line);

  KnownHosts hosts_;
  AddressMap addresses_;
  OrdinaryWords ordinary_;
  std::map<IdentityKind, std::set<std::string>> values_;
  int key_lines_ = 0;        ///< So many further lines may belong to a key.
  std::string rest_of_key_;  ///< The short line that may be its last one.
};

/// A name, or a piece of one, in a text.
struct FoundName {
  size_t begin = 0;
  size_t length = 0;             ///< 0: there is none.
  size_t needed = 0;             ///< So many bytes of it must not be another name's.
  std::string_view replacement;  ///< Owned by what found it.
};

/// Replaces known words in a text, all of them in one pass.
///
///   {"gpu-node-1" → "host-1", "alice" → "user-1"}
///   "nccl-log.gpu-node-1.77.txt of Alice" → "nccl-log.host-1.77.txt of user-1"
///   "gpu-node-12"                          stays: that is another name
///
/// A word counts where no letter or digit joins on; one of kLongName bytes also inside of others,
/// as long as no digit continues its number ("xgpu-node-1a"), the other is no ordinary word ("chan"
/// in "Channel") and no hexadecimal number ("beef" in 0xbeef04). Case matters for words below four
/// bytes only. Of several the longest one is taken. A place costs one look-up for each length among
/// the words that begin with its two bytes, however many there are.
class WordReplacer {
 public:
  /// Words in lower case inside of which none is looked for.
  void set_ordinary_words(const OrdinaryWords& words) { ordinary_ = words; }

  /// Adds a word of at least two bytes; the first replacement given for it holds.
  void add(std::string_view word, std::string_view replacement);

  /// The word that stands at `at`.
  FoundName find(std::string_view text, size_t at) const;

  /// Appends text[begin, end) with the words in it replaced. What stands around counts for where a
  /// word ends.
  void append_replaced(std::string& out, std::string_view text, size_t begin, size_t end) const;

 private:
  OrdinaryWords ordinary_;
  std::bitset<65536> first_bytes_;  ///< By the first two bytes, lower case: some word begins so.
  std::unordered_map<uint16_t, std::set<size_t, std::greater<>>> lengths_;  ///< By the same.
  std::unordered_map<std::string, std::string> words_;
};

/// Finds what is left of a name where its line was torn.
///
///   Channel 00/0 : 0[0] -> 1gpu-n4                 the front of gpu-n41, where the line ends
///   u-n42:414:414 [0] NCCL INFO Using eth0:10.12   the back of gpu-n42, where the line begins
///   gpu-n41:313:3gpu-n4via NET/IB/0                six bytes with a digit: wherever they stand
///
/// Processes that write into one file cut each other's lines at any byte, and the pieces need not
/// stand beside each other. A piece counts from kShortestPart bytes on, and only if it identifies
/// somebody: "gpu-" and "node" do not. A name begins at the front of a word and ends at the back of
/// one, so fronts are looked for where words begin, backs where they end; between letters and a
/// number, too.
class TornNames {
 public:
  static constexpr size_t kShortestPart = 4;

  /// Adds a name and its replacement; shorter ones than kShortestPart + 1 have no pieces.
  void add(std::string_view name, std::string_view replacement);

  /// The pieces in a line without its line end, in order; they may overlap. Front and back of one
  /// name make its whole replacement.
  std::vector<FoundName> find(std::string_view line, const OrdinaryWords& ordinary) const;

 private:
  using Names = std::map<std::string, std::string, std::less<>>;  ///< Lower case → replacement.

  Names names_;
  Names reversed_;  ///< By the name read backwards.
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
  /// Adds the replacements, in lower case, to those already `chosen`.
  void assign(IdentityKind kind, std::set<std::string>& chosen);
  void add_word(const std::string& name, const std::string& replacement,
                const std::set<std::string>& chosen);
  /// The name that a line break tears in two; it begins in `before`, at its end if there is none.
  FoundName broken_name(std::string_view before, std::string_view after) const;
  void append_line(std::string& out, std::string_view line) const;
  const std::string* known(std::string_view original) const;

  Identities identities_;
  AddressMap addresses_;
  std::map<std::string, Replacement, std::less<>> replacements_;  ///< By name in lower case.
  WordReplacer words_;  ///< What is replaced wherever it stands.
  TornNames torn_;      ///< Of the same.
  std::set<std::string> unmistakable_;
};

}  // namespace ncclog

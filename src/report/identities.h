// Whatever in the texts of a run names people, machines and jobs, gathered before any of it is
// replaced: a user whom one line's path gives away is replaced in all other lines, too.

#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "report/address_map.h"
#include "report/identity_scan.h"

namespace ncclog {

/// The identities of a run, as printed.
class Identities {
 public:
  /// Adds a host that is known for sure, from a job or a line's header; its domain, too. Hosts come
  /// before texts: texts are searched for names like theirs.
  void add_host(std::string_view host);

  /// Adds an address that is known for sure.
  void add_address(std::string_view address) { addresses_.add(address); }

  /// Adds what find_identities finds in a text.
  void read(std::string_view text);

  /// Adds what the name of an input says: folders and file of a relative path.
  void read_path(std::string_view relative);

  const KnownHosts& hosts() const { return hosts_; }
  const AddressMap& addresses() const { return addresses_; }

  /// Without addresses and paths, whose parts stand under their own kinds.
  const std::map<IdentityKind, std::set<std::string>>& values() const { return values_; }

 private:
  void add(IdentityKind kind, std::string_view value);
  void add_host_name(std::string_view host);

  KnownHosts hosts_;
  AddressMap addresses_;
  std::map<IdentityKind, std::set<std::string>> values_;
};

}  // namespace ncclog

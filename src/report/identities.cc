#include "report/identities.h"

#include "base/letters.h"
#include "base/text.h"
#include "report/known_names.h"
#include "report/path_parts.h"

namespace ncclog {
namespace {

/// `component` without the names of hosts that it contains.
std::string without_hosts(std::string_view component, const KnownHosts& hosts) {
  std::string rest = lower_case(component);
  for (const FoundIdentity& found : find_identities(component, hosts)) {
    for (size_t i = 0; i < found.length; ++i) rest[found.begin + i] = '-';
  }
  for (const std::string& host : hosts.names) {
    for (size_t at = rest.find(host); at != rest.npos; at = rest.find(host, at)) {
      rest.replace(at, host.size(), host.size(), '-');
    }
  }
  return rest;
}

bool is_ipv4(std::string_view text) {
  const auto address = parse_address_bits(text);
  return address && address->bits == 32;
}

}  // namespace

void Identities::add(IdentityKind kind, std::string_view value) {
  if (!value.empty()) values_[kind].emplace(value);
}

void Identities::add_host_name(std::string_view host) {
  const bool is_number = host.find_first_not_of("0123456789") == host.npos;
  if (!is_plain_word(host) && !is_number) add(IdentityKind::Host, host);
}

void Identities::add_host(std::string_view host) {
  if (is_ipv4(host) || host.find(':') != host.npos) return add_address(host);
  hosts_.add(host);
  const size_t dot = host.find('.');
  add_host_name(host.substr(0, dot));
  if (dot != host.npos && !is_public_domain(host)) {
    add(IdentityKind::Domain, host.substr(dot + 1));
  }
}

void Identities::read(std::string_view text) {
  for (const FoundIdentity& found : find_identities(text, hosts_)) {
    const std::string_view value = text.substr(found.begin, found.length);
    if (found.kind == IdentityKind::Address) {
      addresses_.add(value);
    } else if (found.kind == IdentityKind::Path) {
      for (const FoundIdentity& part : private_parts(value)) {
        add(part.kind, value.substr(part.begin, part.length));
      }
    } else if (found.kind != IdentityKind::Name || !is_known_component(value)) {
      add(found.kind, value);
    }
  }
}

void Identities::read_path(std::string_view relative) {
  read(relative);
  const auto parts = split(relative, '/');
  for (size_t i = 0; i < parts.size(); ++i) {
    if (is_known_component(without_hosts(parts[i], hosts_))) continue;
    add(i + 1 == parts.size() ? IdentityKind::File : IdentityKind::Folder, parts[i]);
  }
}

}  // namespace ncclog

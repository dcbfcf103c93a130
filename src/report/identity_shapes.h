// Identities that are known by how they look.
//
//   10.12.8.41    fe80::1c5e:86ff:fee4:151    b8:59:9f:12:34:56    ec0d:9a03:0012:3456
//   GPU-2f1e07c4-9d0b-4c55-8a51-0f6c1d2e3f40    NET/0-0 (43bab50003a1420c/1/25.0)
//
// Four numbers behind "version" are none, nor is what letters or digits join on to.

#pragma once

#include <cstddef>
#include <string_view>

#include "report/identity_scan.h"

namespace ncclog {

/// What begins at `at` of `text`, a hexadecimal digit or ':'; length 0: nothing.
FoundIdentity match_shape(std::string_view text, size_t at);

}  // namespace ncclog

// What stands in for a name: a word of the same sort, so that the log still reads as it did.
//
//   gpu-n41, gpu-n42 → host-1, host-2      numbered in the order of their bytes
//   trainbox         → host-a              no digit before, none after
//   c2f6608d913e     → c0de00000001        twelve hexadecimal digits: a container
//   481516           → 100001              as many digits
//   ec0d:9a03:0012:3456 → 0200:0000:0000:0001

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "report/identity_scan.h"

namespace ncclog {

/// The replacement for `original`, the `number`th (from 1) of `count` of its kind.
std::string make_pseudonym(IdentityKind kind, std::string_view original, size_t number,
                           size_t count);

}  // namespace ncclog

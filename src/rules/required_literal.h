// A text that every match of a regular expression contains, found without compiling it.
//
//   "NCCL WARN .*Cannot get incoming CPU"  →  "Cannot get incoming CPU"

#pragma once

#include <string>
#include <string_view>

namespace ncclog {

/// The longest run of ordinary characters that no match of `pattern` can be without; empty where
/// the pattern's form does not show one (alternatives, flags, groups are not looked into).
std::string required_literal(std::string_view pattern);

}  // namespace ncclog

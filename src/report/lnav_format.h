// The format file with which lnav (lnav.org) reads NCCL's logs.
//
//   ncclog export --format lnav > ~/.lnav/formats/installed/nccl.json
//
// It is src/report/nccl.lnav.json as it stands there, made part of the executable by the build.

#pragma once

#include <string_view>

namespace ncclog {

/// The whole file; valid for the whole program.
std::string_view lnav_format();

}  // namespace ncclog

// Which ncclog is this? Generated from CMakeLists.txt and git at configure time.

#pragma once

#include <string_view>

namespace ncclog {

/// "1.0.0", as the project is released; reports carry this one.
std::string_view version();

/// "1.0.0 (4218094)" with the commit it was built from; without git just the version.
std::string_view full_version();

/// "2026-11-21", the day of that commit; empty where it is not known.
std::string_view version_day();

}  // namespace ncclog

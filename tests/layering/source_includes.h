// Which files does our code include, and which of these includes does the layer table allow?
//
//   src/rules/evaluate.cc:12: rules may not include input/line_reader.h
//
// The table is that of src/README.md: data flows one way, input → log → model → … → report. Beside
// it: does the build name every source, and each unit test its source or its law?

#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ncclog::testing {

/// Every include under `source_root` (a folder like src/) that the layer table does not allow, as
/// "layer/file.cc:LINE: why". Empty for a sound tree. Files outside a known layer are reported
/// too, except main.cc and huge_pages.cc, which may include what app may.
std::vector<std::string> forbidden_includes(const std::filesystem::path& source_root);

/// The same for one file: `path` is relative to the source root, `text` is what it holds.
std::vector<std::string> forbidden_includes_of(std::string_view path, std::string_view text);

/// Sources (*.cc) under `root` that the nearest CMakeLists.txt above them does not name by their
/// path from there. Empty for a sound tree; paths are relative to `root`, sorted.
std::vector<std::string> unlisted_sources(const std::filesystem::path& root);

/// Tests tests/unit/**/x_test.cc under `root` (a folder with src/ and tests/) that neither mirror a
/// source x.h or x.cc of the same folder in src/ or tests/ nor begin with "// Law: ". Empty for a
/// sound tree; paths are relative to tests/unit, sorted.
std::vector<std::string> unmirrored_tests(const std::filesystem::path& root);

}  // namespace ncclog::testing

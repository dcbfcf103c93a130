// Which rules does the executable bring along? Those under rules/ in the source tree.
//
// The definition is generated at build time by src/rules/embed/embed_rules.cc, which refuses to
// build a broken rule.

#pragma once

#include <span>

#include "base/embedded_file.h"

namespace ncclog {

/// The rule files as they stood at build time, sorted by path: "shared_memory/shm-no-space.yaml".
/// Their text is the compact form that read_compact (rules/rule_yaml.h) reads, shared names
/// replaced; "lists.yaml" holds those names.
std::span<const EmbeddedFile> embedded_rules();

}  // namespace ncclog

// JSON in which no character steers a terminal or hides, whoever wrote it.
//
//   {"host":"gpu1n"}, with a mark that turns the direction of writing  →  {"host":"gpu\u202e1n"}
//
// Libraries escape the controls of ASCII alone; other characters may stand in a string as they are.

#pragma once

#include <string>

namespace ncclog {

/// `json`, valid UTF-8, with every character escaped that printable() does not show as it is: DEL, C1
/// controls, bidirectional marks, characters without width. The values stay the same.
std::string safe_json(std::string json);

}  // namespace ncclog

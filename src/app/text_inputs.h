// The inputs of a run as plain text: unpacked, taken out of archives, dumps turned into JSON.
//
//   logs/node1.log.gz               → "node1.log", its text
//   logs/all.tar.gz!/n2/nccl.txt    → "all/n2/nccl.txt"
//   logs/fr_3, a pickle             → "fr_3.json"
//   logs/core.4711                  → left out: "It is a program, a library or a core dump."

#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ncclog {

/// One readable thing of the inputs.
struct TextInput {
  std::string path;      ///< As a report names it.
  std::string name;      ///< Below the folder that all inputs are in; not unique.
  std::string left_out;  ///< Why it cannot be passed on as text, in one sentence; empty: it can.
};

/// Takes what is passed on of an input: whole lines with their line ends, but for the last one and
/// those above kLongestText.
using TakeText = std::function<void(const TextInput& input, std::string_view text)>;

inline constexpr size_t kLongestText = size_t{1} << 20;

/// Gives all text of `inputs`, paths as find_inputs gives them, to `take`, in input order. What
/// holds no text is given once with an empty one.
void read_texts(std::span<const std::string> inputs, const TakeText& take);

}  // namespace ncclog

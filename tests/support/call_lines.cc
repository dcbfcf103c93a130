#include "support/call_lines.h"

#include <fmt/format.h>

#include "base/text.h"

namespace ncclog::testing {
namespace {

std::string line_of(std::string_view pid, char call, size_t number) {
  struct Row {
    char letter;
    std::string_view op;
    size_t count;
  };
  const Row rows[] = {{'R', "AllReduce", 1024},     {'G', "AllGather", 1024},
                      {'S', "ReduceScatter", 1024}, {'B', "Broadcast", 1024},
                      {'r', "AllReduce", 1},        {'>', "Send", number},
                      {'<', "Recv", number}};
  for (const Row& row : rows) {
    if (row.letter != call) continue;
    return fmt::format(
        "node-a:{0}:{0} [0] NCCL INFO {1}: opCount 0 sendbuff 0x1 recvbuff 0x1 count {2} datatype "
        "7 op 0 root 0 comm 0x{0} [nranks=8] stream (nil)\n",
        pid, row.op, row.count);
  }
  return fmt::format("no such call: {}\n", call);
}

}  // namespace

std::string call_lines(std::string_view words) {
  std::string lines;
  while (!words.empty()) {
    if (words.front() == '#') {
      const size_t end = words.find('#', 1);
      lines += std::string(words.substr(1, end - 1)) + "\n";
      words.remove_prefix(end + 1);
      continue;
    }
    const std::string_view word = words.substr(0, words.find_first_of(" #"));
    const size_t colon = word.find(':');
    if (colon != word.npos) {
      for (const char call : word.substr(colon + 1)) {
        lines += line_of(word.substr(0, colon), call, lines.size());
      }
    }
    words.remove_prefix(std::max<size_t>(1, word.size()));
  }
  return lines;
}

}  // namespace ncclog::testing

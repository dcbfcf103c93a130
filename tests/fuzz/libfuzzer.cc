// One program for all targets: its first argument names one, the rest are libFuzzer's.
//
//   ncclog_fuzz line_reader -max_total_time=60 tests/fuzz/corpus/line_reader

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "fuzz/fuzz.h"

namespace {

const ncclog::fuzz::Target* chosen = nullptr;
std::vector<char*> arguments;
std::string longest;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  chosen = *argc < 2 ? nullptr : ncclog::fuzz::find_target((*argv)[1]);
  if (chosen == nullptr) {
    for (const ncclog::fuzz::Target& target : ncclog::fuzz::targets()) {
      std::printf("%-16.*s %.*s\n", static_cast<int>(target.name.size()), target.name.data(),
                  static_cast<int>(target.law.size()), target.law.data());
    }
    std::exit(*argc < 2 ? 0 : 2);
  }
  arguments.assign(*argv, *argv + *argc);
  longest = "-max_len=" + std::to_string(chosen->most_bytes);
  arguments[1] = longest.data();  // What is typed behind it goes before.
  arguments.push_back(nullptr);
  *argv = arguments.data();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  chosen->run({reinterpret_cast<const char*>(data), size});
  return 0;
}

// Gives every file of a corpus to its target, where no fuzzing compiler is at hand.
//
//   ncclog_fuzz tests/fuzz/corpus               of all targets
//   ncclog_fuzz tests/fuzz/corpus line_reader   of one
//
// Every input is also given cut short at a few places: what a finding was reduced from is often
// interesting too. Fails if a target has no input, because then nothing was tested.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "fuzz/fuzz.h"

namespace {

namespace fs = std::filesystem;
using ncclog::fuzz::Target;

void run_input(const Target& target, const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  for (size_t part = 0; part <= 4; ++part) {
    // A copy of exactly this size, so that the sanitizer sees reads behind it.
    std::string cut(text, 0, text.size() * part / 4);
    cut.shrink_to_fit();
    target.run(cut);
  }
}

bool run_corpus(const Target& target, const fs::path& folder) {
  size_t inputs = 0;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    std::printf("%s\r", entry.path().c_str());  // The last one, where the program ends here.
    run_input(target, entry.path());
    ++inputs;
  }
  std::printf("%s: %zu inputs\n", folder.c_str(), inputs);
  return inputs > 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  bool is_tested = true;
  for (const Target& target : ncclog::fuzz::targets()) {
    if (argc > 2 && target.name != argv[2]) continue;
    is_tested = run_corpus(target, fs::path(argv[1]) / target.name) && is_tested;
  }
  return is_tested ? 0 : 1;
}

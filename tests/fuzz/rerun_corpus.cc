// Gives every file of a corpus to a fuzz target, where no fuzzing compiler is at hand.
//
//   fuzz_line_reader tests/fuzz/corpus/fuzz_line_reader
//
// Every input is also given cut short at a few places: what a finding was reduced from is often
// interesting too. Fails if there is no input at all, because then nothing was tested.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

namespace fs = std::filesystem;

void run_input(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  for (size_t part = 0; part <= 4; ++part) {
    // A copy of exactly this size, so that the sanitizer sees reads behind it.
    std::string cut(text, 0, text.size() * part / 4);
    cut.shrink_to_fit();
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(cut.data()), cut.size());
  }
}

}  // namespace

int main(int argc, char** argv) {
  size_t inputs = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : fs::directory_iterator(argv[i])) {
      run_input(entry.path());
      ++inputs;
    }
  }
  std::cout << inputs << " inputs\n";
  return inputs == 0 ? 1 : 0;
}

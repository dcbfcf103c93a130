// Writes a synthetic job into a folder, to look at one that a test complains about.
//
//   ncclog_synthetic_job 17 "wrong count" FOLDER

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "support/synthetic/synthetic_job.h"

namespace {

using namespace ncclog::testing;

int write(uint64_t seed, std::string_view fault, const std::filesystem::path& folder) {
  Fault wanted = Fault::None;
  for (const Fault each : all_faults()) {
    if (name_of(each) == fault) wanted = each;
  }
  const SyntheticJob job = make_synthetic_job(seed, wanted);
  std::filesystem::create_directories(folder);
  for (const auto& [name, text] : job.files) {
    std::ofstream(folder / name, std::ios::binary) << text;
  }
  std::cout << describe(job, seed) << "\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: ncclog_synthetic_job SEED FAULT FOLDER\n";
    return 2;
  }
  return write(std::strtoull(argv[1], nullptr, 10), argv[2], argv[3]);
}

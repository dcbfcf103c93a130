// Synthetic jobs by hand: one to look at, or many judged.
//
//   ncclog_synthetic_job 17 "wrong count" FOLDER       writes the job's logs into FOLDER
//   ncclog_synthetic_job 17 - FOLDER                   the same with the fault that the seed draws
//   ncclog_synthetic_job judge 100000 5000 [THREADS [TEXTS [once]]]
//                                                      judges the seeds from 100000 on; once: only
//                                                      jobs that are not started again

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "support/synthetic/trials.h"

namespace {

using namespace ncclog::testing;

uint64_t number(const std::string& text) { return std::strtoull(text.c_str(), nullptr, 10); }

int write(uint64_t seed, std::string_view fault, const std::filesystem::path& folder) {
  Fault wanted = fault == "-" ? fault_of(seed) : Fault::None;
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
  const std::vector<std::string> args(argv + 1, argv + argc);
  if (args.size() >= 3 && args[0] == "judge") {
    const int threads = args.size() > 3 ? static_cast<int>(number(args[3])) : 1;
    const size_t texts = args.size() > 4 ? number(args[4]) : 1;
    const bool once = args.size() > 5 && args[5] == "once";
    Tallies tallies = judge_seeds(number(args[1]), number(args[2]), threads);
    std::cout << summary(once ? tallies.run_once : std::move(tallies).all(), texts);
    return 0;
  }
  if (args.size() != 3) {
    std::cerr << "usage: ncclog_synthetic_job SEED FAULT|- FOLDER\n"
                 "       ncclog_synthetic_job judge FIRST COUNT [THREADS [TEXTS [once]]]\n";
    return 2;
  }
  return write(number(args[0]), args[1], args[2]);
}

// Damaged logs by hand: one copy to look at, or many judged.
//
//   ncclog_damage SEED FOLDER                               writes the copy of that seed
//   ncclog_damage judge 100000 5000 [THREADS [DAMAGE]]      judges the seeds from 100000 on;
//                                                           DAMAGE: only of that place in the list
//   ncclog_damage list                                      names the damages

#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "support/damage_trials.h"

namespace {

using namespace ncclog::testing;

int write(uint64_t seed, const std::filesystem::path& folder) {
  const std::vector<DamageCase> cases = damage_cases();
  std::filesystem::create_directories(folder);
  for (const auto& [name, text] : damaged_copy(cases, seed).files) {
    std::ofstream(folder / name, std::ios::binary) << text;
  }
  std::cout << all_damages()[seed % all_damages().size()].name << "\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  const auto number = [&](size_t i) { return std::stoull(args[i]); };
  if (args.size() >= 3 && args[0] == "judge") {
    const int threads = args.size() > 3 ? static_cast<int>(number(3)) : 1;
    const int damage = args.size() > 4 ? static_cast<int>(number(4)) : -1;
    std::cout << summary(judge_damaged(number(1), number(2), threads, damage));
    return 0;
  }
  if (args.size() == 2) return write(number(0), args[1]);
  if (args.size() == 1 && args[0] == "list") {
    for (size_t i = 0; i < all_damages().size(); ++i) {
      std::cout << i << "  " << all_damages()[i].name << "\n";
    }
    return 0;
  }
  std::cerr << "usage: ncclog_damage SEED FOLDER\n"
               "       ncclog_damage judge FIRST COUNT [THREADS [DAMAGE]]\n"
               "       ncclog_damage list\n";
  return 2;
}

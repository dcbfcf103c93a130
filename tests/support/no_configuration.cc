// Tests know nothing of the configuration file of whoever runs them, and neither do the programs
// that they start.

#include <cstdlib>

namespace ncclog::testing {
namespace {

[[maybe_unused]] const int kNoConfiguration = setenv("NCCLOG_CONFIG", "", 1);

}  // namespace
}  // namespace ncclog::testing

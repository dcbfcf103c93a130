#include "bench/log_generator.h"

#include <stdexcept>
#include <string>

#include "bench/log_mixes.h"

namespace ncclog::testing {
namespace {

struct Mix {
  LogMix mix;
  std::string_view name;
  void (*write)(LogText& log);
};

constexpr Mix kMixes[] = {
    {LogMix::Collectives, "collectives", write_collectives},
    {LogMix::Irregular, "irregular", write_collectives},
    {LogMix::Everything, "everything", write_collectives},
    {LogMix::Init, "init", write_inits},
    {LogMix::Storm, "storm", write_storm},
    {LogMix::Training, "training", write_training},
    {LogMix::Random, "random", write_random_collectives},
    {LogMix::Steps, "steps", write_steps},
    {LogMix::Rehosted, "rehosted", write_rehosted_inits},
    {LogMix::Ordered, "ordered", write_ordered_inits},
};

}  // namespace

LogMix log_mix_named(std::string_view name) {
  for (const Mix& row : kMixes) {
    if (row.name == name) return row.mix;
  }
  throw std::invalid_argument("no mix is called '" + std::string(name) + "'");
}

void generate_log(const LogOptions& options, std::ostream& out) {
  LogText log(options, out);
  for (const Mix& row : kMixes) {
    if (row.mix == options.mix) row.write(log);
  }
}

}  // namespace ncclog::testing

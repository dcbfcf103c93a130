#include "diagnose/process_versions.h"

#include <algorithm>
#include <set>

#include "log/messages.h"
#include "log/read_message.h"

namespace ncclog {
namespace {

template <typename T, typename Use>
void for_each_message(const Job& job, const Process& process, Use use) {
  for_each_record(job, process, kKindIndex<T>, [&](const Record& record) {
    const Event event = parse_record(record);
    use(read_message<T>(event.message));
  });
}

/// Names that the job does not list either are damaged.
bool is_known(const Job& job, std::string_view version, Product product) {
  const auto& known = versions_of(job, product);
  return std::find(known.begin(), known.end(), version) != known.end();
}

}  // namespace

const std::vector<std::string>& versions_of(const Job& job, Product product) {
  switch (product) {
    case Product::Nccl:
      return job.nccl_versions;
    case Product::Cuda:
      return job.cuda_versions;
    case Product::PyTorch:
      break;
  }
  return job.pytorch_versions;
}

std::vector<std::string> versions_of(const Job& job, std::span<const int> processes,
                                     Product product) {
  std::set<std::string> versions;
  const auto add = [&](std::string_view version) {
    if (is_known(job, version, product)) versions.emplace(version);
  };
  for (const int index : processes) {
    const Process& process = job.processes[static_cast<size_t>(index)];
    for_each_message<NcclVersion>(job, process, [&](const NcclVersion& message) {
      if (product == Product::Nccl) add(message.version);
      if (product == Product::Cuda) add(message.cuda);
    });
    for_each_message<NcclException>(job, process, [&](const NcclException& message) {
      if (product == Product::Nccl) add(message.version);
    });
    for_each_message<TorchVersionLine>(job, process, [&](const TorchVersionLine& message) {
      if (product == Product::PyTorch) add(message.version);
    });
  }
  return {versions.begin(), versions.end()};
}

}  // namespace ncclog

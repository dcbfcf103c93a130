#include "diagnose/hca_lists.h"

#include <algorithm>

#include "diagnose/fact_answers.h"
#include "log/device_list.h"
#include "log/messages.h"

namespace ncclog {
namespace {

std::vector<HcaList> read_hca_lists(const Job& job) {
  std::vector<HcaList> lists;
  for_each_said<NetDevices>(job, [&](const Said<NetDevices>& said) {
    if (said.message.network != "IB") return;
    HcaList list{said.process,
                 job.processes[static_cast<size_t>(said.process)].host,
                 {},
                 evidence_of(said.record)};
    for (const NetDevice& device : parse_device_list(said.message.devices)) {
      // One with an address is the interface behind a list that another process's words broke.
      if (!device.name.empty() && device.address.empty()) {
        list.hcas.push_back({std::string(device.name), std::string(device.link)});
      }
    }
    if (!list.hcas.empty()) lists.push_back(std::move(list));
  });
  return lists;
}

}  // namespace

const std::vector<HcaList>& hca_lists(const Job& job) {
  return job.answers.of<&read_hca_lists>(job);
}

int count_link(const HcaList& list, std::string_view link) {
  return static_cast<int>(std::count_if(list.hcas.begin(), list.hcas.end(),
                                        [&](const Hca& hca) { return hca.link == link; }));
}

}  // namespace ncclog

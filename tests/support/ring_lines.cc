#include "support/ring_lines.h"

#include <fmt/format.h>

namespace ncclog::testing {

std::string ring_lines(int hosts, int ranks_per_host) {
  const int nranks = hosts * ranks_per_host;
  std::string out;
  for (int rank = 0; rank < nranks; ++rank) {
    const int dev = rank % ranks_per_host;
    const int next = (rank + 1) % nranks;
    const int previous = (rank + nranks - 1) % nranks;
    const std::string head = fmt::format("rack-{:03}:{}:{} [{}] NCCL INFO ", rank / ranks_per_host,
                                         3000 + rank, 3000 + rank, dev);
    const std::string init = fmt::format(
        "ncclCommInitRank comm 0x{:x} rank {} nranks {} cudaDev {} nvmlDev {} busId {}000 commId "
        "0x77ab - Init ",
        0x500000 + rank, rank, nranks, dev, dev, dev + 1);
    const bool local = next / ranks_per_host == rank / ranks_per_host;
    out += head + init + "START\n";
    if (rank == 0) {
      std::string members;
      for (int member = 0; member < nranks; ++member) members += fmt::format(" {}", member);
      out +=
          fmt::format("{}Channel 00/02 :{}\n{}Channel 01/02 :{}\n", head, members, head, members);
    }
    out += fmt::format("{}Ring 00 : {} -> {} -> {}\n", head, previous, rank, next);
    out += fmt::format("{}Ring 01 : {} -> {} -> {}\n", head, previous, rank, next);
    out += fmt::format("{}Trees [0] {}/-1/-1->{}->{} [1] {}/-1/-1->{}->{}\n", head,
                       rank + 1 < nranks ? rank + 1 : -1, rank, rank - 1,
                       rank + 1 < nranks ? rank + 1 : -1, rank, rank - 1);
    out += fmt::format("{}Channel 00/0 : {}[{}] -> {}[{}]{}\n", head, rank, dev, next,
                       next % ranks_per_host, local ? " via P2P/CUMEM" : " [send] via NET/IB/0");
    out += head + init + "COMPLETE\n";
  }
  return out;
}

}  // namespace ncclog::testing

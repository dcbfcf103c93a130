#include "report/transport_class.h"

#include "diagnose/edges.h"

namespace ncclog {
namespace {

constexpr TransportClassRow kClasses[] = {
    {TransportClass::P2P, 'P', "P2P", "GPU to GPU, over NVLink or PCIe", "tp", "#1a6b2f"},
    {TransportClass::SHM, 'S', "SHM", "through the host's memory", "ts", "#8a4b00"},
    {TransportClass::IB, 'I', "NET/IB", "RDMA: InfiniBand or RoCE", "ti", "#0b57a4"},
    {TransportClass::Socket, 'T', "NET/Socket", "TCP", "tt", "#b3151d"},
    {TransportClass::OtherNet, 'N', "NET", "another network plugin", "tn", "#6a2fa0"},
    {TransportClass::Other, 'O', "other", "CollNet and others", "to", "#56606b"},
};

}  // namespace

std::span<const TransportClassRow> transport_classes() { return kClasses; }

const TransportClassRow& row_of(TransportClass value) {
  return kClasses[static_cast<size_t>(value)];
}

TransportClass transport_class(const PathParts& path) {
  switch (path.transport) {
    case Transport::P2P:
      return TransportClass::P2P;
    case Transport::SHM:
      return TransportClass::SHM;
    case Transport::NET:
      if (path.network == "IB") return TransportClass::IB;
      return path.network == "Socket" ? TransportClass::Socket : TransportClass::OtherNet;
    case Transport::COLLNET:
    case Transport::Other:
      break;
  }
  return TransportClass::Other;
}

}  // namespace ncclog

// The machine as NCCL writes it to a file, or reads it from one.
//
//   <system version="1">
//     <cpu host_hash="0x3f…" numaid="0" affinity="…" arch="x86_64" vendor="GenuineIntel" …>
//       <pci busid="0000:17:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
//         <pci busid="0000:19:00.0" class="0x030200" …>
//           <gpu dev="0" sm="90" rank="0" gdr="1">
//             <nvlink target="0000:05:00.0" count="18" tclass="0x068000"/>
//
// NCCL_TOPO_DUMP_FILE and NCCL_TOPO_FILE name such files (graph/xml.cc). Bandwidths are not in
// them: they are computed as graph/topo.cc does, so that nodes and links compare with a log's.
//
// The file is hostile: it may nest, repeat or end anywhere. Nothing in it is fetched or expanded.

#pragma once

#include <string>
#include <string_view>

#include "model/topology.h"

namespace ncclog {

/// A topology file that was read.
struct TopologyImport {
  SystemTopology system;
  std::string problem;  ///< Why the file could not be read, a clause; empty: it was read.
};

/// Takes a file's bytes apart. Refused are files that are no well-formed XML to their end, that
/// declare a document type, that nest more than 64 levels or hold more than 10000 elements.
TopologyImport import_topology(std::string_view bytes);

}  // namespace ncclog

// What else the InfiniBand transport says.
//
//   NET/IB: Subnet-aware routing: overriding dev 3 with dev 4

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// What else the InfiniBand transport says (net_ib/*.cc, net_ib.cc).
struct IbNote {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "ib_note";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text = "NET/IB : {text:Failed to open mlx5dv symbols. Advance features like CX-8 "
               "Direct-NIC will be disabled.|Skipping makeVDevice, NCCL_IB_MERGE_NICS=0}",
       .example = "NET/IB : Failed to open mlx5dv symbols. Advance features like CX-8 Direct-NIC "
                  "will be disabled."},
      {.text = "NET/IB: {:word}: {text:OOO RQ is enabled, Overriding pre-posting to true "
               "(1).|Overriding pre-posting to true (1).}",
       .example = "NET/IB: mlx5_0: OOO RQ is enabled, Overriding pre-posting to true (1)."},
      {.text = "NET/IB: {text:OOO RQ is enabled, AR threshold will be ignored.}",
       .example = "NET/IB: OOO RQ is enabled, AR threshold will be ignored."},
      {.text = "{text:Detected a mix of single and multiple-port NICs. Force-disabling "
               "NCCL_IB_MERGE_NICS}",
       .example =
           "Detected a mix of single and multiple-port NICs. Force-disabling NCCL_IB_MERGE_NICS"},
      {.text = "NET/IB : {text:Invalid NCCL_NET_FORCE_MERGE specified|There "
               "are mismatched physical devices between local} {...}",
       .example =
           "NET/IB : Invalid NCCL_NET_FORCE_MERGE specified mlx5_0. Couldn't parse substring "
           "mlx5_0. Please provide a semicolon-delimited list of comma-delimited NIC groups."},
      {.text = "NET/IB: {:word}: {text:Flush QP created:|IbDev|Overriding matching scheme to "
               "ID-based} {...}",
       .example = "NET/IB: mlx5_0: Flush QP created: port=3 dev=3 devName=mlx5_0 ndevs=3 nmdevs=3 "
                  "qp_num=12 pkey=12 pd=0x7f10a0"},
      {.text = "NET/IB: {:word}: {text:Pre-posting|QP created:|Receive work requests will "
               "be|Receiver got a completion for a CTS but retrieved an 'unused' request|Receiver "
               "got a completion for a data transfer but retrieved an 'unused' request|Set ECE: "
               "IbDev|Skipping retransmission on QP index} {...}",
       .example = "NET/IB: ncclIbTest: Pre-posting 3 Receive WQEs on QP (qp_num=3, comm=0x7f10a0)"},
      {.text = "NET/IB: {text:Subnet-aware routing: overriding dev} {...}",
       .example = "NET/IB: Subnet-aware routing: overriding dev 3 with dev 4"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

using IbNoteMessages = Kinds<IbNote>;

}  // namespace ncclog

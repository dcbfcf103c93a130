// InfiniBand and RoCE: requests that do not add up, connections that cannot be set up as asked.
//
//   NET/IB: OOO RQ is force enabled but AR is not enabled, which is required for OOO RQ
//   (device=mlx5_0)

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// Requests and connections of the InfiniBand transport (net_ib/*.cc, net_ib.cc).
struct IbRequestFailed {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "ib_request_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::Internal,
      "The InfiniBand transport's list of requests contradicts itself, or a request came before "
      "its connection was ready. Look for an earlier completion error on this rank."};
  static constexpr Wording kWordings[] = {
      {.text = "Error: {text:trying to connect already connected sendComm}",
       .example = "Error: trying to connect already connected sendComm"},
      {.text = "{text:Listencomm in unknown state|Cannot store sizes of} {...}",
       .example = "Listencomm in unknown state 3"},
      {.text = "NET/IB : {text:unable to allocate requests}",
       .example = "NET/IB : unable to allocate requests",
       .quotable = true},
      {.text = "NET/IB: {text:ncclIbIrecv() called when comm->base.ready == 0|ncclIbIrecv() called "
               "when comm->ready == 0|ncclIbIsend() called when comm->base.ready == "
               "0|ncclIbIsend() called when comm->ready == 0}",
       .example = "NET/IB: ncclIbIrecv() called when comm->base.ready == 0",
       .quotable = true},
      {.text = "NET/IB: {:word}: {text:Invalid request index|No format specified for|Receiver "
               "expected a 'recv' request but got|Sender expected a 'send' request but got|Unknown "
               "completion} {...}",
       .example = "NET/IB: ncclIbTest: Invalid request index 3. Not in the range [3, 3). Cannot "
                  "retrieve request.",
       .quotable = true},
      {.text = "NET/IB: {text:Invalid request index|No format specified for|Receiver expected a "
               "'recv' request but got|Sender expected a 'send' request but got|Unknown "
               "completion|could not find mr|wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM and} {...}",
       .example =
           "NET/IB: Invalid request index 3. Not in the range [3, 3). Cannot retrieve request.",
       .quotable = true},
      {.text = "NET/IB: {text:sendReq}({:hex})->events={...}",
       .example = "NET/IB: sendReq(0x7f10a0)->events={0,0,0,-1}, devIndex=0, reqIdx=0 <= 0",
       .quotable = true},
      {.text = "NET/IB: {:word} comm {text:could not retreive a request} {...}",
       .example = "NET/IB: send comm could not retreive a request found for a successful "
                  "completion (comm=0x7f10a0, wc.wr_id=3, opcode=0, qp_num=12)",
       .quotable = true},
      {.text = "NET/IB: {:word}: {:word} comm {text:could not retreive a request} {...}",
       .example = "NET/IB: ncclIbTest: send comm could not retreive a request found for a "
                  "successful completion (comm=0x7f10a0, wc.wr_id=3, opcode=0, qp_num=12)",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Receiving out of order (net_ib/connect.cc, 2.30.3 and later).
struct IbOooRefused {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "ib_ooo_refused";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::User,
      "Out-of-order receiving is forced, but adaptive routing, the peer or the queue size does not "
      "allow it. Set NCCL_IB_OOO_RQ=0 or enable adaptive routing everywhere."};
  static constexpr Warning kNicRefused{
      WarnSeverity::Fatal, WarnOrigin::System,
      "The NIC refused a queue pair for out-of-order receiving. Set NCCL_IB_OOO_RQ=0, or update "
      "the NIC's firmware and rdma-core."};
  static constexpr Wording kWordings[] = {
      {.text = "NET/IB: {:word}: {text:OOO RQ is force enabled but AR is not enabled, which is "
               "required for OOO RQ|OOO RQ is force enabled but not supported on both sides of the "
               "connection|OOO RQ is force enabled but size} {...}",
       .example = "NET/IB: mlx5_0: OOO RQ is force enabled but AR is not enabled, which is "
                  "required for OOO RQ (device=mlx5_0)",
       .quotable = true},
      {.text = "NET/IB: {text:OOO RQ is force enabled but AR is not enabled, which is required for "
               "OOO RQ|OOO RQ is force enabled but not supported on both sides of the "
               "connection|OOO RQ is force enabled but size} {...}",
       .example = "NET/IB: OOO RQ is force enabled but AR is not enabled, which is required for "
                  "OOO RQ (device=mlx5_0)",
       .quotable = true},
      {.text = "NET/IB: {:word}: {text:mlx5dv_create_qp failed to create QP:} {...}",
       .example = "NET/IB: mlx5_0: mlx5dv_create_qp failed to create QP: Invalid argument",
       .quotable = true,
       .warning = kNicRefused},
      {.text = "NET/IB: {text:mlx5dv_create_qp failed to create QP:} {...}",
       .example = "NET/IB: mlx5dv_create_qp failed to create QP: Invalid argument",
       .quotable = true,
       .warning = kNicRefused},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// The version of a RoCE address (net_ib/connect.cc, 2.23.4 and later).
struct RoceVersionUnreadable {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "roce_version_unreadable";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "The type of a RoCE address cannot be read, so the connection fails. Make "
      "/sys/class/infiniband visible in the container, or set NCCL_IB_GID_INDEX."};
  static constexpr Wording kWordings[] = {
      {.text = "NET/IB: {text:open failed in ncclIbRoceGetVersionNum:|read failed in "
               "ncclIbRoceGetVersionNum:} {...}",
       .example = "NET/IB: open failed in ncclIbRoceGetVersionNum: No such file or directory",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// InfiniBand settings out of range (net_ib/*.cc).
struct IbSettingInvalid {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "ib_setting_invalid";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{WarnSeverity::Fatal, WarnOrigin::User,
                                    "An InfiniBand setting is out of range: the subnet prefix "
                                    "length, or a plane in NCCL_IB_HCA. Correct or unset it."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:NCCL cannot use a plane ID that is|NCCL cannot use more than} {...}",
       .example = "NCCL cannot use a plane ID that is 3."},
      {.text = "NET/IB: NCCL_IB_SUBNET_PREFIX_LEN={:int} {text:is out of range} [1,32]",
       .example = "NET/IB: NCCL_IB_SUBNET_PREFIX_LEN=40 is out of range [1,32]",
       .quotable = true},
      {.text = "NET/IB: {text:Ip address} {...}",
       .example = "NET/IB: Ip address 'mlx5_0' is invalid for family mlx5_0, ignoring address",
       .quotable = true,
       .warning = {WarnSeverity::Degraded, WarnOrigin::User,
                   "The range in NCCL_IB_ADDR_RANGE does not fit the address family and is "
                   "ignored, so the RoCE address is chosen without it."}},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// The NIC's Data Direct path (net_ib/init.cc, 2.28.3 and later).
struct DataDirectFailed {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "data_direct_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "NCCL could not ask the NIC for its Data Direct path, so InfiniBand is not usable. Update "
      "rdma-core, or set NCCL_IB_DATA_DIRECT=0."};
  static constexpr Wording kWordings[] = {
      {.text = "NET/IB: {text:Error in mlx5dv_get_data_direct_sysfs_path with device} {...}",
       .example = "NET/IB: Error in mlx5dv_get_data_direct_sysfs_path with device mlx5_0",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Two InfiniBand subnets behind a router (net_ib/connect.cc, 2.22.3 and later).
struct IbFlidZero {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "ib_flid_zero";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Degraded, WarnOrigin::System,
      "The remote port of another InfiniBand subnet has no forwarding id, so NCCL uses the plain "
      "LID. The router's set-up in the subnet manager is incomplete."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:Warning: remote FLID configured as zero even when endpoints are on different "
               "subnets, using dlid as fallback}",
       .example = "Warning: remote FLID configured as zero even when endpoints are on different "
                  "subnets, using dlid as fallback"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

using IbRequestMessages = Kinds<IbRequestFailed, IbOooRefused, RoceVersionUnreadable,
                                IbSettingInvalid, DataDirectFailed, IbFlidZero>;

}  // namespace ncclog

// Calls of Libfabric, and of its plugin's own, that fail before any transfer.
//
//   NET/OFI Unable to register memory (type = 2) for device 3. RC: -22, Error: Invalid argument
//   NET/OFI Unable to insert remote address into address vector for device 0. RC: 0
//
// How transfers fail is in external_plugin.h.

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// The plugin for Libfabric could not register memory with the NIC (aws-ofi-nccl:
/// register_mr_buffers, later reg_mr).
struct OfiRegisterFailed {
  int type = -1;    ///< NCCL_PTR_HOST 1, NCCL_PTR_CUDA 2; -1 if not printed.
  int device = -1;  ///< Number of the NIC; -1 if not printed.
  int rc = 0;       ///< Libfabric's error number, negative.
  std::string_view error;

  static constexpr std::string_view kKind = "ofi_register_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "The NIC could not register a buffer through Libfabric. For GPU memory (type 2) look at "
      "DMA-BUF or peer memory and the CUDA libraries in use; for host memory at locked memory."};
  static constexpr Wording kWordings[] = {
      {.text = "NET/OFI Unable to register memory (type = {type}) for device {device}. RC: {rc}, "
               "Error: {error...}",
       .example = "NET/OFI Unable to register memory (type = 2) for device 3. RC: -22, Error: "
                  "Invalid argument",
       .quotable = true},
      {.text = "NET/OFI Unable to register memory for device {device}. RC: {rc}, Error: {error...}",
       .example = "NET/OFI Unable to register memory for device 3. RC: -12, Error: Cannot allocate "
                  "memory",
       .quotable = true},
      {.text = "NET/OFI CM: Unable to register memory. RC: {rc}, Error: {error...}",
       .example = "NET/OFI CM: Unable to register memory. RC: -12, Error: Cannot allocate memory",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("type", self.type);
    visit("device", self.device);
    visit("rc", self.rc);
    visit("error", self.error);
  }
};

/// Libfabric does not take a peer's address (aws-ofi-nccl: sendrecv, rdma, cm).
struct OfiAddressFailed {
  std::string_view whose;  ///< "remote" or "local".
  std::string_view rc;     ///< As printed: "0", "-22", "Invalid argument"; else empty.

  static constexpr std::string_view kKind = "ofi_address_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "Libfabric does not take the address of a peer. Compare provider and release of the plugin "
      "on both hosts, and on EFA the rules of the security group."};
  static constexpr Wording kWordings[] = {
      {.text = "NET/OFI Unable to insert {whose:remote|local} address into address vector for "
               "device {:int}. RC: {rc...}",
       .example =
           "NET/OFI Unable to insert remote address into address vector for device 0. RC: -22",
       .quotable = true},
      {.text = "NET/OFI Unable to insert {whose:remote|local} address into address vector for "
               "device {:int}.",
       .example = "NET/OFI Unable to insert remote address into address vector for device 0.",
       .quotable = true},
      {.text = "NET/OFI CM: Unable to insert {whose:remote|local} address into address vector for "
               "device. RC: {rc...}",
       .example = "NET/OFI CM: Unable to insert remote address into address vector for device. RC: "
                  "Invalid argument",
       .quotable = true},
      {.text = "NET/OFI CM: Unable to insert {whose:remote|local} address into address vector for "
               "device.",
       .example = "NET/OFI CM: Unable to insert remote address into address vector for device.",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("whose", self.whose);
    visit("rc", self.rc);
  }
};

/// The tuner of the plugin for Libfabric does not load beside NCCL_ALGO or NCCL_PROTO
/// (aws-ofi-nccl: nccl_ofi_tuner_init). A WARN up to 1.16, where the communicator then fails with
/// ncclInvalidArgument; from 1.17 on a note, and NCCL's own tuner is used.
struct OfiTunerRefused {
  static constexpr std::string_view kKind = "ofi_tuner_refused";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Tuning;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::User,
      "The tuner of the plugin for Libfabric does not load while NCCL_ALGO or NCCL_PROTO is set, "
      "and the communicator is not made. Unset both, or do without the tuner."};
  static constexpr Wording kWordings[] = {
      {.text =
           "NET/OFI The tuner plugin can not be loaded when explicitly choosing an algorithm or "
           "protocol with NCCL_ALGO/NCCL_PROTO",
       .example =
           "NET/OFI The tuner plugin can not be loaded when explicitly choosing an algorithm "
           "or protocol with NCCL_ALGO/NCCL_PROTO",
       .quotable = true},
      {.text =
           "NET/OFI The tuner plugin can not be loaded when explicitly choosing an algorithm or "
           "protocol with NCCL_ALGO/NCCL_PROTO. Defaulting to internal tuner.",
       .example =
           "NET/OFI The tuner plugin can not be loaded when explicitly choosing an algorithm "
           "or protocol with NCCL_ALGO/NCCL_PROTO. Defaulting to internal tuner.",
       .warning = kNeverWarned},
  };
  static void each_field(auto&, auto&&) {}
};

using OfiFailedMessages = Kinds<OfiRegisterFailed, OfiAddressFailed, OfiTunerRefused>;

}  // namespace ncclog

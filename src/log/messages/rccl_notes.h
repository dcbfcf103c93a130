// What RCCL warns of when it starts, and NCCL does not: settings of an AMD host.
//
//   NCCL WARN Missing "iommu=pt" from kernel command line which can lead to system instablity or
//   hang!
//   NCCL WARN LL cutoff points not detected for a supported arch gfx942
//
// Every process prints these on a host that is set up so, also where all goes well; only beside a
// hang, wrong results or a low bandwidth do they tell anything. Read in RCCL's src/init.cc and
// src/rccl_wrap.cc, ROCm 5.6 to 7.11; "instablity" is RCCL's spelling.

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// A setting of the host or the environment is not as RCCL wants it.
struct RcclSettingMissing {
  std::string_view setting;  ///< "iommu=pt", "amd_iommu=on", "HSA_FORCE_FINE_GRAIN_PCIE=1"
  std::string_view place;    ///< "kernel command line", "environment"

  static constexpr std::string_view kKind = "rccl_setting_missing";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Warning kWarning{
      WarnSeverity::Degraded, WarnOrigin::System,
      "RCCL goes on. On bare metal the missing setting can make transfers between GPUs hang, be "
      "wrong or be slow."};
  static constexpr Wording kWordings[] = {
      {.text = "Missing \"{setting}\" from {place} which can lead to {...}",
       .example =
           "Missing \"iommu=pt\" from kernel command line which can lead to system instablity "
           "or hang!"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("setting", self.setting);
    visit("place", self.place);
  }
};

/// Limits between protocols are not tuned for this GPU.
struct RcclCutoffMissing {
  std::string_view arch;  ///< "gfx942"

  static constexpr std::string_view kKind = "rccl_cutoff_missing";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Tuning;
  static constexpr Warning kWarning{
      WarnSeverity::Degraded, WarnOrigin::System,
      "RCCL has no limits of the LL protocol for this number of ranks on this GPU and takes its "
      "defaults; small messages may be slower."};
  static constexpr Wording kWordings[] = {
      {.text = "LL cutoff points not detected for a supported arch {arch:word}",
       .example = "LL cutoff points not detected for a supported arch gfx942"},
  };
  static void each_field(auto& self, auto&& visit) { visit("arch", self.arch); }
};

/// The kernel moves memory between NUMA nodes while the job runs.
struct RcclNumaBalancing {
  static constexpr std::string_view kKind = "rccl_numa_balancing";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Warning kWarning{
      WarnSeverity::Degraded, WarnOrigin::System,
      "RCCL goes on. The kernel's NUMA balancing stops processes to move their pages, so times "
      "vary; sysctl kernel.numa_balancing=0 ends that."};
  static constexpr Wording kWordings[] = {
      {.text = "NUMA auto balancing enabled which can lead to variability in the RCCL performance! "
               "{...}",
       .example = "NUMA auto balancing enabled which can lead to variability in the RCCL "
                  "performance! Disable by \"sudo sysctl kernel.numa_balancing=0\""},
  };
  static void each_field(auto&, auto&&) {}
};

using RcclNotes = Kinds<RcclSettingMissing, RcclCutoffMissing, RcclNumaBalancing>;

}  // namespace ncclog

// Libraries behind RDMA and GDRCopy: entry points that are missing, calls that fail.
//
//   gdr_pin_buffer(addr 7f21e0000000, size 65536) failed: 22

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// GDRCopy (misc/gdrwrap.cc).
struct GdrcopyFailed {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "gdrcopy_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "A call to GDRCopy, which NCCL_GDRCOPY_ENABLE=1 turns on, failed. Check that the gdrdrv "
      "module is loaded and fits the library."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:dlsym failed on|ncclOsDlsym failed on} {:word}, ignoring",
       .example = "ncclOsDlsym failed on gdr_pin_buffer_v2, ignoring",
       .warning = kNeverWarned},
      {.text = "{text:GDRCOPY lib wrapper not initialized.|gdr_pin_buffer_v2 not available; "
               "GDRCopy >= 2.5 required}",
       .example = "GDRCOPY lib wrapper not initialized."},
      {.text = "{text:GDRCOPY failure|dlsym failed on|gdr_close() "
               "failed:|gdr_get_info(handle|gdr_pin_buffer_v2(addr|gdr_unpin_buffer(handle|"
               "ncclOsDlsym failed on} {...}",
       .example = "GDRCOPY failure 3",
       .general = true},
      {.text = "{text:gdr_copy_from_mapping(handle} {:hex}, h_ptr {:hex}, map_d_ptr {:hex}, size "
               "{:int}) failed: {:int}",
       .example = "gdr_copy_from_mapping(handle 1a2b, h_ptr 0x7f10a0, map_d_ptr 0x7f10a0, size 12) "
                  "failed: 3"},
      {.text = "{text:gdr_copy_to_mapping(handle} {:hex}, map_d_ptr {:hex}, h_ptr {:hex}, size "
               "{:int}) failed: {:int}",
       .example = "gdr_copy_to_mapping(handle 1a2b, map_d_ptr 0x7f10a0, h_ptr 0x7f10a0, size 12) "
                  "failed: 3"},
      {.text = "{text:gdr_map(handle} {:hex}, size {:int}) failed: {:int}",
       .example = "gdr_map(handle 1a2b, size 12) failed: 3"},
      {.text = "{text:gdr_pin_buffer(addr} {:hex}, size {:int}) failed: {:int}",
       .example = "gdr_pin_buffer(addr 1a2b, size 12) failed: 3"},
      {.text = "{text:gdr_unmap(handle} {:hex}, va {:hex}, size {:int}) failed: {:int}",
       .example = "gdr_unmap(handle 1a2b, va 0x7f10a0, size 12) failed: 3"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Entry points of the RDMA libraries (misc/ibvsymbols.cc, misc/mlx5dvsymbols.cc).
struct RdmaSymbolMissing {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "rdma_symbol_missing";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Degraded, WarnOrigin::System,
      "A function of the RDMA libraries is missing, so NCCL goes without InfiniBand or without "
      "that feature. The installed rdma-core is too old or incomplete."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:NET/MLX5: lib wrapper not initialized.|lib wrapper not initialized.}",
       .example = "NET/MLX5: lib wrapper not initialized."},
      {.text = "{text:dlvsym failed on} {...}",
       .example = "dlvsym failed on mlx5_0 - mlx5_0 version mlx5_0"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// GDRCopy is in use (misc/gdrwrap.cc).
struct RdmaLibraryNote {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "rdma_library_note";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text = "{text:GDRCOPY enabled library} {...}",
       .example = "GDRCOPY enabled library 3.3 driver 3.3"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

using RdmaLibraryMessages = Kinds<GdrcopyFailed, RdmaSymbolMissing, RdmaLibraryNote>;

}  // namespace ncclog

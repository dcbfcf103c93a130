// Law: a line of dmesg, journald or syslog is understood behind every stamp and behind what people's
// commands put in front of it; other drivers' lines are left alone.

#include <gtest/gtest.h>

#include <vector>

#include "log/known_messages.h"
#include "support/event_text.h"

namespace ncclog {
namespace {

using testing::event_text;

struct KernelRow {
  std::string_view line;
  std::string_view host;
  std::string_view event;
};

constexpr std::string_view kXid79 =
    "xid bus_id=0000:1b:00 code=79 pid=4242 name=python3 text=GPU has fallen off the bus.";

const std::vector<KernelRow> kKernelLines = {
    {"19:14:43  NVRM: Xid (PCI:0000:1b:00): 79, pid=4242, name=python3, GPU has fallen off the "
     "bus.",
     "", kXid79},
    {"NVRM: fallen off the bus and is not responding to commands.", "", "gpu_off_bus"},
    {"[ 1843.308145] NVRM: The NVIDIA GPU 0000:b3:00.0", "", "gpu_named bus_id=0000:b3:00.0"},
    {"[77123.456789] NVRM: Xid (PCI:0000:1b:00): 79, pid=4242, name=python3, GPU has fallen off "
     "the "
     "bus.",
     "", kXid79},
    {"[   12.345678] NVRM: Xid (PCI:0000:1b:00): 79, pid=4242, name=python3, GPU has fallen off "
     "the "
     "bus.",
     "", kXid79},
    {"<3>[77123.456789] NVRM: Xid (PCI:0000:1b:00): 79, pid=4242, name=python3, GPU has fallen off "
     "the bus.",
     "", kXid79},
    {"kern  :err   : [77123.456789] NVRM: Xid (PCI:0000:1b:00): 79, pid=4242, name=python3, GPU "
     "has "
     "fallen off the bus.",
     "", kXid79},
    {"[Mon Jan  5 12:00:00 2026] NVRM: Xid (PCI:0000:1b:00): 79, pid=4242, name=python3, GPU has "
     "fallen off the bus.",
     "", kXid79},
    {"Jan 05 12:00:00 node-b kernel: NVRM: Xid (PCI:0000:1b:00): 79, pid=4242, name=python3, GPU "
     "has "
     "fallen off the bus.",
     "node-b", kXid79},
    {"Jan  5 12:00:00 node-b kernel: [77123.456789] NVRM: Xid (PCI:0000:1b:00): 79, pid=4242, "
     "name=python3, GPU has fallen off the bus.",
     "node-b", kXid79},
    {"kern  :warn  : 2026-01-05T12:00:00,285060+00:00 NVRM: Xid (PCI:0000:1b:00): 79, pid=4242, "
     "name=python3, GPU has fallen off the bus.",
     "", kXid79},
    {"3,3973,227996636,-;NVRM: Xid (PCI:0000:1b:00): 79, pid=4242, name=python3, GPU has fallen "
     "off the bus.",
     "", kXid79},
    {"[77123.456789] NVRM: GPU 0000:1b:00.0: GPU has fallen off the bus.", "",
     "gpu_off_bus bus_id=0000:1b:00.0"},
    {"[77123.456789] mlx5_core: Port module event[error]: module 2, High Temperature detected", "",
     "hca_fault what=module 2, High Temperature detected"},
    {"NVRM: Xid (PCI:0000:1b:00): 45, pid='<unknown>', name=<unknown>, Ch 00000010", "",
     "xid bus_id=0000:1b:00 code=45 text=Ch 00000010"},
    {"NVRM: GPU at PCI:0000:1b:00: GPU-5d2e6f10-0b5c-4f7a-9d1e-0c5f6a7b8c9d", "",
     "gpu_identity bus_id=0000:1b:00 uuid=GPU-5d2e6f10-0b5c-4f7a-9d1e-0c5f6a7b8c9d"},
    {"[8123.617543] nvidia-nvswitch1: SXid (PCI:0000:00:08.0): 11004, Non-fatal, Link 36 ingress "
     "invalid ACL (First)",
     "",
     "sxid nvswitch=1 bus_id=0000:00:08.0 code=11004 severity=Non-fatal link=36 text=ingress "
     "invalid ACL (First)"},
    {"[77123.456789] pcieport 0000:89:02.0: AER: Multiple Uncorrected (Fatal) error received: "
     "0000:8a:00.0",
     "",
     "pcie_error driver=pcieport bus_id=0000:89:02.0 severity=Multiple Uncorrected (Fatal) "
     "source=0000:8a:00.0"},
    {"[77123.456789] pcieport 0000:00:06.0: AER: Correctable error message received from "
     "0000:00:06.0",
     "", "pcie_error driver=pcieport bus_id=0000:00:06.0 severity=Correctable source=0000:00:06.0"},
    {"[77123.456789] nvidia 0000:8a:00.0: AER: PCIe Bus Error: severity=Corrected, type=Physical "
     "Layer, (Receiver ID)",
     "",
     "pcie_error driver=nvidia bus_id=0000:8a:00.0 severity=Corrected type=Physical Layer "
     "source=Receiver ID"},
    {"[77123.456789] mlx5_core 0000:5c:00.0 ens5f0np0: Link down", "",
     "hca_link bus_id=0000:5c:00.0 interface=ens5f0np0 state=down"},
    {"[77123.456789] mlx5_core 0000:0d:00.0: print_health_info:431:(pid 0): Health issue observed, "
     "firmware internal error, severity(3) ERROR:",
     "",
     "hca_fault bus_id=0000:0d:00.0 what=Health issue observed, text=firmware internal error, "
     "severity(3) ERROR:"},
    {"[77123.456789] mlx5_core 0000:06:00.0: wait_func_handle_exec_timeout:1128:(pid 185911): "
     "cmd[-22]: CREATE_UCTX(0xa04) No done completion",
     "", "hca_note bus_id=0000:06:00.0 text=-22]: CREATE_UCTX(0xa04) No done completion"},
    {"[77123.456789] python3 invoked oom-killer: gfp_mask=0x100cca(GFP_HIGHUSER_MOVABLE), order=0",
     "", "oom_invoked name=python3"},
    {"[77123.456789] oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,"
     "global_oom,task_memcg=/user.slice,task=python3,pid=4242,uid=1000",
     "", "oom_kill pid=4242 name=python3"},
    {"[77123.456789] Out of memory: Kill process 4242 (python3) score 850 or sacrifice child", "",
     "oom_kill pid=4242 name=python3"},
    {"[77123.456789] Killed process 4242 (python3) total-vm:2345678kB, anon-rss:1234567kB", "",
     "oom_kill pid=4242 name=python3"},
    {"[77123.456789] Killed process 4242 (python3), UID 1000, total-vm:2345678kB", "",
     "oom_kill pid=4242 name=python3"},
    {"[77123.456789] pt_main_thread[4242]: segfault at 7f797fe00000 ip 00007f7c7ac69996 sp "
     "00007f7c12fd7c30 error 4 in libnccl.so.2[7f7c7ac00000+12000]",
     "", "kernel_segfault name=pt_main_thread pid=4242 library=libnccl.so.2"},
};

TEST(KernelMessages, AreUnderstoodBehindEveryStamp) {
  for (const KernelRow& row : kKernelLines) {
    EXPECT_EQ(event_text(row.line), row.event) << row.line;
    EXPECT_EQ(parse_header(row.line).prefix.host, row.host) << row.line;
  }
}

TEST(KernelMessages, LeaveOtherDriversAlone) {
  const std::string_view lines[] = {
      "[    0.000000] Linux version 6.8.0",
      "[   12.345678] e1000e 0000:00:1f.6 eno1: NIC Link is Up",
      "[   12.345678] Memory: 8192000K/8388608K available",
      "kern of a boat : [x]",
  };
  for (const std::string_view line : lines) {
    EXPECT_EQ(parse_event(line, all_wordings()).message.kind, nullptr) << line;
  }
}

}  // namespace
}  // namespace ncclog

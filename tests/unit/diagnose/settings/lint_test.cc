#include "diagnose/settings/lint.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "diagnose/facts/job_facts.h"
#include "diagnose/settings/nccl_variables.h"
#include "log/settings.h"
#include "model/derive/build_job.h"

namespace ncclog {
namespace {

std::string described(const std::vector<Remark>& remarks) {
  std::string text;
  for (const Remark& remark : remarks) {
    text += std::string(to_string(remark.level)) + " " + std::string(to_string(remark.kind)) + " " +
            remark.variable + ": " + remark.message;
    if (!remark.hint.empty()) text += " (" + remark.hint + ")";
    text += "\n";
  }
  return text;
}

std::string linted(std::string_view script, const LintContext& context = {}) {
  return described(lint(read_shell_settings(script).settings, context));
}

struct LintRow {
  const char* script;
  const char* remarks;  ///< How the answer begins; "" stands for no remark.
};

void expect_rows(std::span<const LintRow> rows, const LintContext& context = {}) {
  for (const LintRow& row : rows) {
    const std::string answer = linted(row.script, context);
    EXPECT_EQ(answer.substr(0, std::string_view(row.remarks).size()), row.remarks)
        << row.script << "\n"
        << answer;
    if (row.remarks[0] == '\0') {
      EXPECT_EQ(answer, "") << row.script;
    }
  }
}

constexpr LintRow kNames[] = {
    {"export NCCL_DEBUG=INFO NCCL_IB_TIMEOUT=22 PATH=/x CUDA_VISIBLE_DEVICES=0 TOKENS=3", ""},
    {"export NCCL_TIMEOUT=1",
     "warning unknown NCCL_TIMEOUT: has no effect: no release of NCCL or PyTorch reads this name "
     "(collectives have no time limit"},
    {"export NCCL_SHM_DIR=/x", "warning unknown NCCL_SHM_DIR: has no effect"},
    {"export NCCL_SHM_USE_CUDA_MEMORY=1", "warning unknown NCCL_SHM_USE_CUDA_MEMORY: has no"},
    {"export NCCL_IB_DISBALE=1",
     "warning misspelt NCCL_IB_DISBALE: has no effect: nobody reads this name (did you mean "
     "NCCL_IB_DISABLE?)"},
    {"export nccl_debug=INFO",
     "warning misspelt nccl_debug: has no effect: nobody reads this name (did you mean "
     "NCCL_DEBUG?)"},
    {"export NCLL_DEBUG=INFO", "warning misspelt NCLL_DEBUG"},
    {"export NCCL_NOBODY_KNOWS_THIS=1", "warning unknown NCCL_NOBODY_KNOWS_THIS"},
    {"export TORCH_NCCL_BLOKING_WAIT=1",
     "warning misspelt TORCH_NCCL_BLOKING_WAIT: has no effect: nobody reads this name (did you "
     "mean TORCH_NCCL_BLOCKING_WAIT?)"},
    {"export TORCH_NCCL_FUTURE_THING=1", "note unknown TORCH_NCCL_FUTURE_THING"},
    {"export NCCL_ASYNC_ERROR_HANDLING=1",
     "note other_reader NCCL_ASYNC_ERROR_HANDLING: is PyTorch's, not NCCL's, by its old name "
     "(TORCH_NCCL_ASYNC_ERROR_HANDLING is its name now)"},
    {"export RCCL_DEBUG=1 UCCL_DEBUG=1 OFI_NCCL_PROTOCOL=RDMA NCCL_FASTRAK_IFNAME=eth1 "
     "NCCL_HOME=/x TORCH_NCCL_BLOCKING_WAIT=1 NODE_RANK=1",
     ""},
    {"export NCCL_RUN_DIAGNOSTICS=1 NCCL_IB_WQE_LATENCY_THRESHOLD_NS=1000000 NCCL_CFT_ENABLE=0 "
     "NCCL_PROGRESS_COUNTERS=1 NCCL_INSPECTOR_ENABLE=1 NCCL_EP_DEBUG=1 "
     "NCCL_RESHARD_LB_MODE=UNIFORM "
     "DOCA_GPUNETIO_LOG=1",
     ""},
    {"export RCCL_MSCCL_ENABLE=0 RCCL_WARP_SPEED_AUTO=1 NCCL_RINGS_REMAP=0 "
     "HSA_NO_SCRATCH_RECLAIM=1 "
     "HSA_XNACK=1 HIP_PATH=/x ROCR_VISIBLE_DEVICES=0 GPU_MAX_HW_QUEUES=2 AMD_LOG_LEVEL=1 "
     "NPKIT_DUMP_DIR=/x MSCCL_ALGO_FILE_PATH=/x",
     ""},
    {"export NCCL_RUN_DIAGNOSTIC=1",
     "warning misspelt NCCL_RUN_DIAGNOSTIC: has no effect: nobody reads this name (did you mean "
     "NCCL_RUN_DIAGNOSTICS?)"},
    {"export NCCL_INSPECTOR_ENABEL=1",
     "warning misspelt NCCL_INSPECTOR_ENABEL: has no effect: nobody reads this name (did you mean "
     "NCCL_INSPECTOR_ENABLE?)"},
    {"export NCCL_PROFILE_PLUGIN=x",
     "warning misspelt NCCL_PROFILE_PLUGIN: has no effect: nobody reads this name (did you mean "
     "NCCL_PROFILER_PLUGIN?)"},
    {"export RCCL_MSCCL_ENABEL=0",
     "warning misspelt RCCL_MSCCL_ENABEL: has no effect: nobody reads this name (did you mean "
     "RCCL_MSCCL_ENABLE?)"},
    {"export HSA_NO_SCRATCH_RECLAM=1",
     "warning misspelt HSA_NO_SCRATCH_RECLAM: has no effect: nobody reads this name (did you mean "
     "HSA_NO_SCRATCH_RECLAIM?)"},
    {"export NCCL_INSPECTOR_FUTURE_THING=1 NCCL_OFI_FUTURE_THING=1 RCCL_FUTURE_THING=1", ""},
    {"export NCCLXFER_RESHARD_MAX_CTA=8",
     "note other_reader NCCLXFER_RESHARD_MAX_CTA: is nccl_m2n's, not NCCL's, by its old name "
     "(NCCL_RESHARD_MAX_CTA is its name now)"},
};

TEST(EnvironmentLint, SaysWhichNamesNobodyReads) { expect_rows(kNames); }

constexpr LintRow kValues[] = {
    {"export NCCL_IB_DISABLE=true",
     "warning invalid NCCL_IB_DISABLE: is not a number, so NCCL reads it as 0 (write 1)"},
    {"export NCCL_IB_DISABLE=false NCCL_IB_TIMEOUT= NCCL_BUFFSIZE=0x400000", ""},
    {"export NCCL_BUFFSIZE=4M", "warning invalid NCCL_BUFFSIZE: is read as 4"},
    {"export NCCL_IB_TIMEOUT=3600",
     "warning invalid NCCL_IB_TIMEOUT: is outside of what it may be, 0 to 31 (the value is an"},
    {"export NCCL_IB_RETRY_CNT=99999999999999999999", "warning invalid NCCL_IB_RETRY_CNT: is too"},
    {"export NCCL_WORK_FIFO_BYTES=1000", "warning invalid NCCL_WORK_FIFO_BYTES: is ignored"},
    {"export NCCL_P2P_LEVEL=nvl",
     "warning invalid NCCL_P2P_LEVEL: is no distance that NCCL knows, so it is ignored (write it "
     "in upper case: NVL)"},
    {"export NCCL_P2P_LEVEL=NVL NCCL_NET_GDR_LEVEL=2 NCCL_NET_MERGE_LEVEL=PORT", ""},
    {"export NCCL_ALGO=Ring,Treee",
     "error invalid NCCL_ALGO: holds 'Treee', which NCCL does not know: the initialisation fails "
     "(did you mean Tree?)"},
    {"export NCCL_ALGO=bcast:ring", "error invalid NCCL_ALGO: names the function 'bcast'"},
    {"export NCCL_ALGO='ring;tree'", "error invalid NCCL_ALGO: has a second list"},
    {"export NCCL_PROTO='^LL128;allreduce:LL128'", "note workaround NCCL_PROTO"},
    {"export NCCL_DEBUG=DEBUG", "warning invalid NCCL_DEBUG: is none of the words"},
    {"export NCCL_DEBUG=info NCCL_DEBUG_SUBSYS=^init,Coll", ""},
    {"export NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NETWORK",
     "warning invalid NCCL_DEBUG_SUBSYS: holds 'NETWORK'"},
    {"export NCCL_IB_TIMEOUT=$T NCCL_ALGO=\"${A:-x}\"", ""},
    {"export NCCL_RAS_TIMEOUT_FACTOR=1.5", ""},
    {"export NCCL_RAS_TIMEOUT_FACTOR=2", ""},
    {"export NCCL_RAS_TIMEOUT_FACTOR=2x",
     "warning invalid NCCL_RAS_TIMEOUT_FACTOR: is no number above 0, and NCCL 2.31.2 and later use "
     "1 "
     "instead (write a number without unit or comment)"},
    {"export NCCL_RAS_TIMEOUT_FACTOR=0", "warning invalid NCCL_RAS_TIMEOUT_FACTOR"},
    {"export NCCL_RAS_TIMEOUT_FACTOR=nan", "warning invalid NCCL_RAS_TIMEOUT_FACTOR"},
    {"export NCCL_GDRCOPY_USE_INTERNAL_DMABUF=3",
     "warning invalid NCCL_GDRCOPY_USE_INTERNAL_DMABUF: is outside of what it may be, 0 to 2"},
    {"export NCCL_IB_PKEY_VALUE=0x8111", ""},
    {"export NCCL_IB_PKEY_VALUE=0x18111", "warning invalid NCCL_IB_PKEY_VALUE: is outside"},
    {"export NCCL_BUFFSIZE=536870912", "warning costly NCCL_BUFFSIZE: takes 512 MiB"},
    {"export NCCL_DEBUG=TRACE", "note costly NCCL_DEBUG"},
    {"export NCCL_SOCKET_IFNAME='eth0, ib0'", "warning invalid NCCL_SOCKET_IFNAME: holds ' ib0'"},
    {"export NCCL_SOCKET_IFNAME=^docker0",
     "warning admits_loopback NCCL_SOCKET_IFNAME: admits lo: a list of exclusions replaces NCCL's "
     "own, which leaves lo, docker and virbr out (^docker0,lo)"},
    {"export NCCL_SOCKET_IFNAME=^lo,docker NCCL_IB_HCA=^mlx5_bond_0", ""},
};

TEST(EnvironmentLint, SaysWhatNcclMakesOfValues) { expect_rows(kValues); }

constexpr LintRow kTogether[] = {
    {"export NCCL_IB_HCA=mlx5_0 NCCL_IB_DISABLE=1",
     "warning contradictory NCCL_IB_HCA: has no effect: NCCL_IB_DISABLE=1 switches NCCL's own "
     "InfiniBand network off (unset one of the two)\nnote workaround NCCL_IB_DISABLE"},
    {"export NCCL_IB_HCA=mlx5_0 NCCL_IB_DISABLE=0", ""},
    {"export NCCL_IB_HCA=mlx5_0 NCCL_IB_DISABLE=$X", ""},
    {"NCCL_IB_HCA=mlx5_0 ./a; NCCL_IB_DISABLE=1 ./b", "note workaround NCCL_IB_DISABLE"},
    {"export NCCL_IB_HCA=mlx5_0\nNCCL_IB_DISABLE=1 ./b", "warning contradictory NCCL_IB_HCA"},
    {"export NCCL_IB_DISABLE=1\nunset NCCL_IB_DISABLE\nexport NCCL_IB_HCA=mlx5_0",
     "note workaround NCCL_IB_DISABLE"},
    {"if x; then export NCCL_IB_DISABLE=1; else export NCCL_IB_HCA=mlx5_0; fi",
     "note workaround NCCL_IB_DISABLE"},
    {"export NCCL_NET=Socket NCCL_NET_GDR_LEVEL=PHB",
     "note workaround NCCL_NET: forces TCP between hosts (unset it unless this is a test)\nwarning "
     "contradictory NCCL_NET_GDR_LEVEL: has no effect: NCCL_NET=Socket keeps to TCP"},
    {"export NCCL_P2P_LEVEL=NVL NCCL_P2P_DISABLE=1", "warning contradictory NCCL_P2P_LEVEL"},
    {"export NCCL_P2P_LEVEL=NVL NCCL_P2P_DISABLE=0x1", "warning contradictory NCCL_P2P_LEVEL"},
    {"export NCCL_P2P_LEVEL=NVL 'NCCL_P2P_DISABLE= 1'", "warning contradictory NCCL_P2P_LEVEL"},
    {"export NCCL_P2P_LEVEL=NVL NCCL_P2P_DISABLE=0x0", ""},
    {"export NCCL_NVLS_ENABLE=0 NCCL_ALGO=NVLS,NVLSTree",
     "note workaround NCCL_NVLS_ENABLE: switches NVLink SHARP off (unset it unless this is a "
     "test)\nwarning contradictory NCCL_ALGO: asks for what NCCL_NVLS_ENABLE=0 switches off"},
    {"export NCCL_DEBUG=WARN NCCL_DEBUG_SUBSYS=NET",
     "warning contradictory NCCL_DEBUG_SUBSYS: has no effect: NCCL_DEBUG=WARN prints no INFO"},
    {"export NCCL_DEBUG=WARN NCCL_DEBUG_FILE=/x/%h", ""},
    {"export NCCL_DEBUG_SUBSYS=NET", ""},
    {"export NCCL_SHM_DISABLE=1 NCCL_P2P_DISABLE=1",
     "note workaround NCCL_SHM_DISABLE: sends what shared memory would carry over the network "
     "(unset it unless this is a test)\nwarning contradictory NCCL_P2P_DISABLE: leaves only the"},
    {"export NCCL_IB_GID_INDEX=3 NCCL_IB_ROCE_VERSION_NUM=2",
     "warning contradictory NCCL_IB_ROCE_VERSION_NUM"},
    {"export NCCL_SOCKET_NTHREADS=16 NCCL_NSOCKS_PERTHREAD=8",
     "warning contradictory NCCL_NSOCKS_PERTHREAD: is reduced"},
    {"export NCCL_SOCKET_NTHREADS=9223372036854775807 NCCL_NSOCKS_PERTHREAD=8",
     "warning invalid NCCL_SOCKET_NTHREADS: is outside"},
    {"export NCCL_SOCKET_NTHREADS=3 NCCL_NSOCKS_PERTHREAD=9223372036854775807",
     "warning invalid NCCL_NSOCKS_PERTHREAD"},
    {"export NCCL_IB_PKEY=1 NCCL_IB_PKEY_VALUE=0x8111",
     "warning contradictory NCCL_IB_PKEY: has no effect: NCCL_IB_PKEY_VALUE=0x8111 chooses the "
     "partition already (unset one of the two)"},
    {"export NCCL_RAS_ENABLE=0 NCCL_RUN_RAS_DIAGNOSTICS=1",
     "warning contradictory NCCL_RUN_RAS_DIAGNOSTICS: has no effect: NCCL_RAS_ENABLE=0 switches "
     "RAS "
     "off"},
    {"export NCCL_RAS_ENABLE=0 NCCL_RUN_RAS_DIAGNOSTICS=0", ""},
    {"export NCCL_MIN_CTAS=32 NCCL_MAX_CTAS=16", "warning contradictory NCCL_MIN_CTAS: is above"},
};

TEST(EnvironmentLint, FindsSettingsThatDefeatEachOther) { expect_rows(kTogether); }

TEST(EnvironmentLint, KnowsThatACompleteEnvironmentLacksNcclDebug) {
  LintContext context;
  context.complete = true;
  EXPECT_EQ(linted("export NCCL_DEBUG_SUBSYS=NET", context),
            "warning contradictory NCCL_DEBUG_SUBSYS: has no effect: NCCL_DEBUG is not set (set "
            "NCCL_DEBUG=INFO)\n");
}

TEST(EnvironmentLint, DoubtsAValueThatOneProcessPrintsWhereLinesAreTorn) {
  const auto line = [](int pid) {
    return fmt::format("n1:{}:{} [0] NCCL INFO NCCL_IB_TIMEOUT set by environment to 3600.\n", pid,
                       pid);
  };
  const auto remarks = [](const std::string& text, bool is_torn) {
    Job job = job_from_text(text);
    job.logs.front().torn = is_torn;
    return lint_job(job, {}).size();
  };
  EXPECT_EQ(remarks(line(7), false), 1u);
  EXPECT_EQ(remarks(line(7), true), 0u);
  EXPECT_EQ(remarks(line(7) + line(8), true), 1u);
}

TEST(EnvironmentLint, AsksForExportsInScripts) {
  LintContext context;
  context.needs_export = true;
  EXPECT_EQ(linted("NCCL_DEBUG=INFO\nNAME=x\n", context),
            "note not_exported NCCL_DEBUG: is set for the script itself only, unless it is "
            "exported elsewhere (export NCCL_DEBUG)\n");
}

TEST(EnvironmentLint, HoldsSettingsAgainstTheRelease) {
  LintContext old;
  old.nccl_version = "2.18.3";
  constexpr LintRow kOld[] = {
      {"export NCCL_WORK_FIFO_DEPTH=1024 NCCL_DEBUG=INFO", ""},
      {"export NCCL_RAS_ENABLE=0",
       "warning too_new NCCL_RAS_ENABLE: is read by NCCL 2.24.3 and later, and this is 2.18.3"},
      {"export NCCL_IB_PKEY=1 NCCL_IB_PKEY_VALUE=0x8111",
       "warning too_new NCCL_IB_PKEY_VALUE: is read by NCCL 2.31.2 and later, and this is 2.18.3"},
  };
  expect_rows(kOld, old);
  LintContext current;
  current.nccl_version = "2.27.3";
  constexpr LintRow kCurrent[] = {
      {"export NCCL_WORK_FIFO_DEPTH=1024",
       "warning removed NCCL_WORK_FIFO_DEPTH: is read up to NCCL 2.21.5 only, and this is 2.27.3 "
       "(use NCCL_WORK_FIFO_BYTES)"},
      {"export NCCL_IB_CUDA_SUPPORT=1", "warning removed NCCL_IB_CUDA_SUPPORT"},
      {"export NCCL_MIN_NCHANNELS=4",
       "note deprecated NCCL_MIN_NCHANNELS: is an older name that is still read (use "
       "NCCL_MIN_CTAS)"},
      {"export NCCL_SHM_USE_CUDA_MEMCPY=1", ""},
  };
  expect_rows(kCurrent, current);
  constexpr LintRow kUnknown[] = {
      {"export NCCL_LL_THRESHOLD=0", "warning removed NCCL_LL_THRESHOLD: is read up to NCCL 2.4.8"},
      {"export NCCL_SHM_USE_CUDA_MEMCPY=1", "note removed NCCL_SHM_USE_CUDA_MEMCPY"},
  };
  expect_rows(kUnknown);
}

TEST(EnvironmentLint, HoldsSettingsAgainstTheLibrary) {
  LintContext nccl;
  nccl.library = Library::Nccl;
  constexpr LintRow kNccl[] = {
      {"export RCCL_MSCCL_ENABLE=0",
       "note other_reader RCCL_MSCCL_ENABLE: has no effect: RCCL reads it, and this job runs NCCL"},
      {"export NCCL_RINGS_REMAP=0", "note other_reader NCCL_RINGS_REMAP"},
      {"export NCCL_NVLS_CHUNKSIZE=65536 HSA_XNACK=1 NCCL_MNNVL_ENABLE=1", ""},
      {"export NCCL_RINGS='0 1'", "warning removed NCCL_RINGS"},
  };
  expect_rows(kNccl, nccl);
  LintContext rccl;
  rccl.library = Library::Rccl;
  rccl.nccl_version = "2.21.5";
  constexpr LintRow kRccl[] = {
      {"export NCCL_NVLS_ENABLE=0",
       "note other_reader NCCL_NVLS_ENABLE: has no effect: this job runs RCCL, and AMD's GPUs have "
       "no NVLink\n"},
      {"export NCCL_MNNVL_ENABLE=1", "note other_reader NCCL_MNNVL_ENABLE"},
      {"export RCCL_MSCCL_ENABLE=0 NCCL_RINGS='0 1' NCCL_DEBUG=INFO", ""},
      {"export RCCL_MSCCL_ENABEL=0", "warning misspelt RCCL_MSCCL_ENABEL"},
      {"export NCCL_WORK_FIFO_BYTES=1048576", "warning too_new NCCL_WORK_FIFO_BYTES"},
  };
  expect_rows(kRccl, rccl);
}

TEST(EnvironmentLint, TakesTheLibraryFromItsBanner) {
  const auto library = [](const char* log) { return library_of(job_from_text(log)); };
  EXPECT_EQ(library("NCCL version 2.27.3+cuda12.9\n"), Library::Nccl);
  EXPECT_EQ(library("RCCL version 2.20.5+hip6.2 HEAD:d380693+\n"), Library::Rccl);
  EXPECT_EQ(library("RCCL version : 2.21.5-HEAD:9a0e6a1\n"), Library::Rccl);
  EXPECT_EQ(library("n1:7:7 [0] NCCL INFO NCCL_IB_TC set by environment to 106.\n"), std::nullopt);
}

TEST(EnvironmentLint, HoldsFiltersAgainstKnownHosts) {
  LintContext context;
  context.hosts = {
      {"node-a", {"lo", "ens5", "eth1", "eth10"}, {"mlx5_0", "mlx5_1", "mlx5_10"}, true},
      {"node-b", {}, {}, true}};
  constexpr LintRow kRows[] = {
      {"export NCCL_SOCKET_IFNAME==eth0",
       "error matches_nothing NCCL_SOCKET_IFNAME: admits none of the interfaces of node-a: lo, "
       "ens5, eth1, eth10 (did you mean eth1?)"},
      {"export NCCL_SOCKET_IFNAME==ens",
       "error matches_nothing NCCL_SOCKET_IFNAME: admits none of the interfaces of node-a: lo, "
       "ens5, eth1, eth10 (did you mean ens, without '='?)"},
      {"export NCCL_SOCKET_IFNAME=ENS5",
       "error matches_nothing NCCL_SOCKET_IFNAME: admits none of the interfaces of node-a: lo, "
       "ens5, eth1, eth10 (did you mean ens5? Case counts)"},
      {"export NCCL_SOCKET_IFNAME=eth1",
       "warning matches_more NCCL_SOCKET_IFNAME: admits eth10 on node-a as well: names are "
       "beginnings of names (write =eth1 if whole names are meant)"},
      {"export NCCL_IB_HCA=^mlx5_1",
       "warning matches_more NCCL_IB_HCA: leaves out mlx5_10 on node-a as well: names are "
       "beginnings of names (write ^=mlx5_1 if whole names are meant)"},
      {"export NCCL_SOCKET_IFNAME=eth,ens5 NCCL_IB_HCA=mlx5_1,mlx5_10", ""},
      {"export NCCL_SOCKET_IFNAME==eth1 NCCL_IB_HCA=mlx5", ""},
      {"export NCCL_IB_HCA=mlx4_0", "error matches_nothing NCCL_IB_HCA: admits none of the RDMA"},
  };
  expect_rows(kRows, context);
}

TEST(EnvironmentLint, IsModestAboutHostsThatMayNotBeTheJobs) {
  LintContext context;
  context.hosts = {{"this machine", {"wlan0"}, {}, false}};
  EXPECT_EQ(linted("export NCCL_SOCKET_IFNAME=ens5", context),
            "warning matches_nothing NCCL_SOCKET_IFNAME: admits none of the interfaces of this "
            "machine: wlan0 (right if the job runs on other hosts)\n");
}

TEST(EnvironmentLint, TakesAnyNameAndValue) {
  for (const NcclVariable& variable : nccl_variables()) {
    for (const char* value : {"", "^", "=", ",,;:", "\xff\xfe", "-", "0x", " ", ":", "^=,", "\n"}) {
      Setting setting;
      setting.name = variable.name;
      setting.value = value;
      EXPECT_NO_THROW(lint(std::span(&setting, 1), {})) << variable.name << " " << value;
    }
  }
}

TEST(NcclVersion, ComparesNumbersNotLetters) {
  EXPECT_LT(compare_releases("2.9.8", "2.10.3"), 0);
  EXPECT_EQ(compare_releases("2.27.3+cuda12.9", "2.27.3"), 0);
  EXPECT_GT(compare_releases("2.27.3", "2.27"), 0);
  EXPECT_EQ(compare_releases("2.27.0", "2.27"), 0);
  EXPECT_FALSE(is_release("latest"));
}

}  // namespace

}  // namespace ncclog

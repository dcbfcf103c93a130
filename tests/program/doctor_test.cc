// ncclog doctor on recorded hosts and on this one, and what its reports say about logs.
//
// tests/hosts holds a record for each case; its third line says which findings it gives.

#include <elf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"
#include "support/paths.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace ncclog::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

Outcome ncclog(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), ncclog_binary().string());
  return run_command({.arguments = std::move(arguments)});
}

json report_of(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--format", "json"});
  const Outcome out = ncclog(std::move(arguments));
  const json report = json::parse(out.standard_output, nullptr, false);
  EXPECT_TRUE(report.is_object()) << out.standard_error;
  return report.is_object() ? report : json{{"findings", json::array()}};
}

/// "shm-no-space warning", sorted.
std::set<std::string> findings_of(const json& report) {
  std::set<std::string> found;
  for (const json& finding : report["findings"]) {
    found.insert(finding["id"].get<std::string>() + " " + finding["severity"].get<std::string>());
  }
  return found;
}

std::set<std::string> expected_of(const std::string& record) {
  constexpr std::string_view kKey = "# expects: ";
  std::set<std::string> expected;
  const size_t at = record.find(kKey);
  if (at == record.npos) return {"no line says what is expected"};
  const size_t begin = at + kKey.size();
  const std::string ids = record.substr(begin, record.find('\n', begin) - begin);
  for (const std::string_view part : split(ids, ',')) {
    if (trim(part) != "nothing") expected.emplace(trim(part));
  }
  return expected;
}

std::string lines(const std::set<std::string>& all) {
  return join(std::vector<std::string>(all.begin(), all.end()), "\n");
}

TEST(Doctor, RecordedHostsGiveTheirFindingsAndNothingElse) {
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator(source_dir() / "tests/hosts")) {
    const std::string path = entry.path().string();
    EXPECT_EQ(lines(findings_of(report_of({"doctor", "--root", path}))),
              lines(expected_of(read_file(path))))
        << path;
    ++count;
  }
  EXPECT_GE(count, 30U);
}

TEST(Doctor, ItsRecordGivesTheSameReport) {
  const TempDir dir;
  const std::string record = (dir.path() / "here.host").string();
  const json here = report_of({"doctor", "--record", record});
  const json again = report_of({"doctor", "--root", record});
  EXPECT_EQ(here["findings"], again["findings"]);
  EXPECT_EQ(here["host_reports"][0]["record"], again["host_reports"][0]["record"]);
}

TEST(Doctor, ThisHostIsLookedAt) {
  const Outcome out = ncclog({"doctor"});
  EXPECT_LE(out.exit_code, 1) << out.standard_error;
  EXPECT_EQ(out.standard_error, "");
  EXPECT_NE(out.standard_output.find("  shm "), std::string::npos) << out.standard_output;
}

TEST(Doctor, AFolderIsAnotherRoot) {
  const TempDir root;
  root.add("proc/sys/kernel/hostname", "other-host\n");
  root.add("dev/shm/file", "");
  root.add("proc/self/limits", "Max open files  512  512  files\n");
  EXPECT_EQ(lines(findings_of(report_of({"doctor", "--root", root.path().string()}))),
            "too-many-open-files warning");
}

/// The rows of the host's section in a report for people: "RDMA" → "no device".
std::string row_of(const std::string& report, const std::string& label) {
  const size_t at = report.find("\n  " + label + " ");
  if (at == report.npos) return "";
  std::string row;
  for (const std::string_view line : split(std::string_view(report).substr(at + 1), '\n')) {
    if (!row.empty() && !line.starts_with("          ")) break;
    row += (row.empty() ? "" : " ") +
           std::string(trim(row.empty() ? line.substr(3 + label.size()) : line));
  }
  return row;
}

/// An empty /sys says nothing of RDMA devices, and so on: what was not read is no claim.
TEST(Doctor, WhatCannotBeSeenIsUnknown) {
  const TempDir empty;
  const Outcome out = ncclog({"doctor", "--root", empty.path().string()});
  EXPECT_EQ(out.exit_code, 0) << out.standard_output;
  for (const char* label : {"shm", "RDMA", "GPUs", "PCIe", "net", "sockets", "plugins", "NCCL"}) {
    EXPECT_EQ(row_of(out.standard_output, label), "") << out.standard_output;
  }
  EXPECT_NE(row_of(out.standard_output, "unread").find("/sys"), std::string::npos)
      << out.standard_output;
}

/// What doctor says in a name space of its own, after `prepare`; empty: there is none here.
std::string report_apart(const std::string& flags, const std::string& prepare) {
  const Outcome out = run_command(
      {.arguments = {"/bin/sh", "-c",
                     "unshare " + flags + " /bin/sh -c '" + prepare + " || exit 99; exec " +
                         ncclog_binary().string() + " doctor'"}});
  return out.exit_code <= 1 && out.standard_error.empty() ? out.standard_output : "";
}

TEST(Doctor, HiddenSystemFoldersMakeNoClaims) {
  const std::string sys = report_apart("-m", "mount -t tmpfs none /sys");
  const std::string proc = report_apart("-m", "mount -t tmpfs none /proc");
  if (sys.empty() || proc.empty()) GTEST_SKIP() << "needs a name space of its own";
  EXPECT_EQ(row_of(sys, "RDMA"), "") << sys;
  EXPECT_EQ(row_of(sys, "PCIe"), "") << sys;
  EXPECT_EQ(row_of(sys, "net").find("virtual"), std::string::npos) << sys;
  EXPECT_NE(row_of(sys, "unread").find("/sys"), std::string::npos) << sys;
  EXPECT_EQ(row_of(proc, "limits"), "") << proc;
  EXPECT_NE(row_of(proc, "unread").find("/proc"), std::string::npos) << proc;
}

TEST(Doctor, AHostWithoutInterfacesIsSaidPlainly) {
  const std::string text = report_apart("-n", "true");
  if (text.empty()) GTEST_SKIP() << "needs a name space of its own";
  EXPECT_NE(text.find(": no network interface has an address."), std::string::npos) << text;
}

TEST(Doctor, SegmentsInUseAreToldFromThoseThatNobodyHolds) {
  if (!fs::exists("/dev/shm")) GTEST_SKIP() << "needs /dev/shm";
  const std::string name = "/dev/shm/nccl-test" + std::to_string(getpid());
  const std::string held = name + "held";
  const std::string stale = name + "stale";
  for (const std::string& path : {held, stale}) {
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_GE(file, 0);
    ASSERT_EQ(ftruncate(file, 8192), 0);
    close(file);
  }
  run_command({.arguments = {"touch", "-d", "5 hours ago", stale}});
  const int file = open(held.c_str(), O_RDWR | O_CLOEXEC);
  void* const memory = mmap(nullptr, 8192, PROT_READ, MAP_SHARED, file, 0);
  const std::string text = ncclog({"doctor"}).standard_output;
  munmap(memory, 8192);
  close(file);
  fs::remove(held);
  fs::remove(stale);
  const std::string shm = row_of(text, "shm");
  if (shm.find("perhaps in use") != shm.npos) GTEST_SKIP() << "not all processes can be seen";
  EXPECT_NE(shm.find(" in use"), std::string::npos) << text;
  EXPECT_NE(shm.find(fs::path(stale).filename().string() + " (8 KiB, last written 5 hours before)"),
            std::string::npos)
      << text;
  EXPECT_EQ(shm.find(fs::path(held).filename()), std::string::npos) << text;
}

/// A library of 64 bits with a build-id, a dynamic section of such entries, and constants.
std::string library(const std::string& id, const std::string& constants,
                    const std::vector<std::pair<int64_t, std::string>>& entries = {}) {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  const auto bytes_of = [](const auto& value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  std::string note = bytes_of(Elf64_Nhdr{4, static_cast<uint32_t>(id.size()), NT_GNU_BUILD_ID}) +
                     std::string("GNU\0", 4) + id;
  std::string texts(1, '\0');
  std::string dynamic;
  for (const auto& [tag, text] : entries) {
    dynamic += bytes_of(Elf64_Dyn{tag, {texts.size()}});
    texts += text + std::string(1, '\0');
  }
  const std::string names("\0.rodata\0.names\0", 16);
  const uint64_t parts_at = sizeof(header);
  const uint64_t note_at = parts_at + 3 * sizeof(Elf64_Phdr);
  const uint64_t texts_at = note_at + note.size();
  const uint64_t constants_at = texts_at + texts.size();
  const uint64_t names_at = constants_at + constants.size();
  const uint64_t dynamic_at = names_at + names.size();
  dynamic += bytes_of(Elf64_Dyn{DT_STRTAB, {texts_at}}) + bytes_of(Elf64_Dyn{DT_NULL, {0}});
  const uint64_t sections_at = dynamic_at + dynamic.size();
  header.e_phoff = parts_at;
  header.e_phnum = 3;
  header.e_shoff = sections_at;
  header.e_shnum = 3;
  header.e_shstrndx = 2;
  const auto part = [&](uint32_t type, uint64_t at, uint64_t size) {
    return bytes_of(Elf64_Phdr{.p_type = type, .p_offset = at, .p_vaddr = at, .p_filesz = size});
  };
  const auto section = [&](uint32_t name, uint64_t at, uint64_t size) {
    return bytes_of(Elf64_Shdr{.sh_name = name, .sh_offset = at, .sh_size = size});
  };
  return bytes_of(header) + part(PT_LOAD, 0, sections_at) + part(PT_NOTE, note_at, note.size()) +
         part(PT_DYNAMIC, dynamic_at, dynamic.size()) + note + texts + constants + names + dynamic +
         section(0, 0, 0) + section(1, constants_at, constants.size()) +
         section(9, names_at, names.size());
}

/// Two packages of pip write the same file; a third copy is the system's.
TEST(Doctor, EveryCopyOfNcclIsNamedWithWhoGetsIt) {
  const TempDir root;
  const std::string packages = "usr/lib/python3.11/site-packages/";
  const std::string own = library("\xab\xcd", "x NCCL version 2.28.9+cuda13.0 y");
  root.add(packages + "nvidia/nccl/lib/libnccl.so.2", own);
  const auto record = [&](const std::string& package, size_t size) {
    root.add(packages + package + ".dist-info/RECORD",
             "nvidia/nccl/lib/libnccl.so.2,sha256=x," + std::to_string(size) + "\n");
  };
  record("nvidia_nccl_cu12-2.27.3", 12);
  record("nvidia_nccl_cu13-2.28.9", own.size());
  root.add(
      packages + "torch/lib/libtorch_cuda.so",
      library("\x01", "",
              {{DT_NEEDED, "libnccl.so.2"}, {DT_RPATH, "$ORIGIN:$ORIGIN/../../nvidia/nccl/lib"}}));
  root.add("usr/lib/x86_64-linux-gnu/libnccl.so.2",
           library("\x12\x34", "NCCL version %d NCCL version 2.18.3+cuda12.2"));
  const std::string text = ncclog({"doctor", "--root", root.path().string()}).standard_output;
  std::string row = text;  // As one line.
  std::ranges::replace(row, '\n', ' ');
  row = fmt::format("{}", fmt::join(split_blanks(row), " "));
  for (const char* said :
       {"/usr/lib/x86_64-linux-gnu/libnccl.so.2 (2.18.3+cuda12.2, build-id 1234, which a program "
        "gets that asks for it by name)",
        "/usr/lib/python3.11/site-packages/nvidia/nccl/lib/libnccl.so.2 (2.28.9+cuda13.0, build-id "
        "abcd, of nvidia_nccl_cu13-2.28.9, written over nvidia_nccl_cu12-2.27.3, which PyTorch in "
        "/usr/lib/python3.11/site-packages loads)"}) {
    EXPECT_NE(row.find(said), std::string::npos) << said << "\n" << text;
  }
}

/// What strace shows; empty: it cannot be used here.
std::string trace_of(std::vector<std::string> arguments) {
  const TempDir dir;
  const std::string path = (dir.path() / "trace").string();
  std::vector<std::string> words = {"strace", "-f", "-o", path, ncclog_binary().string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const Outcome out = run_command({.arguments = words});
  return out.exit_code > 1 ? "" : read_file(path);
}

TEST(Doctor, NeitherWritesNorConnectsNorStartsAnything) {
  if (is_sanitized()) GTEST_SKIP() << "sanitizers write into pipes of their own";
  const std::string trace = trace_of({"doctor", "--config", ""});
  if (trace.empty()) GTEST_SKIP() << "strace is not installed, or may not trace";
  std::string wrong;
  size_t programs = 0;
  for (const std::string_view line : split(trace, '\n')) {
    const std::string_view call = trim(line.substr(std::min(line.find(' '), line.size())));
    constexpr std::string_view kForbidden[] = {"connect(", "fork(",     "vfork(",  "unlink",
                                               "mkdir",    "rename",    "chmod",   "mount(",
                                               "kill(",    "setrlimit", "listen(", "ptrace("};
    const bool writes_file =
        (call.starts_with("openat(") || call.starts_with("open(")) &&
        (call.find("O_WRONLY") != call.npos || call.find("O_RDWR") != call.npos ||
         call.find("O_CREAT") != call.npos);
    const bool writes = call.starts_with("write(") && !call.starts_with("write(1,");
    // A socket to the kernel itself, which lists addresses, reaches nobody else.
    const bool opens_socket = call.starts_with("socket(") && call.find("AF_NETLINK") == call.npos;
    const bool starts = call.starts_with("clone") && call.find("CLONE_THREAD") == call.npos;
    programs += call.starts_with("execve(") ? 1 : 0;
    if (starts_with_one_of(call, kForbidden) || writes_file || writes || opens_socket || starts) {
      wrong += std::string(line) + "\n";
    }
  }
  EXPECT_EQ(wrong, "");
  EXPECT_EQ(programs, 1U);
}

TEST(Doctor, WhatIsNoRecordIsRefused) {
  const TempDir dir;
  const struct {
    const char* text;
    const char* complaint;
  } rows[] = {
      {"{}", "no report of a host"},
      {"", "no report of a host"},
      {"[1, 2]", "no report of a host"},
      {"{\"host_reports\": [{\"record\": [\"x\"]}]}", "not a record of a host"},
      {"{\"host_reports\": [3, {\"record\": 4}]}", "no report of a host"},
      {"ncclog host record 1\nfiles /etc/nccl.conf\n", "x.host:2: no question of a host"},
      {"ncclog host record 2\n", "no report of a host"},
  };
  for (const auto& row : rows) {
    dir.add("x.host", row.text);
    const Outcome out = ncclog({"doctor", "--root", (dir.path() / "x.host").string()});
    EXPECT_EQ(out.exit_code, 2) << row.text;
    EXPECT_NE(out.standard_error.find(row.complaint), std::string::npos) << out.standard_error;
  }
}

TEST(Doctor, HostileRecordsReachNoTerminal) {
  const TempDir dir;
  dir.add(
      "x.host",
      "ncclog host record 1\nfile /proc/sys/kernel/hostname\n  \x1b[31mred\x07\nspace /dev/shm\n"
      "  size 99999999999999999999999\n  available -5\naddresses\n  \x1b]0;x\n  a b c d e\n"
      "list /sys/class/infiniband\n  ../../etc\n  \xff\xfe\nnvml\n  gpu\n  gpu x\n  gpu 0 \x1b[2J\n"
      "  p2p 1\nfile /proc/self/limits\n  Max locked memory\n  Max open files x y\n");
  for (const char* format : {"text", "json", "markdown", "html"}) {
    const Outcome out =
        ncclog({"doctor", "--root", (dir.path() / "x.host").string(), "--format", format});
    EXPECT_LE(out.exit_code, 1) << out.standard_error;
    EXPECT_EQ(out.standard_output.find('\x1b'), std::string::npos) << format;
  }
}

// What reports of hosts say about logs.

/// A record of the healthy host with another name and other answers.
std::string host_record(const std::string& name, const std::string& answers) {
  return read_file(source_dir() / "tests/hosts/healthy.host") +
         "file /proc/sys/kernel/hostname\n  " + name + "\n" + answers;
}

struct HostRow {
  const char* sample;
  const char* finding;
  std::vector<std::string> hosts;
  const char* answers;   ///< Instead of the healthy host's.
  const char* expected;  ///< "confirmed", "refuted"; empty: nothing is said.
};

constexpr const char* kSmallShm = "space /dev/shm\n  size 67108864\n  available 0\n";
constexpr const char* kEmptyNode =
    "list /sys/devices/system/node/node*\n  node0\n  node1\nfile "
    "/sys/devices/system/node/node1/meminfo\n  Node 1 MemTotal: 0 kB\n";
constexpr const char* kContainerNet =
    "mode /.dockerenv\n  755 0 0 0\naddresses\n  lo 127.0.0.1/8\n  eth0 172.17.0.3/16\nfile "
    "/sys/class/net/eth0/uevent\n  INTERFACE=eth0\nlink /sys/class/net/eth0/device ! No such file "
    "or "
    "directory\n";
constexpr const char* kNoRdma = "list /sys/class/infiniband ! No such file or directory\n";
constexpr const char* kBond =
    "list /sys/class/infiniband\n  mlx5_0\n  mlx5_bond_0\nlist "
    "/sys/class/infiniband/mlx5_bond_0/ports\n  1\nfile "
    "/sys/class/infiniband/mlx5_bond_0/ports/1/link_layer\n  Ethernet\nfile "
    "/sys/class/infiniband/mlx5_bond_0/ports/1/state\n  4: ACTIVE\n";
constexpr const char* kMemlock =
    "file /proc/self/limits\n  Max locked memory  65536  65536  bytes\n";
constexpr const char* kPlugin =
    "elf /usr/lib/x86_64-linux-gnu/libnccl-net.so\n  needed libc.so.6\n";

const HostRow kHostRows[] = {
    {"shm-docker-64m-4gpu", "shm-container-too-small", {"c5ab17e0d2f4"}, kSmallShm, "confirmed"},
    {"shm-docker-64m-4gpu", "shm-container-too-small", {"c5ab17e0d2f4"}, "", "refuted"},
    {"shm-docker-64m-4gpu", "shm-container-too-small", {"another-host"}, "", ""},
    {"shm-attach-garbled-2gpu-ray",
     "shm-attach-garbled-size0",
     {"trainbox"},
     kEmptyNode,
     "confirmed"},
    {"shm-attach-garbled-2gpu-ray", "shm-attach-garbled-size0", {"trainbox"}, "", "refuted"},
    {"reported-shm-wrapped-lines", "shm-attach-garbled-size0", {"ubuntu"}, kEmptyNode, "confirmed"},
    {"reported-shm-wrapped-lines", "shm-attach-garbled-size0", {"ubuntu"}, "", "refuted"},
    {"reported-shm-in-exception", "shm-attach-garbled-size0", {"any"}, kEmptyNode, "confirmed"},
    {"reported-shm-in-exception", "shm-attach-garbled-size0", {"any"}, "", "refuted"},
    {"bootstrap-docker-bridge-2node",
     "bootstrap-docker-bridge",
     {"c2f6608d913e", "5be1909c77f2"},
     kContainerNet,
     "confirmed"},
    {"bootstrap-docker-bridge-2node",
     "bootstrap-docker-bridge",
     {"c2f6608d913e", "5be1909c77f2"},
     "",
     "refuted"},
    {"mixed-ib-roce-bond-2x8", "mixed-ib-roce-hcas", {"gpu-n41", "gpu-n42"}, kBond, "confirmed"},
    {"mixed-ib-roce-bond-2x8", "mixed-ib-roce-hcas", {"gpu-n41", "gpu-n42"}, "", "refuted"},
    {"mixed-ib-roce-bond-2x8", "mixed-ib-roce-hcas", {"gpu-n41"}, "", ""},
    {"reported-bond-among-ib", "mixed-ib-roce-hcas", {"any"}, kBond, "confirmed"},
    {"reported-bond-among-ib", "mixed-ib-roce-hcas", {"any"}, "", "refuted"},
    {"reported-socket-eth0-line", "socket-only-host-info", {"any"}, kNoRdma, "confirmed"},
    {"reported-socket-eth0-line", "socket-only-host-info", {"any"}, "", "refuted"},
    {"memlock-ib-single-node-8", "memlock-limit", {"node105"}, kMemlock, "confirmed"},
    {"memlock-ib-single-node-8", "memlock-limit", {"node105"}, "", "refuted"},
    {"fastsocket-on-ib-2x8",
     "wrong-net-plugin-fastsocket",
     {"dgx-a07", "dgx-a09"},
     "",
     "confirmed"},
    {"fastsocket-on-ib-2x8",
     "wrong-net-plugin-fastsocket",
     {"dgx-a07", "dgx-a09"},
     kNoRdma,
     "refuted"},
    {"reported-fastsocket-line", "fastsocket-in-use-info", {"any"}, kNoRdma, "confirmed"},
    {"reported-fastsocket-line", "fastsocket-in-use-info", {"any"}, "", "refuted"},
    {"healthy-single-node-no-plugin", "net-plugin-missing-info", {"lab-srv"}, "", "confirmed"},
    {"healthy-single-node-no-plugin", "net-plugin-missing-info", {"lab-srv"}, kPlugin, "refuted"},
};

TEST(Doctor, ReportsOfHostsConfirmAndRefute) {
  for (const HostRow& row : kHostRows) {
    const TempDir dir;
    std::vector<std::string> words = {"analyze", sample_logs(row.sample).string()};
    for (const std::string& host : row.hosts) {
      dir.add(host + ".host", host_record(host, row.answers));
      words.insert(words.end(), {"--with-host", (dir.path() / (host + ".host")).string()});
    }
    const json report = report_of(words);
    std::string answer = "no such finding";
    std::string all;
    for (const json& finding : report["findings"]) {
      all += finding["id"].get<std::string>() + " " + finding["message"].get<std::string>() + "\n";
      if (finding["id"] != row.finding) continue;
      answer =
          finding.contains("host_check") ? finding["host_check"]["answer"].get<std::string>() : "";
      if (answer == "confirmed") {
        EXPECT_EQ(finding["confidence"], "certain") << row.sample;
      }
      if (answer == "refuted") {
        EXPECT_EQ(finding["confidence"], "possible") << row.sample;
        EXPECT_NE(finding["message"].get<std::string>().find("efuted by the report"),
                  std::string::npos);
      }
    }
    EXPECT_EQ(answer, row.expected) << row.sample << " " << row.finding << "\n" << all;
  }
}

TEST(Doctor, ARefutedFindingLeavesTheFailureUnexplainedOrToAnother) {
  const TempDir dir;
  dir.add("a.host", host_record("c5ab17e0d2f4", ""));
  const json shm = report_of({"analyze", sample_logs("shm-docker-64m-4gpu").string(), "--with-host",
                              (dir.path() / "a.host").string()});
  EXPECT_EQ(shm["verdict"]["status"], "problem");
  EXPECT_EQ(shm["verdict"]["finding"], "shm-no-space");
  dir.add("b.host", host_record("node105", ""));
  const json memlock = report_of({"analyze", sample_logs("memlock-ib-single-node-8").string(),
                                  "--with-host", (dir.path() / "b.host").string()});
  EXPECT_NE(memlock["verdict"]["finding"], "memlock-limit");
}

/// A log of three hosts, and what reports of these hosts, or of others, say about it.
json compared(const std::vector<std::string>& hosts) {
  const TempDir dir;
  std::string log;
  for (const char* host : {"gpu-a", "gpu-b", "gpu-c"}) {
    log += std::string(host) + ":41:41 [0] NCCL INFO Using network Socket\n";
  }
  dir.add("logs/job.log", log);
  std::vector<std::string> words = {"analyze", (dir.path() / "logs").string()};
  for (const std::string& host : hosts) {
    const bool is_last = host == hosts.back();
    const std::string path = dir.add(
        host + ".host", host_record(host, is_last ? "file /sys/class/net/ib0/mtu\n  2044\n" : ""));
    words.insert(words.end(), {"--with-host", path});
  }
  return report_of(words);
}

const json* find_finding(const json& report, const std::string& id) {
  for (const json& finding : report["findings"]) {
    if (finding["id"] == id) return &finding;
  }
  return nullptr;
}

TEST(Doctor, TheOddHostIsNamed) {
  const json report = compared({"gpu-a", "gpu-b", "gpu-c"});
  const json* odd = find_finding(report, "odd-host");
  ASSERT_NE(odd, nullptr);
  EXPECT_EQ((*odd)["hosts"], json::array({"gpu-c"}));
  EXPECT_NE((*odd)["message"].get<std::string>().find("MTU"), std::string::npos);
}

TEST(Doctor, ReportsOfOtherHostsSayNothingAboutAJob) {
  const json report = compared({"login-1", "login-2", "login-3"});
  EXPECT_EQ(find_finding(report, "odd-host"), nullptr);
  EXPECT_EQ(find_finding(report, "socket-instead-of-ib"), nullptr);
  EXPECT_NE(find_finding(compared({"gpu-a"}), "socket-instead-of-ib"), nullptr);
}

TEST(Doctor, ARecordBesideTheLogsIsReadLikeOneThatIsNamed) {
  const TempDir dir;
  dir.add("job.log",
          "c5ab17e0d2f4:311:402 [1] misc/shmutils.cc:87 NCCL WARN Error: failed to "
          "extend /dev/shm/nccl-q3Xz9b to 9637892 bytes, error: No space left on "
          "device (28)\n");
  dir.add("c5ab17e0d2f4.host", host_record("c5ab17e0d2f4", kSmallShm));
  const json report = report_of({"analyze", dir.path().string()});
  ASSERT_FALSE(report["findings"].empty());
  EXPECT_EQ(report["findings"][0]["id"], "shm-container-too-small");
  EXPECT_EQ(report["findings"][0]["host_check"]["answer"], "confirmed");
  EXPECT_EQ(report["inputs"].size(), 1U);
}

}  // namespace
}  // namespace ncclog::testing

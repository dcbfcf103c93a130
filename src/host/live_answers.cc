// Answers that need more than reading a file: addresses, NUMA calls, segments and who holds them,
// PCIe capabilities, what a library needs, the kernel's log.

#include <arpa/inet.h>
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <memory>
#include <set>

#include "base/posix.h"
#include "base/text.h"
#include "host/host_tree.h"

namespace ncclog {
namespace {

HostAnswer lines_here(std::vector<std::string> lines) {
  return {HostAnswer::State::Here, join(lines, "\n"), {}};
}

/// Bits of a netmask: 24 for 255.255.255.0.
int mask_bits(const sockaddr* mask, size_t offset, size_t size) {
  int bits = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(mask) + offset;
  for (size_t i = 0; i < size; ++i) bits += std::popcount(bytes[i]);
  return bits;
}

}  // namespace

HostAnswer answer_addresses() {
  // As NCCL asks (misc/socket.cc), so that the order is the same.
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return no_answer(errno);
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owned(first, freeifaddrs);
  std::vector<std::string> lines;
  for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr) continue;
    const int family = each->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const bool is_6 = family == AF_INET6;
    const size_t offset =
        is_6 ? offsetof(sockaddr_in6, sin6_addr) : offsetof(sockaddr_in, sin_addr);
    char address[INET6_ADDRSTRLEN] = {};
    const char* bytes = reinterpret_cast<const char*>(each->ifa_addr) + offset;
    if (inet_ntop(family, bytes, address, sizeof(address)) == nullptr) continue;
    const int bits =
        each->ifa_netmask != nullptr ? mask_bits(each->ifa_netmask, offset, is_6 ? 16 : 4) : 0;
    const bool is_up = (each->ifa_flags & IFF_UP) != 0 && (each->ifa_flags & IFF_RUNNING) != 0;
    lines.push_back(fmt::format("{} {}/{}{}", each->ifa_name, std::string(address), bits,
                                is_up ? "" : " down"));
  }
  return lines_here(std::move(lines));
}

HostAnswer answer_mempolicy() {
  int policy = 0;
  // Without NUMA support in the kernel it is ENOSYS.
  if (syscall(SYS_get_mempolicy, &policy, nullptr, 0, nullptr, 0) == 0) return lines_here({"ok"});
  return lines_here({std::strerror(errno)});
}

HostAnswer answer_environment() {
  constexpr std::string_view kStarts[] = {"NCCL_",     "RCCL_", "TORCH_NCCL_",
                                          "TORCH_FR_", "FI_",   "OFI_"};
  constexpr std::string_view kNames[] = {
      "LD_LIBRARY_PATH", "LD_PRELOAD", "CONDA_PREFIX",           "VIRTUAL_ENV",
      "container",       "UCX_TLS",    "KUBERNETES_SERVICE_HOST"};
  std::vector<std::string> lines;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    const std::string_view line = *each;
    const std::string_view name = line.substr(0, line.find('='));
    // A line break in a value would begin an answer of its own.
    const bool is_wanted = starts_with_one_of(name, kStarts) || equals_one_of(name, kNames);
    if (is_wanted && line.find('\n') == line.npos) lines.emplace_back(line);
  }
  std::ranges::sort(lines);
  return lines_here(std::move(lines));
}

HostAnswer answer_xids() {
  constexpr size_t kMost = 64;
  const Descriptor log(open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!log.is_open()) return no_answer(errno);
  std::vector<std::string> lines;
  char record[8192];
  int error = 0;
  while (true) {  // One record a call.
    const ssize_t count = read(log.get(), record, sizeof(record));
    if (count < 0 && errno == EPIPE) continue;  // It was overwritten meanwhile.
    if (count < 0 && errno != EAGAIN) error = errno;
    if (count <= 0) break;
    std::string_view line(record, static_cast<size_t>(count));
    line = line.substr(0, line.find('\n'));
    const size_t text = line.find("NVRM: Xid");
    if (text != line.npos) lines.emplace_back(line.substr(text));
    if (lines.size() > kMost) lines.erase(lines.begin());
  }
  return error != 0 && lines.empty() ? no_answer(error) : lines_here(std::move(lines));
}

// Which files of NCCL lie in /dev/shm, and does a process have them mapped?
//
// Names of segments hold no pid. Whoever uses one has it in /proc/PID/maps, which only its own user
// and root may read, and only inside the same pid namespace.

namespace {

struct ProcessMaps {
  std::set<std::string, std::less<>> mapped;  ///< Paths below the folder.
  bool all_read = true;                       ///< No process of this user was kept from being read.
};

std::vector<std::string> names_in_folder(const std::string& path) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(path.c_str()), closedir);
  while (const dirent* entry = open ? readdir(open.get()) : nullptr) names.push_back(entry->d_name);
  std::ranges::sort(names);
  return names;
}

ProcessMaps read_maps(const std::string& folder) {
  constexpr size_t kMaxMaps = size_t{16} << 20;
  ProcessMaps maps;
  for (const std::string& pid : names_in_folder("/proc")) {
    if (!parse_int(pid)) continue;
    const HostAnswer answer = read_host_file("/proc/" + pid + "/maps", kMaxMaps);
    if (answer.state == HostAnswer::State::Refused) {
      struct stat owner = {};
      const bool is_own = stat(("/proc/" + pid).c_str(), &owner) == 0 && owner.st_uid == geteuid();
      if (is_own || geteuid() == 0) maps.all_read = false;
    }
    for (const std::string_view line : split(answer.text, '\n')) {
      const size_t path = line.find(folder + "/nccl-");
      if (path == line.npos) continue;
      std::string_view file = line.substr(path);
      if (file.ends_with(" (deleted)")) file.remove_suffix(10);
      maps.mapped.emplace(file);
    }
  }
  return maps;
}

/// Other namespaces have other numbers.
constexpr std::string_view kFirstPidNamespace = "pid:[4026531836]";

bool sees_all_processes() {
  char target[64];
  const ssize_t size = readlink("/proc/self/ns/pid", target, sizeof(target));
  return size > 0 && std::string_view(target, static_cast<size_t>(size)) == kFirstPidNamespace;
}

}  // namespace

HostAnswer answer_segments(const std::string& path) {
  std::vector<std::string> names = names_in_folder(path);
  std::erase_if(names, [](const std::string& name) { return !name.starts_with("nccl-"); });
  if (names.empty()) return lines_here({});
  const ProcessMaps maps = read_maps(path);
  // Below another root lie files of another system, and no processes.
  const bool sees_all = path == "/dev/shm" && sees_all_processes() && maps.all_read;
  std::vector<std::string> lines;
  for (const std::string& name : names) {
    struct stat status = {};
    if (stat((path + "/" + name).c_str(), &status) != 0) continue;
    const bool may_judge = sees_all && (status.st_uid == geteuid() || geteuid() == 0);
    const bool is_held = maps.mapped.contains(path + "/" + name);
    lines.push_back(fmt::format("{} {} {}", name, status.st_size,
                                is_held     ? "process"
                                : may_judge ? "nobody"
                                            : "unknown"));
  }
  return lines_here(std::move(lines));
}

// Does a PCIe bridge redirect traffic between its devices (Access Control Services)?
//
// The bits stand in the extended configuration space, of which other users than root get 64 bytes.

HostAnswer answer_acs(const std::string& device) {
  constexpr size_t kConfigBytes = 4096;
  constexpr size_t kExtended = 0x100;
  constexpr unsigned kAcs = 0x000D;
  const HostAnswer config = read_host_file(device + "/config", kConfigBytes);
  if (!config.is_here()) return config;
  // read_host_file takes newlines off the end, which are zeros nowhere.
  std::string bytes = config.text;
  if (bytes.size() < kExtended + 4) return no_answer(EPERM);
  bytes.resize(kConfigBytes);
  const auto byte = [&](size_t at) { return static_cast<unsigned char>(bytes[at]); };
  size_t at = kExtended;
  for (int hops = 0; hops < 64 && at >= kExtended && at + 8 <= bytes.size(); ++hops) {
    const unsigned id = byte(at) | byte(at + 1) << 8U;
    if (id == 0 || id == 0xFFFF) break;
    if (id == kAcs) {
      const unsigned control = byte(at + 6) | byte(at + 7) << 8U;
      constexpr const char* kBits[] = {"SrcValid", "TransBlk", "ReqRedir", "CmpltRedir",
                                       "UpstreamFwd"};
      std::string words;
      for (size_t bit = 0; bit < std::size(kBits); ++bit) {
        if ((control >> bit & 1U) != 0) words += " " + std::string(kBits[bit]);
      }
      return lines_here({words.empty() ? "off" : "on" + words});
    }
    at = (byte(at + 2) | byte(at + 3) << 8U) >> 4U;
  }
  return lines_here({"none"});
}

// What does a library need, by its dynamic section? Reading it runs none of its code.

namespace {

/// A 64-bit ELF file of this machine's byte order; every read is checked.
class ElfFile {
 public:
  explicit ElfFile(int file) : file_(file) {}

  template <typename T>
  bool read_at(uint64_t offset, T& value) const {
    return pread(file_, &value, sizeof(value), static_cast<off_t>(offset)) ==
           static_cast<ssize_t>(sizeof(value));
  }

  std::string text_at(uint64_t offset) const {
    char bytes[1024] = {};
    const ssize_t size = pread(file_, bytes, sizeof(bytes) - 1, static_cast<off_t>(offset));
    return size > 0 ? std::string(bytes) : std::string();
  }

 private:
  int file_;
};

HostAnswer read_dynamic(const ElfFile& file) {
  constexpr int kMostHeaders = 256;
  constexpr int kMostEntries = 4096;
  Elf64_Ehdr header;
  const bool is_elf = file.read_at(0, header) &&
                      std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
                      header.e_ident[EI_CLASS] == ELFCLASS64;
  if (!is_elf) return {HostAnswer::State::Refused, {}, "no 64-bit ELF file"};
  std::vector<Elf64_Phdr> loads;
  Elf64_Phdr dynamic = {};
  for (int i = 0; i < std::min<int>(header.e_phnum, kMostHeaders); ++i) {
    Elf64_Phdr part;
    if (!file.read_at(header.e_phoff + static_cast<uint64_t>(i) * sizeof(part), part)) break;
    if (part.p_type == PT_LOAD) loads.push_back(part);
    if (part.p_type == PT_DYNAMIC) dynamic = part;
  }
  std::vector<Elf64_Dyn> entries;
  uint64_t texts = 0;
  for (int i = 0; i < kMostEntries; ++i) {
    const uint64_t at = static_cast<uint64_t>(i) * sizeof(Elf64_Dyn);
    Elf64_Dyn entry;
    if (at >= dynamic.p_filesz || !file.read_at(dynamic.p_offset + at, entry)) break;
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_STRTAB) texts = entry.d_un.d_ptr;
    entries.push_back(entry);
  }
  for (const Elf64_Phdr& part : loads) {
    if (texts < part.p_vaddr || texts - part.p_vaddr >= part.p_filesz) continue;
    texts = texts - part.p_vaddr + part.p_offset;
    break;
  }
  std::vector<std::string> lines;
  for (const Elf64_Dyn& entry : entries) {
    const char* word = entry.d_tag == DT_NEEDED                               ? "needed"
                       : entry.d_tag == DT_RUNPATH || entry.d_tag == DT_RPATH ? "runpath"
                                                                              : nullptr;
    if (word == nullptr) continue;
    const std::string text = file.text_at(texts + entry.d_un.d_val);
    if (!text.empty() && text.find('\n') == text.npos) lines.push_back(word + (" " + text));
  }
  return lines_here(std::move(lines));
}

}  // namespace

HostAnswer answer_elf(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  return file.is_open() ? read_dynamic(ElfFile(file.get())) : no_answer(errno);
}

}  // namespace ncclog

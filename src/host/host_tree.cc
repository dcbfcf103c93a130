#include "host/host_tree.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>
#include <set>

#include "base/error.h"
#include "base/posix.h"
#include "base/text.h"

namespace ncclog {

namespace {

constexpr std::string_view kNoElf = "no 64-bit ELF file";

/// Reasons that say that there is no such thing.
constexpr int kAbsent[] = {ENOENT, ENOTDIR, ENODEV, ENXIO};

HostAnswer without_answer(std::string_view why) {
  const bool is_absent =
      std::ranges::any_of(kAbsent, [&](int error) { return why == std::strerror(error); });
  return {is_absent ? HostAnswer::State::Absent : HostAnswer::State::Refused, {}, std::string(why)};
}

HostAnswer here(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return {HostAnswer::State::Here, std::move(text), {}};
}

}  // namespace

HostAnswer no_answer(int error) { return without_answer(std::strerror(error)); }

HostAnswer read_host_file(const std::string& path, size_t most) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.is_open()) return no_answer(errno);
  struct stat status = {};
  std::string text;
  int error = 0;
  // A device or a pipe of that name is not read.
  if (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    error = EINVAL;
  } else {
    char block[4096];
    while (text.size() < most) {
      const ssize_t count = read(file.get(), block, std::min(sizeof(block), most - text.size()));
      if (count < 0) error = errno;
      if (count <= 0) break;
      text.append(block, static_cast<size_t>(count));
    }
  }
  return error != 0 && text.empty() ? no_answer(error) : here(std::move(text));
}

namespace {

constexpr size_t kMaxFileBytes = size_t{256} << 10;
constexpr size_t kMaxNames = 4096;

HostAnswer answer_file(const std::string& path) { return read_host_file(path, kMaxFileBytes); }

/// A table of mounts names those of others, with their options, too.
HostAnswer answer_mount(const std::string& path) {
  HostAnswer answer = answer_file(path);
  std::string wanted;
  for (const std::string_view line : split(answer.text, '\n')) {
    if (line.find(" /dev/shm ") == line.npos) continue;
    wanted += (wanted.empty() ? "" : "\n") + std::string(line);
  }
  answer.text = std::move(wanted);
  return answer;
}

/// Sorted names in a folder that begin with `start`, of the first `most`; nullopt: errno says why.
std::optional<std::vector<std::string>> names_in(const std::string& folder, std::string_view start,
                                                 size_t most = SIZE_MAX) {
  const std::unique_ptr<DIR, FreedBy<closedir>> open(opendir(folder.c_str()));
  if (!open) return std::nullopt;
  std::vector<std::string> names;
  while (const dirent* entry = names.size() < most ? readdir(open.get()) : nullptr) {
    const std::string name = entry->d_name;
    if (name != "." && name != ".." && name.starts_with(start)) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

HostAnswer answer_list(const std::string& path) {
  const size_t slash = path.rfind('/');
  const bool is_pattern = path.ends_with('*') && slash != path.npos;
  const std::string folder = is_pattern ? path.substr(0, slash + 1) : path;
  const std::string start =
      is_pattern ? path.substr(slash + 1, path.size() - slash - 2) : std::string();
  const auto names = names_in(folder, start, kMaxNames);
  return names ? here(join(*names, "\n")) : no_answer(errno);
}

HostAnswer answer_link(const std::string& path) {
  char target[4096];
  const ssize_t size = readlink(path.c_str(), target, sizeof(target));
  return size < 0 ? no_answer(errno) : here(std::string(target, static_cast<size_t>(size)));
}

HostAnswer answer_mode(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return no_answer(errno);
  return here(fmt::format("{:o} {} {} {}", status.st_mode & 07777U, status.st_uid, status.st_gid,
                          status.st_size));
}

HostAnswer answer_space(const std::string& path) {
  struct statvfs space = {};
  if (statvfs(path.c_str(), &space) != 0) return no_answer(errno);
  return here(fmt::format("size {}\navailable {}", uint64_t{space.f_blocks} * space.f_frsize,
                          uint64_t{space.f_bavail} * space.f_frsize));
}

HostAnswer answer_access(const std::string& path) {
  if (access(path.c_str(), W_OK | X_OK) == 0) return here("writable");
  // What cannot be written to is an answer.
  return errno == ENOENT ? no_answer(errno) : here(std::strerror(errno));
}

// Answers that need more than reading a file: addresses, NUMA calls, segments and who holds them,
// PCIe capabilities, what a library needs, the kernel's log.

/// Bits of a netmask: 24 for 255.255.255.0.
int mask_bits(const sockaddr* mask, size_t offset, size_t size) {
  int bits = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(mask) + offset;
  for (size_t i = 0; i < size; ++i) bits += std::popcount(bytes[i]);
  return bits;
}

HostAnswer answer_addresses() {
  // As NCCL asks (misc/socket.cc), so that the order is the same.
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return no_answer(errno);
  const std::unique_ptr<ifaddrs, FreedBy<freeifaddrs>> owned(first);
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
  return here(join(lines, "\n"));
}

HostAnswer answer_mempolicy() {
  int policy = 0;
  // Without NUMA support in the kernel it is ENOSYS.
  if (syscall(SYS_get_mempolicy, &policy, nullptr, 0, nullptr, 0) == 0) return here("ok");
  return here(std::strerror(errno));
}

HostAnswer answer_environment() {
  constexpr std::string_view kStarts[] = {"NCCL_",     "RCCL_", "TORCH_NCCL_",
                                          "TORCH_FR_", "FI_",   "OFI_"};
  constexpr std::string_view kNames[] = {
      "LD_LIBRARY_PATH", "LD_PRELOAD", "CONDA_PREFIX",           "VIRTUAL_ENV",
      "container",       "UCX_TLS",    "KUBERNETES_SERVICE_HOST"};
  std::vector<std::string> lines;
  for (const std::string& line : environment_variables()) {
    const std::string_view name = std::string_view(line).substr(0, line.find('='));
    // A line break in a value would begin an answer of its own.
    const bool is_wanted = starts_with_one_of(name, kStarts) || equals_one_of(name, kNames);
    if (is_wanted && line.find('\n') == line.npos) lines.emplace_back(line);
  }
  std::ranges::sort(lines);
  return here(join(lines, "\n"));
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
  return error != 0 && lines.empty() ? no_answer(error) : here(join(lines, "\n"));
}

// Which files of NCCL lie in /dev/shm, and does a process have them mapped?
//
// Names of segments hold no pid. Whoever uses one has it in /proc/PID/maps, which only its own user
// and root may read, and only inside the same pid namespace.

/// Paths below the folder that some process has mapped. `all_read` is false if a process of this user
/// was kept from being read.
std::set<std::string, std::less<>> mapped_files(const std::string& folder, bool& all_read) {
  constexpr size_t kMaxMaps = size_t{16} << 20;
  std::set<std::string, std::less<>> mapped;
  for (const std::string& pid : names_in("/proc", "").value_or(std::vector<std::string>())) {
    if (!parse_int(pid)) continue;
    const HostAnswer answer = read_host_file("/proc/" + pid + "/maps", kMaxMaps);
    // Of a process that has ended meanwhile the kernel says ESRCH.
    if (answer.state == HostAnswer::State::Refused && answer.why != std::strerror(ESRCH)) {
      struct stat owner = {};
      const bool is_own = stat(("/proc/" + pid).c_str(), &owner) == 0 && owner.st_uid == geteuid();
      if (is_own || geteuid() == 0) all_read = false;
    }
    for (const std::string_view line : split(answer.text, '\n')) {
      const size_t path = line.find(folder + "/nccl-");
      if (path == line.npos) continue;
      std::string_view file = line.substr(path);
      if (file.ends_with(" (deleted)")) file.remove_suffix(10);
      mapped.emplace(file);
    }
  }
  return mapped;
}

/// Other namespaces have other numbers.
constexpr std::string_view kFirstPidNamespace = "pid:[4026531836]";

bool sees_all_processes() {
  char target[64];
  const ssize_t size = readlink("/proc/self/ns/pid", target, sizeof(target));
  return size > 0 && std::string_view(target, static_cast<size_t>(size)) == kFirstPidNamespace;
}

HostAnswer answer_segments(const std::string& path) {
  const auto names = names_in(path, "nccl-");
  if (!names || names->empty()) return here({});
  bool all_read = true;
  const auto mapped = mapped_files(path, all_read);
  // Below another root lie files of another system, and no processes.
  const bool sees_all = path == "/dev/shm" && sees_all_processes() && all_read;
  std::vector<std::string> lines;
  for (const std::string& name : *names) {
    struct stat status = {};
    if (stat((path + "/" + name).c_str(), &status) != 0) continue;
    const bool may_judge = sees_all && (status.st_uid == geteuid() || geteuid() == 0);
    const bool is_held = mapped.contains(path + "/" + name);
    lines.push_back(fmt::format("{} {} {} {}", name, status.st_size,
                                is_held     ? "process"
                                : may_judge ? "nobody"
                                            : "unknown",
                                std::max<time_t>(std::time(nullptr) - status.st_mtime, 0)));
  }
  return here(join(lines, "\n"));
}

// Does a PCIe bridge redirect traffic between its devices (Access Control Services)?
//
// The bits stand in the extended configuration space, of which other users than root get 64 bytes.

HostAnswer answer_acs(const std::string& device) {
  constexpr size_t kConfigBytes = 4096;
  constexpr size_t kExtended = 0x100;
  constexpr unsigned kAcs = 0x000D;
  HostAnswer config = read_host_file(device + "/config", kConfigBytes);
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
      return here(words.empty() ? "off" : "on" + words);
    }
    at = (byte(at + 2) | byte(at + 3) << 8U) >> 4U;
  }
  return here("none");
}

// What does a library need, by its dynamic section? Reading it runs none of its code.

template <typename T>
bool read_at(const Descriptor& file, uint64_t offset, T& value) {
  return pread(file.get(), &value, sizeof(value), static_cast<off_t>(offset)) ==
         static_cast<ssize_t>(sizeof(value));
}

std::string text_at(const Descriptor& file, uint64_t offset) {
  char bytes[1024] = {};
  const ssize_t size = pread(file.get(), bytes, sizeof(bytes) - 1, static_cast<off_t>(offset));
  return size > 0 ? std::string(bytes) : std::string();
}

/// Of a 64-bit ELF file of this machine's byte order; every read is checked.
HostAnswer answer_elf(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.is_open()) return no_answer(errno);
  constexpr int kMostHeaders = 256;
  constexpr int kMostEntries = 4096;
  Elf64_Ehdr header;
  const bool is_elf = read_at(file, 0, header) &&
                      std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
                      header.e_ident[EI_CLASS] == ELFCLASS64;
  if (!is_elf) return {HostAnswer::State::Refused, {}, std::string(kNoElf)};
  std::vector<Elf64_Phdr> loads;
  Elf64_Phdr dynamic = {};
  for (int i = 0; i < std::min<int>(header.e_phnum, kMostHeaders); ++i) {
    Elf64_Phdr part;
    if (!read_at(file, header.e_phoff + static_cast<uint64_t>(i) * sizeof(part), part)) break;
    if (part.p_type == PT_LOAD) loads.push_back(part);
    if (part.p_type == PT_DYNAMIC) dynamic = part;
  }
  std::vector<Elf64_Dyn> entries;
  uint64_t texts = 0;
  for (int i = 0; i < kMostEntries; ++i) {
    const uint64_t at = static_cast<uint64_t>(i) * sizeof(Elf64_Dyn);
    Elf64_Dyn entry;
    if (at >= dynamic.p_filesz || !read_at(file, dynamic.p_offset + at, entry)) break;
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
    const char* word = entry.d_tag == DT_NEEDED    ? "needed"
                       : entry.d_tag == DT_RUNPATH ? "runpath"
                       : entry.d_tag == DT_RPATH   ? "rpath"
                                                   : nullptr;
    if (word == nullptr) continue;
    const std::string text = text_at(file, texts + entry.d_un.d_val);
    if (!text.empty() && text.find('\n') == text.npos) lines.push_back(word + (" " + text));
  }
  return here(join(lines, "\n"));
}

// What does a copy of NCCL say of itself? Names of files and of packages may be another one's: pip lets
// two packages write the same file.

/// "8f3c…", of the notes in that part of the file; empty: there is none.
std::string build_id_in(const Descriptor& file, const Elf64_Phdr& notes) {
  constexpr uint64_t kMostNotes = 4096;
  const auto padded = [](uint64_t size) { return (size + 3) & ~uint64_t{3}; };
  for (uint64_t at = 0; at + sizeof(Elf64_Nhdr) <= std::min(notes.p_filesz, kMostNotes);) {
    Elf64_Nhdr note;
    if (!read_at(file, notes.p_offset + at, note)) break;
    at += sizeof(note);
    const uint64_t text = notes.p_offset + at + padded(note.n_namesz);
    constexpr uint32_t kMostBytes = 64;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof("GNU") &&
        note.n_descsz <= kMostBytes) {
      std::string id;
      for (uint64_t i = 0; i < note.n_descsz; ++i) {
        unsigned char byte = 0;
        if (!read_at(file, text + i, byte)) return {};
        id += fmt::format("{:02x}", byte);
      }
      return id;
    }
    at += padded(note.n_namesz) + padded(note.n_descsz);
  }
  return {};
}

/// "2.28.9+cuda13.0" of "NCCL version 2.28.9+cuda13.0", which stands among the constants; empty: it does
/// not.
std::string nccl_version_in(const Descriptor& file, const Elf64_Shdr& constants) {
  constexpr std::string_view kWords = "NCCL version ";
  constexpr size_t kBlock = size_t{1} << 20;
  constexpr size_t kLongest = 128;
  constexpr uint64_t kMost = uint64_t{256} << 20;
  std::string block;
  for (uint64_t at = 0; at < std::min(constants.sh_size, kMost); at += kBlock) {
    block.resize(std::min<uint64_t>(kBlock + kLongest, constants.sh_size - at));
    const ssize_t count =
        pread(file.get(), block.data(), block.size(), static_cast<off_t>(constants.sh_offset + at));
    if (count <= 0) return {};
    block.resize(static_cast<size_t>(count));
    for (size_t found = 0; (found = block.find(kWords, found)) != block.npos;) {
      found += kWords.size();
      std::string_view version = std::string_view(block).substr(found, kLongest);
      version =
          version.substr(0, version.find_first_not_of("0123456789.+abcdefghijklmnopqrstuvwxyz-"));
      if (!version.empty() && is_digit(version.front())) return std::string(version);
    }
  }
  return {};
}

HostAnswer answer_nccl(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.is_open()) return no_answer(errno);
  Elf64_Ehdr header;
  struct stat status = {};
  const bool is_elf = read_at(file, 0, header) && fstat(file.get(), &status) == 0 &&
                      std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
                      header.e_ident[EI_CLASS] == ELFCLASS64;
  if (!is_elf) return {HostAnswer::State::Refused, {}, std::string(kNoElf)};
  constexpr int kMostHeaders = 256;
  std::string id;
  for (int i = 0; id.empty() && i < std::min<int>(header.e_phnum, kMostHeaders); ++i) {
    Elf64_Phdr part;
    if (!read_at(file, header.e_phoff + static_cast<uint64_t>(i) * sizeof(part), part)) break;
    if (part.p_type == PT_NOTE) id = build_id_in(file, part);
  }
  const auto section = [&](int number, Elf64_Shdr& read) {
    return read_at(file, header.e_shoff + static_cast<uint64_t>(number) * sizeof(read), read);
  };
  Elf64_Shdr names;
  std::string version;
  if (header.e_shnum > 0 && section(header.e_shstrndx, names)) {
    for (int i = 0; version.empty() && i < std::min<int>(header.e_shnum, kMostHeaders); ++i) {
      Elf64_Shdr one;
      if (!section(i, one)) break;
      if (text_at(file, names.sh_offset + one.sh_name) == ".rodata") {
        version = nccl_version_in(file, one);
      }
    }
  }
  std::string text;
  if (!version.empty()) text += "version " + version + "\n";
  if (!id.empty()) text += "build-id " + id + "\n";
  return here(text + fmt::format("bytes {}", status.st_size));
}

// Questions and answers.

/// How questions of a kind are answered.
struct AnswerKind {
  std::string_view name;
  HostAnswer (*below_root)(const std::string& path) = nullptr;  ///< Of a file.
  HostAnswer (*of_this_host)() = nullptr;                       ///< Of the running system.
};

constexpr AnswerKind kAnswerKinds[] = {
    {"file", answer_file},
    {"mount", answer_mount},
    {"list", answer_list},
    {"link", answer_link},
    {"mode", answer_mode},
    {"space", answer_space},
    {"access", answer_access},
    {"segments", answer_segments},
    {"acs", answer_acs},
    {"elf", answer_elf},
    {"nccl", answer_nccl},
    {"addresses", nullptr, answer_addresses},
    {"mempolicy", nullptr, answer_mempolicy},
    {"environment", nullptr, answer_environment},
    {"xids", nullptr, answer_xids},
    {"nvml", nullptr, answer_nvml},
};

const AnswerKind* find_kind(std::string_view name) {
  const auto* found = std::ranges::find(kAnswerKinds, name, &AnswerKind::name);
  return found == std::end(kAnswerKinds) ? nullptr : found;
}

/// The path on this machine; empty: there is none.
std::string real_path(const std::string& root, const std::string& path) {
  if (!path.starts_with("~/")) return root + path;
  const std::string home = environment_variable("HOME");
  return root.empty() && home.starts_with('/') ? home + path.substr(1) : std::string();
}

bool is_filled(const std::string& folder) {
  const auto names = names_in(folder, "", 1);
  return names && !names->empty();
}

/// The system's folder that would hold it, where that is not there; empty: it is.
///
///   /sys/class/infiniband    /sys/class          /proc/modules    /proc
///   /dev/infiniband/uverbs*  /dev                a library        /usr or /lib
std::string hidden_folder(const std::string& root, const std::string& path) {
  if (!path.starts_with('/')) return {};
  const auto parts = split(std::string_view(path).substr(1), '/');
  const std::string first = "/" + std::string(parts[0]);
  if (first == "/proc" || first == "/sys" || first == "/dev") {
    const std::string folder =
        first == "/dev" || parts.size() < 3 ? first : first + "/" + std::string(parts[1]);
    return !is_filled(root + first) ? first : is_filled(root + folder) ? "" : folder;
  }
  return is_filled(root + "/usr") || is_filled(root + "/lib") ? "" : "/usr";
}

/// Below another root, what is mounted there in that system is not.
bool lies_on_disk(const std::string& root, const std::string& path) {
  struct stat top = {};
  struct stat own = {};
  return !root.empty() && path.starts_with("/dev/shm") && stat((root + "/").c_str(), &top) == 0 &&
         stat((root + path).c_str(), &own) == 0 && top.st_dev == own.st_dev;
}

constexpr std::string_view kIndent = "  ";
constexpr std::string_view kReason = " ! ";

/// The question and the reason for which it has no answer, as a line of a record has them.
void read_question(std::string_view line, const std::string& where,
                   std::pair<std::string, std::string>& question, HostAnswer& answer) {
  const size_t reason = line.rfind(kReason);
  answer.state = HostAnswer::State::Here;
  if (reason != line.npos) {
    answer = without_answer(line.substr(reason + kReason.size()));
    line = line.substr(0, reason);
  }
  const size_t blank = std::min(line.find(' '), line.size());
  question = {std::string(line.substr(0, blank)), std::string(trim(line.substr(blank)))};
  if (find_kind(question.first) == nullptr) {
    throw Error(fmt::format("no question of a host: '{}'", printable(line)), where);
  }
}

}  // namespace

HostTree HostTree::live(std::string root) {
  HostTree tree;
  tree.is_live_ = true;
  while (root.ends_with('/')) root.pop_back();
  tree.root_ = std::move(root);
  return tree;
}

HostTree HostTree::recorded(std::string_view text, const std::string& path) {
  HostTree tree;
  HostAnswer* last = nullptr;
  bool is_first_line = true;
  const auto lines = split(text, '\n');
  for (size_t i = 0; i < lines.size(); ++i) {
    std::string_view line = lines[i];
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::string where = fmt::format("{}:{}", path, i + 1);
    if (i == 0) {
      if (line != kHostRecordHead) {
        throw Error("not a record of a host", path,
                    fmt::format("a record begins with '{}'", kHostRecordHead));
      }
    } else if (line.starts_with(kIndent) && last != nullptr) {
      if (!is_first_line) last->text += '\n';
      last->text += line.substr(kIndent.size());
      is_first_line = false;
    } else if (!trim(line).empty() && !line.starts_with('#')) {
      std::pair<std::string, std::string> question;
      HostAnswer answer;
      read_question(line, where, question, answer);
      last = &tree.known_.insert_or_assign(question, std::move(answer)).first->second;
      is_first_line = true;
    }
  }
  return tree;
}

const HostAnswer& HostTree::ask(std::string_view kind, const std::string& path) {
  const std::pair<std::string, std::string> question(kind, path);
  const auto found = known_.find(question);
  if (found != known_.end()) return found->second;
  HostAnswer answer;
  const AnswerKind* known = find_kind(kind);
  if (is_live_ && known != nullptr) {
    const std::string real = real_path(root_, path);
    if (known->below_root != nullptr && !real.empty()) answer = known->below_root(real);
    if (known->of_this_host != nullptr && root_.empty()) answer = known->of_this_host();
    const std::string hidden = answer.is_absent() ? hidden_folder(root_, path) : "";
    if (!hidden.empty()) {
      answer = {HostAnswer::State::Refused, {}, hidden + std::string(kNotThere)};
    } else if (lies_on_disk(root_, path)) {
      answer = {HostAnswer::State::Refused, {}, "/dev/shm is not mounted there"};
    }
  }
  return known_.emplace(question, std::move(answer)).first->second;
}

std::string HostTree::record() const {
  std::string text = std::string(kHostRecordHead) + "\n";
  for (const auto& [question, answer] : known_) {
    const auto& [kind, path] = question;
    // Libraries are looked for in a dozen folders: what is in none of them is not recorded.
    const bool is_file = kind == "elf" || kind == "nccl";
    const bool says_nothing = is_file && !answer.is_here() && answer.why != kNoElf;
    if (answer.state == HostAnswer::State::Unasked || says_nothing) continue;
    text += kind + (path.empty() ? "" : " " + printable(path));
    if (!answer.is_here()) text += std::string(kReason) + printable(answer.why);
    text += '\n';
    if (!answer.is_here() || answer.text.empty()) continue;
    for (const std::string_view line : split(answer.text, '\n')) {
      text += std::string(kIndent) + printable(line) + "\n";
    }
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> HostTree::refused() const {
  std::vector<std::pair<std::string, std::string>> list;
  for (const auto& [question, answer] : known_) {
    if (answer.state != HostAnswer::State::Refused) continue;
    const auto& [kind, path] = question;
    list.emplace_back(path.empty() ? kind : path, answer.why);
  }
  return list;
}

}  // namespace ncclog

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "import/import.h"
#include "log/address.h"
#include "log/line/scanner.h"

namespace ncclog {
namespace {

/// More than any host has, or any listing holds.
constexpr size_t kMaxDevices = 65536;
constexpr size_t kMaxHosts = 4096;

/// Bytes that are kept of a name, and of a line as evidence.
constexpr size_t kMaxName = 128;
constexpr size_t kMaxText = 512;

// Which classes, and which vendors of GPUs and of NICs that do RDMA? As pci.ids names them, and by
// their numbers, which lspci -n and -nn print.

struct PciClass {
  std::string_view name;
  std::string_view code;
  PciKind kind;
  bool is_fabric = false;  ///< All of them do RDMA.
};

constexpr PciClass kClasses[] = {
    {"VGA compatible controller", "0300", PciKind::GPU},
    {"3D controller", "0302", PciKind::GPU},
    {"Display controller", "0380", PciKind::GPU},
    {"Processing accelerators", "1200", PciKind::GPU},
    {"Infiniband controller", "0207", PciKind::NIC, true},
    {"Fabric controller", "0208", PciKind::NIC, true},
    {"Ethernet controller", "0200", PciKind::NIC},
    {"PCI bridge", "0604", PciKind::Bridge},
};

/// Others that are listed as displays draw the console.
constexpr std::string_view kGpuVendors[] = {"NVIDIA", "Advanced Micro Devices", "AMD/ATI",
                                            "10de:", "1002:"};

constexpr std::string_view kFabricNames[] = {"ConnectX", "BlueField", "Elastic Fabric", "BCM575",
                                             "BCM576",   "BCM578",    "Cassini",        "Omni-Path",
                                             "15b3:",    "1d0f:efa"};

/// "3D controller [0302]", "3D controller", "0302"; nullptr: nothing that matters here.
const PciClass* class_of(std::string_view printed) {
  const size_t bracket = printed.rfind(" [");
  const std::string_view name = printed.substr(0, bracket);
  const auto* const found = std::ranges::find_if(
      kClasses, [&](const PciClass& known) { return known.name == name || known.code == printed; });
  return found == std::end(kClasses) ? nullptr : found;
}

/// "17:00.0" and "0000:17:00.0", whose domain may have more digits; nullopt: no address.
std::optional<uint64_t> address_of(std::string_view printed) {
  constexpr size_t kShort = std::string_view("17:00.0").size();
  if (printed.size() < kShort || printed[printed.size() - 2] != '.') return std::nullopt;
  return printed.size() == kShort ? bus_number("0000:" + std::string(printed))
                                  : bus_number(printed);
}

// Lines of a device.

/// What stands behind `word` up to a comma or blank: "16GT/s" of "Speed 16GT/s (downgraded), …".
std::string_view value_behind(std::string_view line, std::string_view word) {
  const size_t at = line.find(word);
  if (at == line.npos) return {};
  const std::string_view rest = line.substr(at + word.size());
  return rest.substr(0, rest.find_first_of(", \t"));
}

/// "Port #0, Speed 16GT/s, Width x16, …", "Speed 2.5GT/s (downgraded), Width x8 (ok)".
PciLink link_in(std::string_view line) {
  PciLink link;
  std::string_view speed = value_behind(line, "Speed ");
  constexpr std::string_view kUnit = "GT/s";
  if (speed.ends_with(kUnit)) {
    speed.remove_suffix(kUnit.size());
    link.speed = parse_decimal(speed).value_or(-1);
    if (!(link.speed > 0)) link.speed = -1;
  }
  const std::string_view width = value_behind(line, "Width x");
  constexpr int64_t kMostLanes = 32;
  const int64_t lanes = parse_int(width).value_or(-1);
  if (lanes >= 1 && lanes <= kMostLanes) link.width = static_cast<int>(lanes);
  link.text = line.substr(0, kMaxText);
  return link;
}

/// The bus on the other side of "Bus: primary=16, secondary=17, subordinate=19, …"; -1: none.
int bus_below(std::string_view line) {
  constexpr uint64_t kLastBus = 0xff;
  const auto bus = parse_hex(value_behind(line, "secondary="));
  return bus && *bus > 0 && *bus <= kLastBus ? static_cast<int>(*bus) : -1;
}

// Lines between the listings of hosts.
//
//   ==== node-a ====     ------------     root@node-a:~# lspci -vvv     Host: node-a
//                        node-a
//                        ------------

std::string_view without_decoration(std::string_view line) {
  constexpr std::string_view kDecoration = "=#-*<>[]$|`~+: \t";
  const size_t begin = line.find_first_not_of(kDecoration);
  if (begin == line.npos) return {};
  return line.substr(begin, line.find_last_not_of(kDecoration) + 1 - begin);
}

bool is_host_name(std::string_view word) {
  constexpr size_t kLongest = 253;
  constexpr std::string_view kCommands[] = {"lspci", "sudo", "ssh", "console", "bash", "text"};
  const auto is_letter = [](char c) { return is_alpha(c); };
  return !word.empty() && word.size() <= kLongest && std::ranges::all_of(word, is_host_char) &&
         std::ranges::any_of(word, is_letter) && !equals_one_of(word, kCommands);
}

/// The host that a line between listings names; empty: it names none.
std::string_view host_announced(std::string_view line) {
  std::vector<std::string_view> words = split_blanks(without_decoration(line));
  constexpr std::string_view kLabels[] = {
      "Host:", "host:", "Hostname:", "hostname:", "node:", "ssh"};
  if (words.size() > 1 && equals_one_of(words.front(), kLabels)) words.erase(words.begin());
  if (words.empty()) return {};
  const bool is_command = std::ranges::find(words, "lspci") != words.end();
  if (words.size() > 1 && !is_command) return {};
  std::string_view host = words.front();
  if (const size_t at = host.find('@'); at != host.npos) host = host.substr(at + 1);
  host = host.substr(0, host.find(':'));
  return is_host_name(host) ? host : std::string_view();
}

// The listings.

class ListingReader {
 public:
  explicit ListingReader(uint64_t unit) : unit_(unit) {}

  void add(std::string_view line, uint64_t number) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    line = take_host_prefix(line);
    if (trim(line).empty()) return;
    const SourceRef where = {unit_, number};
    if (is_blank(line.front())) {
      add_property(trim(line), where);
    } else if (!start_device(line, where)) {
      if (const std::string_view host = host_announced(line); !host.empty()) use(host);
    }
  }

  std::vector<PciListing> take() {
    std::erase_if(hosts_, [](const PciListing& host) { return host.devices.empty(); });
    return std::move(hosts_);
  }

 private:
  /// Parallel programs put "node-a: " in front of each line.
  std::string_view take_host_prefix(std::string_view line) {
    const size_t colon = line.find(": ");
    if (colon == line.npos || !is_host_name(line.substr(0, colon))) return line;
    const std::string_view rest = line.substr(colon + 2);
    const bool is_of_listing =
        !rest.empty() && (is_blank(rest.front()) || address_of(rest.substr(0, rest.find(' '))));
    if (!is_of_listing) return line;
    use(line.substr(0, colon));
    return rest;
  }

  /// What follows is of that host.
  void use(std::string_view host) {
    const auto [known, is_new] = places_.try_emplace(std::string(host), hosts_.size());
    if (is_new && hosts_.size() >= kMaxHosts) {
      places_.erase(known);
      return;
    }
    if (is_new) {
      hosts_.push_back({.host = std::string(host)});
      is_open_.push_back(false);
    }
    host_ = known->second;
  }

  /// False if the line begins no device. Those of no interest here end the one before.
  bool start_device(std::string_view line, SourceRef where) {
    const size_t blank = std::min(line.find(' '), line.size());
    const auto address = address_of(line.substr(0, blank));
    const size_t colon = line.find(": ", blank);
    if (!address || colon == line.npos) return false;
    if (hosts_.empty()) use({});
    is_open_[host_] = false;
    const PciClass* known = class_of(line.substr(blank + 1, colon - blank - 1));
    std::string_view name = line.substr(colon + 2);
    name = name.substr(0, std::min(name.find(" (rev "), kMaxName));
    const bool counts = known != nullptr && devices_ < kMaxDevices &&
                        (known->kind != PciKind::GPU || holds_one_of(name, kGpuVendors));
    if (!counts) return true;
    PciDevice& device = hosts_[host_].devices.emplace_back();
    device.kind = known->kind;
    device.bus_id = *address;
    device.name = name;
    device.is_fabric =
        known->kind == PciKind::NIC && (known->is_fabric || holds_one_of(name, kFabricNames));
    device.where = where;
    device.text = line.substr(0, kMaxText);
    is_open_[host_] = true;
    ++devices_;
    return true;
  }

  void add_property(std::string_view line, SourceRef where) {
    if (hosts_.empty() || !is_open_[host_]) return;
    PciDevice& device = hosts_[host_].devices.back();
    const auto read = [&](PciLink& link) {
      if (link.where.is_known()) return;
      link = link_in(line);
      link.where = where;
    };
    if (line.starts_with("LnkCap:")) read(device.can);
    if (line.starts_with("LnkSta:")) read(device.runs);
    if (line.starts_with("Bus: ") && device.kind == PciKind::Bridge) {
      device.bus_below = bus_below(line);
    }
  }

  uint64_t unit_;
  size_t devices_ = 0;  ///< Of all hosts.
  std::vector<PciListing> hosts_;
  std::vector<bool> is_open_;             ///< By host: lines of its last device follow.
  std::map<std::string, size_t> places_;  ///< By host.
  size_t host_ = 0;                       ///< Of the lines that follow; < hosts_.size() or both 0.
};

}  // namespace

Imported<std::vector<PciListing>> import_lspci(std::string_view bytes, uint64_t unit) {
  ListingReader reader(unit);
  uint64_t number = 0;
  for (const std::string_view line : split(bytes, '\n')) reader.add(line, ++number);
  Imported<std::vector<PciListing>> import{reader.take(), {}};
  const bool has_links = std::ranges::any_of(import.value, [](const PciListing& host) {
    return std::ranges::any_of(
        host.devices, [](const PciDevice& device) { return device.runs.where.is_known(); });
  });
  if (!has_links) {
    import.value.clear();
    import.problem =
        "it shows the link of no GPU, NIC or bridge; lspci -vv shows links to root alone";
  }
  return import;
}

}  // namespace ncclog

#include <expat.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/text.h"
#include "import/import.h"
#include "log/address.h"

namespace ncclog {
namespace {

constexpr size_t kMaxDepth = 64;
constexpr size_t kMaxElements = 10'000;

using Attributes = std::map<std::string_view, std::string_view>;

Attributes attributes_of(const char** pairs) {
  Attributes attributes;
  for (; pairs[0] != nullptr && pairs[1] != nullptr; pairs += 2) attributes[pairs[0]] = pairs[1];
  return attributes;
}

std::string_view value_of(const Attributes& attributes, std::string_view name) {
  const auto found = attributes.find(name);
  return found == attributes.end() ? std::string_view() : found->second;
}

int number_of(const Attributes& attributes, std::string_view name, int unknown = -1) {
  const auto number = parse_int(value_of(attributes, name));
  return number && *number >= 0 && *number <= INT32_MAX ? static_cast<int>(*number) : unknown;
}

/// Of a PCI link of that speed, in 100 Mbit/s per lane; -1: not known.
int lane_speed(std::string_view link_speed) {
  if (link_speed.starts_with("2.5 ")) return 15;
  if (link_speed.starts_with("5")) return 30;
  if (link_speed.starts_with("8")) return 60;
  if (link_speed.starts_with("16")) return 120;
  if (link_speed.starts_with("32")) return 240;
  return link_speed.starts_with("64") ? 480 : -1;
}

/// GB/s of a PCI link, as graph/topo.cc computes it from its speed per lane.
double pci_bw(const Attributes& pci) {
  const int speed = lane_speed(value_of(pci, "link_speed"));
  const int width = number_of(pci, "link_width", 0);
  return speed < 0 ? -1 : (width == 0 ? 16 : width) * (speed / 80.0);
}

/// GB/s of one NVLink of a GPU of that compute capability (graph/topo.h); -1: not known.
double nvlink_bw(int sm) {
  if (sm >= 100) return 40.1;
  if (sm >= 90) return 20.6;
  if (sm == 86) return 12;
  if (sm >= 70) return 20;
  return sm >= 60 ? 18 : -1;
}

/// Architecture, vendor and model as the log prints them: "1/1/4"; the model is not in the file.
std::string cpu_detail(const Attributes& cpu) {
  const std::string_view arch = value_of(cpu, "arch");
  const std::string_view vendor = value_of(cpu, "vendor");
  return fmt::format("{}{}{}", arch, vendor.empty() ? "" : " ", vendor);
}

/// An open element.
struct Open {
  std::string name;
  int node = -1;       ///< What its children hang on; -1: nothing.
  std::string bus_id;  ///< Of a pci element that is not a node yet.
  double bw = -1;      ///< Of the link to the parent.
  int sm = -1;         ///< Of a gpu.
};

/// An NVLink, until all devices are known.
struct PendingLink {
  int from = -1;
  uint64_t target = 0;
  bool to_switch = false;
  double bw = -1;
};

/// Builds the topology while the file is parsed. A failure stops the parser and is in `problem`.
class TopologyBuilder {
 public:
  explicit TopologyBuilder(XML_Parser parser) : parser_(parser) {}

  void start(std::string_view name, const Attributes& attributes) {
    if (!problem_.empty()) return;
    if (++elements_ > kMaxElements) return fail("it has more than 10000 elements");
    if (open_.size() >= kMaxDepth) return fail("it nests more than 64 levels");
    if (open_.empty() && name != "system") return fail("it is no topology");
    Open element;
    element.name = name;
    element.node = open_.empty() ? -1 : settle_parent(name);
    if (name == "cpu") {
      element.node = add_cpu(attributes);
    } else if (name == "pci") {
      element.bus_id = value_of(attributes, "busid");
      element.bw = pci_bw(attributes);
    } else if (name == "gpu") {
      read_gpu(attributes, element);
    } else if (name == "nvlink") {
      read_nvlink(attributes);
    } else if (name == "net") {
      read_net(attributes, element);
    }
    open_.push_back(std::move(element));
  }

  void end() {
    if (open_.empty()) return;
    const Open& closing = open_.back();
    if (closing.name == "pci" && !closing.bus_id.empty()) settle("PCI");
    open_.pop_back();
  }

  void fail(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
    XML_StopParser(parser_, XML_FALSE);
  }

  const std::string& problem() const { return problem_; }

  SystemTopology take() {
    for (const PendingLink& link : links_) connect(link);
    return std::move(topology_);
  }

 private:
  int add_node(NodeName name, int parent, std::string link, double bw) {
    const auto [known, is_new] = place_.try_emplace(name, static_cast<int>(topology_.nodes.size()));
    if (!is_new) return known->second;
    SystemNode& node = topology_.nodes.emplace_back();
    node.name = std::move(name);
    node.parent = parent;
    if (parent >= 0) {
      node.link = std::move(link);
      node.bw = bw;
    }
    return known->second;
  }

  SystemNode& node_at(int node) { return topology_.nodes[node]; }

  /// Hosts of an NVLink domain in the order in which the file names them.
  int add_cpu(const Attributes& cpu) {
    const std::string hash(value_of(cpu, "host_hash"));
    system_ = hosts_.try_emplace(hash, hosts_.size()).first->second;
    const auto numa = parse_int(value_of(cpu, "numaid"));
    constexpr uint64_t kLocalBits = (uint64_t{1} << 56) - 1;
    const int node = add_node(
        {"CPU", system_, static_cast<uint64_t>(numa.value_or(-1)) & kLocalBits}, -1, "", -1);
    node_at(node).detail = cpu_detail(cpu);
    return node;
  }

  /// The node on which the innermost open element hangs; -1: none.
  int node_above() const {
    for (auto element = open_.rbegin() + 1; element < open_.rend(); ++element) {
      if (element->node >= 0) return element->node;
    }
    return -1;
  }

  /// Makes a node of the innermost open pci element, whose kind follows from its child.
  int settle(const char* kind) {
    Open& pci = open_.back();
    const auto bus = bus_number(pci.bus_id);
    pci.bus_id.clear();
    if (!bus) {
      topology_.cut = true;
      return -1;
    }
    pci.node = add_node({kind, system_, *bus}, node_above(), "PCI", pci.bw);
    return pci.node;
  }

  /// The node that the innermost open element stands for, now that it has a child called `child`.
  int settle_parent(std::string_view child) {
    const Open& parent = open_.back();
    if (parent.name != "pci" || parent.bus_id.empty()) return parent.node;
    return settle(child == "gpu" ? "GPU" : child == "nic" ? "NIC" : "PCI");
  }

  void read_gpu(const Attributes& gpu, Open& element) {
    element.sm = number_of(gpu, "sm");
    if (element.node < 0 || node_at(element.node).name.kind != "GPU") return;
    SystemNode& node = node_at(element.node);
    node.dev = number_of(gpu, "dev");
    node.rank = number_of(gpu, "rank");
    if (element.sm >= 0) node.detail = fmt::format("sm {}", element.sm);
  }

  void read_nvlink(const Attributes& nvlink) {
    const Open& gpu = open_.back();
    const auto target = bus_number(value_of(nvlink, "target"));
    const bool to_switch = value_of(nvlink, "tclass") == "0x068000";
    // A virtual machine may not see its switches: their address is "fffffff:ffff:ff".
    if (gpu.node < 0 || gpu.name != "gpu" || (!target && !to_switch)) return;
    const double bw = nvlink_bw(gpu.sm);
    const int count = number_of(nvlink, "count", 1);
    links_.push_back({gpu.node, target.value_or(0), to_switch, bw < 0 ? -1 : bw * count});
  }

  void read_net(const Attributes& net, Open& element) {
    const int dev = number_of(net, "dev");
    if (dev < 0) return;
    const double megabits = number_of(net, "speed", 0);
    const double speed = megabits > 0 ? megabits / 8000 : -1;
    element.node =
        add_node({"NET", system_, static_cast<uint64_t>(dev)}, nic_above(), "NET", speed);
    SystemNode& node = node_at(element.node);
    node.dev = dev;
    node.device = value_of(net, "name");
    node.speed = speed;
    node.detail = net_detail(net);
  }

  static std::string net_detail(const Attributes& net) {
    const std::string_view port = value_of(net, "port");
    const std::string_view guid = value_of(net, "guid");
    const std::string_view gdr = value_of(net, "gdr");
    std::string detail;
    if (!port.empty()) detail += fmt::format("port {}", port);
    if (!guid.empty()) detail += fmt::format("{}guid {}", detail.empty() ? "" : ", ", guid);
    if (!gdr.empty()) detail += fmt::format("{}gdr {}", detail.empty() ? "" : ", ", gdr);
    return detail;
  }

  /// A nic that hangs directly on a CPU, as virtual ones do, has no bus id: NCCL counts those.
  int nic_above() {
    Open& nic = open_.back();
    if (nic.name != "nic") return nic.node;
    if (nic.node >= 0 && node_at(nic.node).name.kind != "NIC") {
      nic.node = add_node({"NIC", system_, 0}, nic.node, "PCI", -1);
    }
    return nic.node;
  }

  void connect(const PendingLink& link) {
    const uint64_t system = node_at(link.from).name.system;
    int to = -1;
    if (link.to_switch) {
      to = add_node({"NVS", system, 0}, -1, "", -1);
    } else {
      const auto gpu = place_.find({"GPU", system, link.target});
      if (gpu == place_.end()) return;
      to = gpu->second;
    }
    auto& links = topology_.links.change();
    const auto same = std::find_if(links.begin(), links.end(), [&](const SystemLink& known) {
      return known.from == link.from && known.to == to;
    });
    if (same == links.end()) {
      links.push_back({link.from, to, "NVL", link.bw});
    } else if (same->bw >= 0 && link.bw >= 0) {
      same->bw += link.bw;
    }
  }

  XML_Parser parser_;
  std::string problem_;
  size_t elements_ = 0;
  std::vector<Open> open_;
  std::map<std::string, uint64_t> hosts_;  ///< By host_hash.
  uint64_t system_ = 0;                    ///< Of the cpu element that is open.
  std::vector<PendingLink> links_;
  std::map<NodeName, int> place_;
  SystemTopology topology_;
};

void on_start(void* builder, const char* name, const char** attributes) {
  static_cast<TopologyBuilder*>(builder)->start(name, attributes_of(attributes));
}

void on_end(void* builder, const char*) { static_cast<TopologyBuilder*>(builder)->end(); }

/// NCCL writes none; entities are declared in one, and expanding them costs any amount of memory.
void on_doctype(void* builder, const char*, const char*, const char*, int) {
  static_cast<TopologyBuilder*>(builder)->fail("it declares a document type");
}

using Parser = std::unique_ptr<std::remove_pointer_t<XML_Parser>, decltype(&XML_ParserFree)>;

}  // namespace

Imported<SystemTopology> import_topology(std::string_view bytes) {
  Imported<SystemTopology> import;
  const Parser parser(XML_ParserCreate(nullptr), &XML_ParserFree);
  if (parser == nullptr || bytes.size() > INT32_MAX) {
    import.problem = "it is too large";
    return import;
  }
  TopologyBuilder builder(parser.get());
  XML_SetUserData(parser.get(), &builder);
  XML_SetElementHandler(parser.get(), on_start, on_end);
  XML_SetStartDoctypeDeclHandler(parser.get(), on_doctype);
  const XML_Status status =
      XML_Parse(parser.get(), bytes.data(), static_cast<int>(bytes.size()), XML_TRUE);
  import.problem = builder.problem();
  if (status != XML_STATUS_OK && import.problem.empty()) {
    import.problem = fmt::format("{} in line {}", XML_ErrorString(XML_GetErrorCode(parser.get())),
                                 XML_GetCurrentLineNumber(parser.get()));
  }
  if (import.problem.empty()) import.value = builder.take();
  return import;
}

}  // namespace ncclog

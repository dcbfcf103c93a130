#include "replay/exec/nccl_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "base/error.h"

namespace ncclog {
namespace {

constexpr const char* kVariable = "NCCLOG_NCCL";
constexpr const char* kUsualName = "libnccl.so.2";

std::string wanted_library(const std::string& library) {
  if (!library.empty()) return library;
  const char* named = std::getenv(kVariable);
  return named != nullptr && *named != '\0' ? named : kUsualName;
}

std::string loader_error() {
  const char* text = dlerror();
  return text == nullptr ? "the loader does not say why" : text;
}

void* open_library(const std::string& name) {
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return handle;
  throw Error("NCCL could not be loaded: " + loader_error(), "",
              fmt::format("name its library with --nccl or {}; PyTorch's lies in "
                          "site-packages/nvidia/nccl/lib/libnccl.so.2",
                          kVariable));
}

/// Takes the functions out of the library; those that it lacks and that are needed throw.
class FunctionFinder {
 public:
  FunctionFinder(void* handle, const std::string& name) : handle_(handle), name_(name) {}

  template <typename Function>
  void operator()(const char* function, Function& found, const char* since, bool is_needed) const {
    found = reinterpret_cast<Function>(dlsym(handle_, function));
    if (found != nullptr || !is_needed) return;
    throw Error(fmt::format("{} has no {}, which came with NCCL {}", name_, function, since), "",
                "name a later release with --nccl");
  }

 private:
  void* handle_;
  const std::string& name_;
};

std::string path_of_function(void* function, const std::string& otherwise) {
  Dl_info place{};
  if (dladdr(function, &place) == 0 || place.dli_fname == nullptr) return otherwise;
  return place.dli_fname;
}

}  // namespace

std::string nccl_version_text(int version) {
  const int step = version < 10000 ? 1000 : 10000;
  return fmt::format("{}.{}.{}", version / step, version % step / 100, version % 100);
}

NcclLibrary load_nccl(const std::string& library) {
  const std::string name = wanted_library(library);
  void* handle = open_library(name);
  NcclLibrary nccl;
  NcclLibrary::each_function(nccl, FunctionFinder(handle, name));
  nccl.path = path_of_function(reinterpret_cast<void*>(nccl.get_version), name);
  int version = 0;
  if (nccl.get_version(&version) == ncclSuccess) nccl.version = nccl_version_text(version);
  return nccl;
}

}  // namespace ncclog

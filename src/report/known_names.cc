#include "report/known_names.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>

#include "base/text.h"

namespace ncclog {
namespace {

constexpr std::string_view kPlainWords[] = {
    "admin",   "all",     "app",    "base",      "batch",    "bench",  "centos",  "cluster",
    "compute", "cuda",    "data",   "debug",     "default",  "dev",    "device",  "ec2-user",
    "error",   "false",   "gpu",    "gpus",      "guest",    "head",   "home",    "host",
    "info",    "job",     "jovyan", "localhost", "log",      "login",  "main",    "master",
    "model",   "mpirun",  "nan",    "nccl",      "net",      "nobody", "node",    "nodes",
    "none",    "null",    "nvidia", "ops",       "pod",      "pods",   "process", "public",
    "python",  "pytorch", "rank",   "ray",       "ring",     "root",   "run",     "runner",
    "self",    "server",  "slurm",  "socket",    "stderr",   "stdout", "step",    "store",
    "system",  "task",    "test",   "torch",     "torchrun", "train",  "trainer", "training",
    "tree",    "true",    "ubuntu", "unknown",   "user",     "users",  "version", "warn",
    "warning", "work",    "worker", "workers",   "world"};

/// Words of which names of folders and files consist that say nothing.
constexpr std::string_view kKnownParts[] = {
    "accelerate", "all",         "allgather",   "alltoall",  "amd64",        "anaconda",
    "anaconda3",  "app",         "apps",        "apt",       "archive",      "attempt",
    "aws",        "bandwidth",   "bash",        "bashrc",    "bench",        "benchmark",
    "bin",        "boot",        "broadcast",   "build",     "bw",           "cache",
    "cc",         "checkpoint",  "checkpoints", "ckpt",      "class",        "cluster",
    "cmake",      "code",        "coll",        "common",    "conda",        "conf",
    "config",     "configs",     "console",     "container", "core",         "cpp",
    "cpython",    "csv",         "cu",          "cuda",      "cudnn",        "data",
    "dataset",    "datasets",    "debug",       "default",   "deepspeed",    "demo",
    "dev",        "device",      "devices",     "dir",       "dist",         "distributed",
    "dmesg",      "dnn",         "doc",         "docker",    "dump",         "efa",
    "engine",     "env",         "envs",        "err",       "error",        "etc",
    "eth",        "eval",        "events",      "example",   "examples",     "exec",
    "exp",        "experiments", "files",       "finetune",  "fm",           "fr",
    "fs",         "fsdp",        "fsx",         "gather",    "gids",         "git",
    "global",     "gpfs",        "gpu",         "gpus",      "graph",        "gz",
    "h",          "header",      "help",        "home",      "host",         "hosts",
    "hpc",        "hpcx",        "hugepages",   "ib",        "ibstat",       "image",
    "images",     "include",     "info",        "init",      "inputs",       "io",
    "job",        "jobs",        "json",        "jsonl",     "kernel",       "latest",
    "launch",     "launcher",    "lib",         "lib64",     "libs",         "linux",
    "local",      "log",         "logger",      "logging",   "logs",         "lustre",
    "machine",    "main",        "master",      "md",        "megatron",     "merged",
    "ok",         "stuck",       "hang",        "messages",  "metrics",      "miniconda",
    "miniconda3", "miniforge3",  "mlx5",        "mnt",       "model",        "models",
    "module",     "modules",     "mpi",         "mpirun",    "multi",        "nas",
    "nccl",       "net",         "nfs",         "nn",        "node",         "nodes",
    "nohup",      "nsys",        "numa",        "nvidia",    "nvlink",       "ofi",
    "ompi",       "openmpi",     "ops",         "opt",       "out",          "output",
    "outputs",    "p2p",         "packages",    "part",      "parallel",     "perf",
    "pid",        "plugin",      "plugins",     "pod",       "pretrain",     "proc",
    "process",    "profile",     "projects",    "project",   "pt",           "pth",
    "py",         "pyenv",       "python",      "python3",   "pytorch",      "rank",
    "ras",        "ray",         "rdma",        "recv",      "reduce",       "release",
    "report",     "restart",     "results",     "ring",      "root",         "run",
    "runs",       "s",           "scatter",     "scratch",   "script",       "scripts",
    "send",       "sendrecv",    "serve",       "server",    "service",      "session",
    "sh",         "share",       "shared",      "shm",       "show",         "site",
    "slurm",      "smi",         "so",          "software",  "source",       "spool",
    "src",        "srv",         "stderr",      "stdin",     "stdout",       "step",
    "storage",    "store",       "sys",         "system",    "tar",          "tb",
    "tcp",        "tensorboard", "test",        "tests",     "text",         "thread",
    "tmp",        "tools",       "topo",        "topology",  "torch",        "torchrun",
    "trace",      "train",       "trainer",     "training",  "transformers", "txt",
    "user",       "users",       "usr",         "util",      "utils",        "v",
    "val",        "var",         "venv",        "verbose",   "version",      "vllm",
    "wandb",      "watchdog",    "work",        "workdir",   "worker",       "workers",
    "workspace",  "x86",         "xml",         "xz",        "yaml",         "yml",
    "zip",        "zst",         "zstd"};

constexpr std::string_view kSystemRoots[] = {
    "/usr/lib", "/usr/bin", "/usr/include",   "/usr/share", "/usr/sbin", "/usr/libexec",
    "/usr/src", "/lib",     "/lib64",         "/bin",       "/sbin",     "/etc",
    "/dev",     "/sys",     "/proc",          "/run",       "/boot",     "/var/run",
    "/var/lib", "/var/log", "/usr/local/cuda"};

constexpr std::string_view kPackages[] = {"accelerate",  "amazon",
                                          "apex",        "aws-ofi-nccl",
                                          "c10d",        "cupy",
                                          "deepspeed",   "fairscale",
                                          "fairseq",     "flash_attn",
                                          "gib",         "horovod",
                                          "hpcx",        "jax",
                                          "jaxlib",      "lightning",
                                          "mellanox",    "megatron",
                                          "mpi4py",      "nccl",
                                          "nemo",        "numpy",
                                          "nvidia",      "openmpi",
                                          "peft",        "pytorch_lightning",
                                          "ray",         "sglang",
                                          "tensorflow",  "torch",
                                          "torchvision", "transformers",
                                          "triton",      "trl",
                                          "vllm",        "xformers"};

constexpr std::string_view kPublicDomains[] = {
    "docker.com", "docker.io",    "github.com",     "github.io",         "gitlab.com",
    "google.com", "kernel.org",   "nvidia.com",     "nvcr.io",           "pypi.org",
    "python.org", "pytorch.org",  "readthedocs.io", "slurm.schedmd.com", "stackoverflow.com",
    "ubuntu.com", "wikipedia.org"};

constexpr std::string_view kDomainEndings[] = {
    "com", "org",  "edu",   "gov",         "mil",     "local",    "internal",
    "lan", "corp", "intra", "localdomain", "example", "intranet", "de",
    "fr",  "uk",   "cn",    "jp",          "kr",      "eu",       "ch"};

constexpr std::string_view kDoubtfulEndings[] = {"net",  "io",   "ai",    "dev",     "in",
                                                 "us",   "home", "cloud", "cluster", "svc",
                                                 "test", "co",   "tech",  "info"};

bool is_one_of(std::span<const std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// "nccl", "7", "v2", "fr3", "0x": known, whatever number stands behind it.
bool is_known_part(std::string_view part) {
  while (!part.empty() && is_digit(part.back())) part.remove_suffix(1);
  return part.size() <= 1 || is_one_of(kKnownParts, part);
}

bool is_library(std::string_view component) {
  const size_t so = component.find(".so");
  return component.starts_with("lib") && so != component.npos &&
         (so + 3 == component.size() || component[so + 3] == '.');
}

bool holds_homes(std::string_view folder) {
  return folder == "home" || folder == "users" || folder == "Users" || folder == "user";
}

/// "train.py": a short ending that is a known one.
bool is_file(std::string_view component) {
  const size_t dot = component.rfind('.');
  return dot != component.npos && dot > 0 && component.size() - dot <= 6 &&
         is_known_component(component.substr(dot + 1));
}

}  // namespace

bool is_plain_word(std::string_view word) {
  return word.size() < 2 || is_one_of(kPlainWords, lower_case(word));
}

bool is_known_component(std::string_view component) {
  if (is_library(component) || is_public_package(component)) return true;
  const std::string text = lower_case(component);
  if (is_one_of(kKnownParts, text)) return true;
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t end = rest.find_first_of("-_. +@%#~");
    if (!is_known_part(rest.substr(0, end))) return false;
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
  }
  return true;
}

bool has_own_word(std::string_view name, const OrdinaryWords& ordinary, size_t shortest) {
  const auto is_own = [&](std::string_view word) {
    std::string_view stem = word;
    while (!stem.empty() && is_digit(stem.back())) stem.remove_suffix(1);
    if (stem.size() < shortest)
      return !stem.empty() && std::any_of(word.begin(), word.end(), is_digit);
    const std::string lower = lower_case(stem);
    return !is_plain_word(lower) && !is_known_component(lower) && !ordinary.contains(lower);
  };
  for (size_t begin = 0; begin < name.size();) {
    size_t end = begin;
    while (end < name.size() && is_alnum(name[end])) ++end;
    if (is_own(name.substr(begin, end - begin))) return true;
    begin = end + 1;
  }
  return false;
}

bool is_system_path(std::string_view path) {
  return std::any_of(std::begin(kSystemRoots), std::end(kSystemRoots), [&](std::string_view root) {
    if (!path.starts_with(root)) return false;
    const std::string_view rest = path.substr(root.size());
    return rest.empty() || !is_word(rest.front()) || root.ends_with("cuda");
  });
}

bool is_public_package(std::string_view component) { return is_one_of(kPackages, component); }

bool is_public_domain(std::string_view domain) {
  const std::string name = lower_case(domain);
  return std::any_of(std::begin(kPublicDomains), std::end(kPublicDomains),
                     [&](std::string_view known) {
                       return name == known || name.ends_with("." + std::string(known));
                     });
}

bool is_domain_ending(std::string_view label) {
  return is_one_of(kDomainEndings, lower_case(label));
}

bool is_doubtful_ending(std::string_view label) {
  return is_one_of(kDoubtfulEndings, lower_case(label));
}

std::vector<FoundIdentity> private_parts(std::string_view path) {
  std::vector<FoundIdentity> parts;
  if (is_system_path(path)) return parts;
  std::string_view before;
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (is_public_package(part)) break;
    if (holds_homes(before)) {
      if (!is_plain_word(part)) parts.push_back({IdentityKind::User, begin, part.size()});
    } else if (!part.empty() && !is_known_component(part)) {
      const bool last = end == path.size();
      const IdentityKind kind = last && is_file(part) ? IdentityKind::File : IdentityKind::Folder;
      parts.push_back({kind, begin, part.size()});
    }
    if (!part.empty()) before = part;
    begin = end + 1;
  }
  return parts;
}

bool is_telling_name(std::string_view component) {
  constexpr size_t kShortest = 6;
  const bool has_joint = component.find_first_of("-_") != component.npos;
  const bool has_digit = std::any_of(component.begin(), component.end(), is_digit);
  const bool has_letter = std::any_of(component.begin(), component.end(), is_alpha);
  return component.size() >= kShortest && has_letter && (has_joint || has_digit);
}

}  // namespace ncclog

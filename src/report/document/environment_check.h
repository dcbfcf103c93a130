// What `ncclog env check` found, and how it is told.
//
//   train.sh (script): 9 settings, 1 error, 4 warnings
//
//   error    train.sh:8  NCCL_SOCKET_IFNAME==eth0
//            admits none of the interfaces of node-a: lo, ens5; did you mean ens5?
//
// Places are of the file that sets something, so that an editor finds them.

#pragma once

#include <string>
#include <vector>

#include "diagnose/settings/lint.h"
#include "report/document/document.h"

namespace ncclog {

/// A remark, and where the setting stands: "train.sh:8"; empty: nowhere in particular.
struct PlacedRemark {
  Remark remark;
  std::string place;
};

/// One thing that was checked.
struct CheckedSource {
  std::string path;    ///< As given; "this shell".
  std::string format;  ///< "script", "env_file", "nccl_conf", "yaml", "log", "environment".
  /// What it sets that concerns NCCL, in its order; a name twice where it is set twice.
  std::vector<Setting> settings;
  std::vector<PlacedRemark> remarks;
  std::string note;         ///< One sentence about the reading; empty if there is nothing to say.
  bool is_partial = false;  ///< Part of a log was unreadable or cut.
};

struct EnvironmentCheck {
  std::vector<CheckedSource> sources;
  std::string nccl_version;  ///< Against which settings were held; empty: none.
};

/// How many remarks of that level all sources have.
size_t count_remarks(const EnvironmentCheck& check, RemarkLevel level);

/// For people: worst first, then what is set without remark.
Document environment_document(const EnvironmentCheck& check);

/// For scripts: {"schema": "ncclog.env_check/1", "sources": […], …}.
std::string write_check_json(const EnvironmentCheck& check);

}  // namespace ncclog

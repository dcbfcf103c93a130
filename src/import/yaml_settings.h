// Which variables does a YAML file set for the programs that it starts?
//
//   env:                             Kubernetes, in every container
//     - name: NCCL_DEBUG
//       value: INFO
//   environment: [NCCL_DEBUG=INFO]   docker-compose, as a list or as a map
//   envs: {NCCL_DEBUG: INFO}         SkyPilot, torchx
//   run: |                           and scripts in texts
//     export NCCL_DEBUG=INFO
//
// The forms are told by their shape, not by the names of keys, so unknown tools work as well.
// Aliases are not followed: what they stand for has been read where it is written.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "log/settings.h"

namespace ncclog {

struct YamlSettings {
  /// In the order of the file. What stands in different lists or maps has different scopes.
  std::vector<Setting> settings;
  std::string problem;  ///< Why the file could not be read to its end; empty: it was.
};

/// The settings of all documents in `yaml`; what was found before a mistake is kept.
YamlSettings read_yaml_settings(std::string_view yaml);

}  // namespace ncclog

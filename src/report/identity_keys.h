// What does the name in front of a value say about the value?
//
//   SLURM_JOB_NAME=…  --rdzv-id …  "password": "…"  WANDB_API_KEY=…  node_guid: …

#pragma once

#include <optional>
#include <string_view>

#include "report/identity_scan.h"

namespace ncclog {

/// A name that announces an identity.
struct IdentityKey {
  IdentityKind kind = IdentityKind::Name;
  bool needs_equals = false;   ///< "user: …" may be anything, "user=…" is one.
  bool is_list = false;        ///< Hosts, as Slurm lists them: "gpu-n[41-48],login1".
  bool may_be_number = false;  ///< A secret of digits alone: "token_id=128000" is none.
  bool has_scheme = false;     ///< "Basic", "Token" or "Bearer" may stand before the secret.
  bool by_blank = false;       ///< The value may follow behind blanks alone: "remoteLid 34".
};

/// nullopt: it says nothing. Case and '-' or '_' do not matter.
std::optional<IdentityKey> identity_key(std::string_view name);

/// A token that says by its own beginning what it is: "hf_…", "AKIA…", "ghp_…", "eyJ…".
bool is_token_prefix(std::string_view text);

}  // namespace ncclog

// A Slurm of the test's own: two virtual nodes on this machine, loopback only.

#pragma once

#include <string>
#include <vector>

#include "support/process.h"
#include "support/temp_dir.h"

namespace ncclog::testing {

/// Runs the nodes n1 and n2, of one processor each, until it is destroyed.
class Slurm {
 public:
  Slurm();
  ~Slurm();
  Slurm(const Slurm&) = delete;
  Slurm& operator=(const Slurm&) = delete;

  /// Why it does not run here; empty: it runs.
  const std::string& why_not() const { return why_not_; }
  /// Which all nodes see.
  const TempDir& folder() const { return folder_; }

  /// Runs a program in the folder as a user of this Slurm.
  Outcome run(std::vector<std::string> arguments) const;

 private:
  std::string in(const std::string& name) const { return (folder_.path() / name).string(); }
  void write_configuration();
  bool start(std::vector<std::string> arguments) const;
  bool takes_jobs() const;

  TempDir folder_;
  std::string conf_;
  std::string why_not_;
};

}  // namespace ncclog::testing

// Tables: what the program made of many lines of a job, in rows that rules gather, compare and name.
//
//   kernel_event     kind=xid  code=79  host=node-a  bus_id=0000:1b:00  concerns=job
//   setting_remark   kind=invalid  variable=NCCL_ALGO  value=Rign  message="is no algorithm, …"
//
//   {each: kernel_event, where: {kind: xid, code: 79}, words: "Xid {code}[ on {host}]"}
//
// A fact decides something; a table only says what is there, and a rule file what follows.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/facts/fact.h"
#include "log/wording/message_kind.h"

namespace ncclog {

struct TableRow {
  std::vector<std::string> fields;  ///< One for each field of the table; empty: not known.
  Evidence line;                    ///< Shows it.
  int process = -1;                 ///< Whom it is about, into Job::processes; -1: nobody.
};

struct JobTable {
  std::string_view name;
  std::span<const Field> fields;
  std::vector<TableRow> (*rows)(const Job& job);
};

/// All tables; valid for the whole program.
std::span<const JobTable> job_tables();

JobTable kernel_event_table();    ///< diagnose/hardware/host_facts.cc
JobTable rank_conflict_table();   ///< diagnose/facts/job_facts.cc
JobTable setting_remark_table();  ///< diagnose/settings/job_settings.cc

}  // namespace ncclog

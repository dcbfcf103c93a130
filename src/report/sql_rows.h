// The rows of those tables of a database that `ncclog show` does not have.

#pragma once

#include "model/job.h"
#include "report/table.h"
#include "report/table_stream.h"

namespace ncclog {

struct Report;

/// One row a connection and end that announces it; report/connections_table.cc.
Table connections_table(const Job& job);

/// Each hands on all rows of the table of its name, in the order of the columns in
/// report/sql_tables.cc.
void each_job_row(const Report& report, const RowTaker& take);
void each_finding_row(const Report& report, const RowTaker& take);
void each_evidence_row(const Report& report, const RowTaker& take);
void each_advice_row(const Report& report, const RowTaker& take);
void each_not_judged_row(const Report& report, const RowTaker& take);
void each_input_row(const Report& report, const RowTaker& take);
void each_loss_row(const Report& report, const RowTaker& take);
void each_communicator_row(const Report& report, const RowTaker& take);
void each_member_row(const Report& report, const RowTaker& take);
void each_environment_row(const Report& report, const RowTaker& take);
void each_collective_row(const Report& report, const RowTaker& take);
void each_iteration_row(const Report& report, const RowTaker& take);

}  // namespace ncclog

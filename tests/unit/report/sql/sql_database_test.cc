#include "report/sql/sql_database.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/paths.h"
#include "support/refusal.h"
#include "support/sample_report.h"
#include "support/temp_dir.h"

namespace ncclog {
namespace {

using testing::sample_report;

void fill_all(SqlDatabase& database, const Report& report) {
  for (const TableKind& table : all_tables())
    database.insert(table, [&](const RowTaker& take) { table.each_row(report, take); });
  database.commit();
}

/// The answer as CSV, headings first.
std::string answer(const Report& report, const std::string& sql) {
  SqlDatabase database("");
  SqlQuestion question(database, sql);
  fill_all(database, report);
  std::string out = written(write_table_csv, {.columns = question.columns()});
  question.each_row([&](std::span<const Cell> cells) {
    out += csv_row(cells);
    return true;
  });
  return out;
}

TEST(SqlDatabase, AnswersFromTheReport) {
  struct Row {
    const char* sql;
    const char* answer;
  };
  const Row kRows[] = {
      {"select severity, count(*) as n from findings group by 1 order by 1",
       "severity,n\nerror,1\ninfo,2\nwarning,1\n"},
      {"select finding, line from evidence order by line",
       "finding,line\np2p-disabled-info,1\nshm-no-space,2\npeer-closed-secondary,3\n"},
      {"select value from job where name = 'verdict'", "value\nproblem\n"},
      {"select text from advice where finding = 'shm-no-space' and what = 'check'",
       "text\n`df -h /dev/shm`\n"},
      {"select avg(lines) from findings", "avg(lines)\n1.5\n"},
      {"select file, lines, status from inputs", "file,lines,status\nlogs/run.txt,3,whole\n"},
      {"select count(*) from documentation where table_name = 'findings'", "count(*)\n16\n"},
      {"SELECT host FROM Findings WHERE pid = 502;", "host\ntrainbox\n"},
      {"select meaning from documentation where table_name = 'job' and column_name is null",
       "meaning\n\"what the logs are about, and the verdict\"\n"},
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(answer(sample_report(), row.sql), row.answer) << row.sql;
  }
}

TEST(SqlDatabase, ColumnsOfAnAnswerDifferAndValuesKeepTheirTypes) {
  SqlDatabase database("");
  SqlQuestion question(database, "select 1 as a, 2.5 as a, null as b, 'x' as c, x'00ff' as d");
  EXPECT_EQ(question.columns(), (std::vector<std::string>{"a", "a_2", "b", "c", "d"}));
  std::vector<Cell> row;
  question.each_row([&](std::span<const Cell> cells) {
    row.assign(cells.begin(), cells.end());
    return true;
  });
  EXPECT_EQ(row, (std::vector<Cell>{int64_t{1}, 2.5, Cell(), std::string("x"),
                                    std::string("\0\xff", 2)}));
}

TEST(SqlDatabase, KnowsWhichTablesAStatementReads) {
  const auto tables_of = [](const std::string& sql) {
    SqlDatabase database("");
    const SqlQuestion question(database, sql);
    std::string names;
    for (const TableKind* table : question.tables()) {
      names += std::string(table->name) + " ";
    }
    return names;
  };
  EXPECT_EQ(tables_of("select 1"), "");
  EXPECT_EQ(tables_of("select name from sqlite_master"), "");
  EXPECT_EQ(tables_of("select count(*) from events"), "events ");
  EXPECT_EQ(tables_of("select e.text from Evidence e join findings using (finding)"),
            "evidence findings ");
  EXPECT_EQ(tables_of("select 1 as \"ranks\""), "ranks ");  // Filled in vain, which does no harm.
  EXPECT_EQ(tables_of("with r as (select host from ranks) select host from r"), "ranks ");
}

std::string sql_refusal(const std::string& sql) {
  return testing::refusal_of([&] { answer(Report(), sql); });
}

TEST(SqlDatabase, RefusesAllButOneStatementThatReads) {
  const std::string kReads = "--sql: only statements that read are answered (begin with 'select')";
  struct Row {
    const char* sql;
    std::string refusal;
  };
  const Row kRows[] = {
      {"select * from finding", "--sql: no such table: finding (did you mean 'findings'?)"},
      {"select sevrity from findings",
       "--sql, character 8: no such column: sevrity (did you mean 'severity'?)"},
      {"select r.hst from ranks r",
       "--sql, character 8: no such column: r.hst (did you mean 'host'?)"},
      {"selct 1",
       "--sql, character 1: near \"selct\": syntax error ('ncclog export --tables' lists tables "
       "and columns)"},
      {"", "--sql: no statement ('ncclog export --tables' lists tables and columns)"},
      {"-- nothing", "--sql: no statement ('ncclog export --tables' lists tables and columns)"},
      {"select 1; select 2", "--sql: more than one statement (ask one at a time)"},
      {"delete from findings", kReads},
      {"create table x(a)", kReads},
      {"attach 'x.db' as x", kReads},
      {"pragma journal_mode", kReads},
      {"insert into ranks(host) values('x')", kReads},
      {"vacuum into 'x.db'", kReads},
      {"vacuum", kReads},
      {"begin", kReads},
  };
  for (const Row& row : kRows) EXPECT_EQ(sql_refusal(row.sql), row.refusal) << row.sql;
}

TEST(SqlDatabase, UnknownNamesThatAreNearNothingListWhatThereIs) {
  EXPECT_EQ(sql_refusal("select * from xyzzyxyzzy")
                .find("--sql: no such table: xyzzyxyzzy (tables: job, findings, "),
            0U)
      << sql_refusal("select * from xyzzyxyzzy");
  EXPECT_NE(
      sql_refusal("select xyzzyxyzzy from env").find("(columns: name, value, ranks, processes)"),
      std::string::npos)
      << sql_refusal("select xyzzyxyzzy from env");
}

TEST(SqlDatabase, HostileTextIsStoredAsItIs) {
  for (const std::string& text :
       {std::string("'); drop table findings; --"), std::string("a\0b", 3),
        std::string("\x1b[31m]]>`|<script>"), std::string(100'000, 'x')}) {
    Report report = sample_report();
    report.diagnosis.findings[0].message = text;
    SqlDatabase database("");
    SqlQuestion question(database, "select message from findings where number = 1");
    fill_all(database, report);
    question.each_row([&](std::span<const Cell> cells) {
      EXPECT_EQ(std::get<std::string>(cells[0]), text);
      return true;
    });
  }
}

TEST(SqlDatabase, SameReportSameBytes) {
  const testing::TempDir folder;
  std::string files[2];
  for (int i = 0; i < 2; ++i) {
    const std::string path = (folder.path() / ("job" + std::to_string(i) + ".db")).string();
    {
      SqlDatabase database(path);
      fill_all(database, sample_report());
    }
    files[i] = testing::read_file(path);
  }
  EXPECT_FALSE(files[0].empty());
  EXPECT_EQ(files[0], files[1]);
}

TEST(SqlDatabase, AFolderThatIsNotThereIsNamed) {
  try {
    SqlDatabase database("/nowhere/at/all/job.db");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "/nowhere/at/all/job.db");
  }
}

}  // namespace
}  // namespace ncclog

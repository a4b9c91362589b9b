// What predict says beside its numbers: values that rows do not state, and mistakes in the words of
// the table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/app/command/testing/command_runner.hpp"
#include "model/app/request/prediction.hpp"
#include "model/testing/temporary_folder.hpp"
#include "reports/record/csv.hpp"

namespace foretell {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

CommandResult predicted(const TemporaryFolder& folder, const std::string& table,
                        const std::string& form = "csv") {
  return run_command({"predict", folder.write("t.csv", table), "--format", form}, predict);
}

TEST(NotesOfTables, WhatRowsDoNotStateIsSaidOncePerTableAndInTheirMessage) {
  const TemporaryFolder folder;
  const CommandResult result = predicted(folder,
                                         "system,workload,batch,seq\n"
                                         "inf2.xlarge,bert-base-uncased,,\n"
                                         "inf2.xlarge,bert-base-uncased,1,128\n"
                                         "inf2.xlarge,bert-base-uncased,,128\n");
  EXPECT_EQ(result.code, kSuccess) << result.messages;
  EXPECT_THAT(
      result.messages,
      AllOf(HasSubstr("foretell: 1 of 3 rows: sequence length not stated: 128 tokens taken"),
            HasSubstr("foretell: 2 of 3 rows: batch not stated: 1 taken"),
            HasSubstr("foretell: 3 of 3 rows: data type not stated: "),
            HasSubstr("; compute_dtype names another")));
  CsvReader rows(folder.write("out.csv", result.result));
  std::vector<std::string> messages;
  for (CsvRow row; rows.next(row);) messages.push_back(row.at(*rows.column("message")));
  ASSERT_EQ(messages.size(), 3U);
  EXPECT_THAT(messages[0], AllOf(HasSubstr("sequence length not stated: 128"),
                                 HasSubstr("batch not stated: 1 taken")));
  EXPECT_THAT(messages[1], Not(HasSubstr("batch not stated")));
  EXPECT_THAT(messages[2], Not(HasSubstr("sequence length not stated")));
}

// Of the rows that count, as `predict` says it.
TEST(NotesOfTables, ValidateSaysWhatItTookAsWell) {
  const TemporaryFolder folder;
  const std::string table = folder.write("t.csv",
                                         "system,workload,batch,seq,throughput\n"
                                         "inf2.xlarge,bert-base-uncased,,,100\n"
                                         "inf2.xlarge,bert-base-uncased,1,128,\n"
                                         "inf2.xlarge,bert-base-uncased,1,128,100\n");
  const auto said = AllOf(HasSubstr("1 of 2 rows: sequence length not stated: 128 tokens taken"),
                          HasSubstr("1 of 2 rows: batch not stated: 1 taken"),
                          HasSubstr("2 of 2 rows: data type not stated: "));
  const CommandResult text = run_command({"validate", table}, predict);
  EXPECT_THAT(text.result, said) << text.messages;
  EXPECT_THAT(run_command({"validate", table, "--format", "csv"}, predict).messages, said);
}

TEST(NotesOfTables, ARowThatStatesAllHasNone) {
  const TemporaryFolder folder;
  const CommandResult result = predicted(folder,
                                         "system,workload,batch,seq_len,compute_dtype\n"
                                         "inf2.xlarge,bert-base-uncased,1,128,bf16\n");
  EXPECT_EQ(result.messages, "");
  EXPECT_THAT(result.result, HasSubstr(",ok,\n"));
}

// The names are those of the header, whichever of the known ones it has.
TEST(NotesOfTables, MistakesNameTheColumns) {
  const TemporaryFolder folder;
  const auto message = [&](const std::string& columns, const std::string& cells) {
    return predicted(folder, "system,workload," + columns + "\n" + cells + "\n").result;
  };
  const std::string too_long = "h100-sxm,Llama-3.1-8B,100000,100000,bf16";
  EXPECT_THAT(message("input_len,output_len,compute_dtype", too_long),
              AllOf(HasSubstr("input_len + output_len = 200000 positions"), Not(HasSubstr("--"))));
  EXPECT_THAT(message("Input-Len,Output-Len,dtype", too_long),
              AllOf(HasSubstr("input-len + output-len = 200000"), HasSubstr("raise context")));
  const std::string too_large = "h100-sxm,Llama-3.1-70B,128,128,bf16";
  EXPECT_THAT(message("input_len,output_len,Precision", too_large),
              AllOf(HasSubstr("the smallest system that holds it: system = "),
                    ContainsRegex("system = [a-z0-9.-]+, [td]p = [0-9]+;"), Not(HasSubstr("--tp")),
                    Not(HasSubstr("--on"))));
  EXPECT_THAT(
      message("input_len,output_len,compute_dtype,tp", "h100-sxm-x8,Llama-3.1-8B,8,8,bf16,3"),
      AllOf(HasSubstr("heads"), HasSubstr("tp can be"), Not(HasSubstr("--tp"))));
  EXPECT_THAT(message("seq_len,input_len,output_len", "h100-sxm,Llama-3.1-8B,8,8,"),
              Not(HasSubstr("--output-len")));
}

TEST(NotesOfTables, AStudyNamesItsKeys) {
  const TemporaryFolder folder;
  const std::string study = folder.write(
      "s.yaml",
      "study: s\nbase: {on: h100-sxm, workload: Llama-3.1-8B, dtype: bf16, output_len: 100000}\n"
      "vary: {input_len: [8, 100000]}\n");
  const CommandResult result = run_command({"sweep", study, "--format", "csv"}, predict);
  EXPECT_THAT(result.result, AllOf(HasSubstr("input_len + output_len = 200000 positions"),
                                   Not(HasSubstr("--context"))));
}

TEST(NotesOfTables, TheCommandLineKeepsItsOptions) {
  const CommandResult result =
      run_command({"run", "--on", "h100-sxm", "--workload", "Llama-3.1-70B", "--input-len", "128",
                   "--output-len", "128", "--dtype", "bf16"},
                  predict);
  EXPECT_THAT(result.messages, HasSubstr("--on "));
}

}  // namespace
}  // namespace foretell

#include "model/app/tables/uncounted/excess_times.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/base/errors.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

const CsvRow kBlockHeader = {"gpu",       "framework", "kind",          "phase",
                             "model",     "kv_dtype",  "product_dtype", "batch",
                             "query_len", "kv_len",    "heads",         "latency_us"};
constexpr const char* kExcessRule =
    "rules:\n  - {table: attention_block, where: framework=a, sizes: [batch, query_len, kv_len],\n"
    "     types: [kv_dtype, product_dtype], times: 2, why: a busy host}\n";

const TableLayout& blocks_layout() { return recognise_table(kBlockHeader, "t.csv"); }

// A row has its batch, queries, keys, type and time; those of the table begin on line 2.
std::string table_of(const std::vector<std::string>& rows) {
  std::string text = to_csv(kBlockHeader);
  for (const std::string& row : rows) text += row + "\n";
  return text;
}

std::string excess_row(const std::string& sizes, const std::string& us,
                       const std::string& type = "bf16", const std::string& heads = "8",
                       const std::string& framework = "a") {
  return "g," + framework + ",msa,context,m,bf16," + type + "," + sizes + "," + heads + "," + us;
}

std::vector<std::size_t> lines_left_out(const std::vector<std::string>& rows) {
  const TemporaryFolder folder;
  const UncountedLines times = parse_excess_times(
      kExcessRule, "r.yaml", folder.write("t.csv", table_of(rows)), blocks_layout(), kBlockHeader);
  std::vector<std::size_t> lines;
  for (std::size_t line = 2; line < rows.size() + 2; ++line) {
    if (times.reason(line)) lines.push_back(line);
  }
  return lines;
}

TEST(ExcessTimes, ARowThatTookLongerThanOneOfMoreWorkDoesNotCount) {
  EXPECT_EQ(lines_left_out({excess_row("1,64,64", "50"), excess_row("2,64,128", "20"),
                            excess_row("1,64,64", "19")}),
            (std::vector<std::size_t>{2}));
  // Nor one of another type that is equal otherwise.
  EXPECT_EQ(lines_left_out({excess_row("1,64,64", "50", "fp8_block"), excess_row("1,64,64", "20")}),
            (std::vector<std::size_t>{2}));
}

TEST(ExcessTimes, WorkMayGrowWithEachSize) {
  // Four times the sequences and half the keys: four times as long, and twice that is allowed.
  EXPECT_TRUE(lines_left_out({excess_row("1,64,128", "10"), excess_row("4,64,64", "79")}).empty());
  EXPECT_EQ(lines_left_out({excess_row("1,64,128", "10"), excess_row("4,64,64", "81")}),
            (std::vector<std::size_t>{3}));
}

TEST(ExcessTimes, RowsOfOtherHeadsAndLibrariesAreNotCompared) {
  EXPECT_TRUE(
      lines_left_out({excess_row("1,64,64", "90"), excess_row("1,64,64", "9", "bf16", "16")})
          .empty());
  EXPECT_TRUE(lines_left_out({excess_row("1,64,64", "90", "bf16", "8", "b"),
                              excess_row("1,64,64", "9", "bf16", "8", "b")})
                  .empty());
}

TEST(ExcessTimes, TheReasonNamesTheRule) {
  const TemporaryFolder folder;
  const std::string table =
      folder.write("t.csv", table_of({excess_row("1,64,64", "90"), excess_row("1,64,64", "9")}));
  const UncountedLines times =
      parse_excess_times(kExcessRule, "r.yaml", table, blocks_layout(), kBlockHeader);
  EXPECT_THAT(times.reason(2).value_or(""), HasSubstr("a busy host"));
  EXPECT_FALSE(times.reason(3));
}

TEST(ExcessTimes, WrongRulesAreNamed) {
  const TemporaryFolder folder;
  const auto parse = [&folder](const std::string& rule) {
    return parse_excess_times("rules:\n  - " + rule + "\n", "r.yaml",
                              folder.write("t.csv", table_of({})), blocks_layout(), kBlockHeader);
  };
  EXPECT_THAT(
      [&] {
        parse("{table: attention_blocks, where: a=b, sizes: [], types: [], times: 2, why: w}");
      },
      ThrowsMessage<UserError>(HasSubstr("nearest is 'attention_block'")));
  EXPECT_THAT(
      [&] {
        parse("{table: attention_block, where: a=b, sizes: [], types: [], times: 0, why: w}");
      },
      ThrowsMessage<UserError>(HasSubstr("r.yaml:2")));
}

}  // namespace
}  // namespace foretell

#include "model/app/tables/excess_times.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

const CsvRow kHeader = {"gpu",           "framework", "kind",      "phase",  "model", "kv_dtype",
                        "product_dtype", "batch",     "query_len", "kv_len", "heads", "latency_us"};
constexpr const char* kRule =
    "rules:\n  - {table: attention_block, where: framework=a, sizes: [batch, query_len, kv_len],\n"
    "     types: [kv_dtype, product_dtype], times: 2, why: a busy host}\n";

const TableLayout& block_layout() { return recognise_table(kHeader, "t.csv"); }

// A row has its batch, queries, keys, type and time; those of the table begin on line 2.
std::string table_of(const std::vector<std::string>& rows) {
  const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
  const std::string path = testing::TempDir() + "excess_times_" + test.name() + ".csv";
  std::ofstream file(path);
  file << to_csv(kHeader);
  for (const std::string& row : rows) file << row << "\n";
  return path;
}

std::string row(const std::string& sizes, const std::string& us, const std::string& type = "bf16",
                const std::string& heads = "8", const std::string& framework = "a") {
  return "g," + framework + ",msa,context,m,bf16," + type + "," + sizes + "," + heads + "," + us;
}

std::vector<std::size_t> left_out(const std::vector<std::string>& rows) {
  const ExcessTimes times =
      ExcessTimes::parse(kRule, "r.yaml", table_of(rows), block_layout(), kHeader);
  std::vector<std::size_t> lines;
  for (std::size_t line = 2; line < rows.size() + 2; ++line) {
    if (times.reason(line)) lines.push_back(line);
  }
  return lines;
}

TEST(ExcessTimes, ARowThatTookLongerThanOneOfMoreWorkDoesNotCount) {
  EXPECT_EQ(left_out({row("1,64,64", "50"), row("2,64,128", "20"), row("1,64,64", "19")}),
            (std::vector<std::size_t>{2}));
  // Nor one of another type that is equal otherwise.
  EXPECT_EQ(left_out({row("1,64,64", "50", "fp8_block"), row("1,64,64", "20")}),
            (std::vector<std::size_t>{2}));
}

TEST(ExcessTimes, WorkMayGrowWithEachSize) {
  // Four times the sequences and half the keys: four times as long, and twice that is allowed.
  EXPECT_TRUE(left_out({row("1,64,128", "10"), row("4,64,64", "79")}).empty());
  EXPECT_EQ(left_out({row("1,64,128", "10"), row("4,64,64", "81")}), (std::vector<std::size_t>{3}));
}

TEST(ExcessTimes, RowsOfOtherHeadsAndLibrariesAreNotCompared) {
  EXPECT_TRUE(left_out({row("1,64,64", "90"), row("1,64,64", "9", "bf16", "16")}).empty());
  EXPECT_TRUE(
      left_out({row("1,64,64", "90", "bf16", "8", "b"), row("1,64,64", "9", "bf16", "8", "b")})
          .empty());
}

TEST(ExcessTimes, TheReasonNamesTheRule) {
  const std::string table = table_of({row("1,64,64", "90"), row("1,64,64", "9")});
  const ExcessTimes times = ExcessTimes::parse(kRule, "r.yaml", table, block_layout(), kHeader);
  EXPECT_THAT(times.reason(2).value_or(""), HasSubstr("a busy host"));
  EXPECT_FALSE(times.reason(3));
}

TEST(ExcessTimes, WrongRulesAreNamed) {
  const auto parse = [](const std::string& rule) {
    return ExcessTimes::parse("rules:\n  - " + rule + "\n", "r.yaml", table_of({}), block_layout(),
                              kHeader);
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

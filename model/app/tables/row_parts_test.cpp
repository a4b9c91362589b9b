#include "model/app/tables/row_parts.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "calib/fit/row_division.hpp"
#include "model/app/tables/held_out_rows.hpp"
#include "model/base/errors.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

struct MadeUpTable {
  CsvRow header;
  CsvRow row;
};

const std::vector<MadeUpTable>& one_row_of_every_kind() {
  static const std::vector<MadeUpTable> kTables = {
      {{"system", "workload"}, {"inf2.xlarge", "one"}},
      {{"gpu", "model", "framework", "concurrency", "isl", "osl"},
       {"h100_sxm", "one", "vllm", "4", "128", "128"}},
      {{"gpu", "dtype", "tokens", "hidden", "intermediate", "top_k", "experts"},
       {"h100_sxm", "bf16", "1", "2048", "768", "8", "128"}},
      {{"gpu", "op", "dtype", "tokens", "heads"}, {"h100_sxm", "mla_gen_pre", "bf16", "1", "16"}},
      {{"gpu", "kind", "phase", "model", "product_dtype", "batch", "heads", "query_len"},
       {"h100_sxm", "mla", "context", "DeepSeek-R1", "bf16", "1", "16", "64"}},
      {{"gpu", "table", "shape", "latency_us", "power_limit_w"},
       {"h200_sxm", "gemm/gemm", "m=64;n=128;k=256;gemm_dtype=bfloat16", "5000", "700"}},
      {{"what", "device", "n_devices", "model", "batch_or_concurrency", "watts_per_device"},
       {"serving", "h100_sxm", "1", "one", "4", "500"}},
      {{"gpu", "phase", "heads", "kv_heads", "head_dim", "dtype", "batch", "isl", "kv_len"},
       {"h100_sxm", "context", "8", "8", "128", "bf16", "1", "16", "16"}},
      {{"gpu", "op", "bytes", "dtype", "n_gpus"}, {"h100_sxm", "all_reduce", "1024", "fp16", "4"}},
      {{"gpu", "op", "dtype", "rows", "cols"}, {"v100_pcie_32gb", "add", "fp32", "4", "932"}},
      {{"gpu", "dtype", "m", "n", "k"}, {"h100_sxm", "bf16", "16", "256", "512"}}};
  return kTables;
}

TEST(RowParts, EveryKindOfTableIsDividedAndEveryRowIsInOnePart) {
  std::set<TableKind> kinds;
  for (const MadeUpTable& table : one_row_of_every_kind()) {
    const TableLayout& layout = recognise_table(table.header, "made up");
    kinds.insert(layout.kind);
    int parts = 0;
    for (const Part part : {Part::kFit, Part::kJudge, Part::kVault}) {
      parts += part_test(layout, table.header, part)(table.row) ? 1 : 0;
    }
    EXPECT_EQ(parts, 1) << layout.name;
  }
  for (const TableLayout& layout : table_layouts()) {
    EXPECT_EQ(kinds.count(layout.kind), 1U) << layout.name << " has no row here";
  }
}

TEST(RowParts, TablesByChipAreDividedByTheNetworkAsItsSourceNamesIt) {
  const CsvRow header = {"chip", "model", "instance_or_system", "phase_or_scenario"};
  const TableLayout& layout = recognise_table(header, "made up");
  EXPECT_EQ(layout.kind, TableKind::kModels);
  const CsvRow row = {"Trainium2", "Llama-3.3-70B-Instruct", "trn2.48xlarge", "serving"};
  EXPECT_EQ(row_group(layout, header)(row), "llama-3.3-70b-instruct");
  EXPECT_EQ(row_part(layout, header)(row), network_part("Llama-3.3-70B-Instruct"));
}

TEST(RowParts, OfWhatWasHeldOutAFifthIsTheVaultAndTheRestJudges) {
  int held_out = 0;
  int vault = 0;
  for (std::int64_t n = 32; n <= 4096; n += 32) {
    for (std::int64_t k = 32; k <= 4096; k += 32) {
      const Part part = gemm_part(n, k);
      EXPECT_EQ(part == Part::kFit, !is_held_out_family(n, k));
      held_out += part == Part::kFit ? 0 : 1;
      vault += part == Part::kVault ? 1 : 0;
    }
  }
  EXPECT_NEAR(vault, 0.2 * held_out, 0.03 * held_out);
}

TEST(RowParts, NetworksStayOnTheSideThatAFitNames) {
  const Split split = Split::parse(
      "family: encoder\nfit: {one: [one-cased]}\nheld_out: {two: [two-a, two-b]}\n", "made up");
  EXPECT_EQ(network_part(split, "one-cased"), Part::kFit);
  EXPECT_EQ(network_part(split, "two-a"), Part::kJudge);
  EXPECT_EQ(network_part(split, "two-b"), Part::kJudge);
  EXPECT_EQ(network_part(split, "Owner/Third"), network_part(split, "third"));
}

TEST(RowParts, PointsOfOneServedConfigurationAreInOnePart) {
  const CsvRow header = {"gpu", "model", "framework", "concurrency", "isl", "osl", "mode"};
  const TableLayout& layout = recognise_table(header, "made up");
  const RowPart part = row_part(layout, header);
  std::set<Part> parts;
  for (int i = 0; i < 40; ++i) {
    const std::string name = "network-" + std::to_string(i);
    EXPECT_EQ(part({"h100_sxm", name, "vllm", "1", "128", "1024", "agg"}),
              part({"h100_sxm", name, "vllm", "64", "4096", "256", "agg"}));
    parts.insert(part({"h100_sxm", name, "vllm", "1", "128", "1024", "agg"}));
  }
  EXPECT_EQ(parts.size(), 3U);
}

TEST(RowParts, OnlyTablesOfTheProjectHaveAVault) {
  const TemporaryFolder folder;
  const std::string table = folder.write("t.csv", "gpu,dtype,m,n,k\n");
  const char* before = std::getenv("FORETELL_DATA");
  const std::string kept = before == nullptr ? "" : before;
  setenv("FORETELL_DATA", folder.path().c_str(), 1);
  EXPECT_TRUE(is_project_table(table));
  const TemporaryFolder elsewhere;
  EXPECT_TRUE(is_project_table(elsewhere.write("t.csv", "gpu,dtype,m,n,k\n")));
  EXPECT_FALSE(is_project_table(elsewhere.write("t.csv", "gpu,dtype,n,m,k\n")));
  setenv("FORETELL_DATA", folder.file("other").c_str(), 1);
  EXPECT_FALSE(is_project_table(table));
  setenv("FORETELL_DATA", "", 1);
  EXPECT_FALSE(is_project_table(table));
  EXPECT_TRUE(is_project_table(std::string(FORETELL_SOURCE_DIR) + "/calib/validate/one.csv"));
  unsetenv("FORETELL_DATA");
  if (before != nullptr) setenv("FORETELL_DATA", kept.c_str(), 1);
}

TEST(RowParts, AGroupThatCannotBeReadIsTheMistakeOfTheRow) {
  const CsvRow header = {"gpu", "dtype", "m", "n", "k"};
  const RowPart part = row_part(recognise_table(header, "made up"), header);
  EXPECT_THROW(part({"h100_sxm", "bf16", "1", "many", "64"}), UserError);
}

}  // namespace
}  // namespace foretell

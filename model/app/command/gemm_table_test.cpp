// Tables of matrix products on GPUs, through the commands.
#include <gmock/gmock.h>

#include <filesystem>
#include <regex>

#include "calib/fitted/shared/factors_folder.hpp"
#include "model/app/command/testing/command_runner.hpp"
#include "model/config/document.hpp"
#include "model/testing/temporary_folder.hpp"
#include "reports/record/csv.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;

constexpr const char* kHeader = "gpu,framework,version,dtype,m,n,k\n";

std::vector<CsvRow> predicted(const std::string& rows, std::vector<std::string> options = {}) {
  const TemporaryFolder folder;
  std::vector<std::string> line = {"predict", folder.write("t.csv", kHeader + rows), "-o",
                                   folder.file("o.csv")};
  line.insert(line.end(), options.begin(), options.end());
  run_command(line);
  CsvReader out(folder.file("o.csv"));
  std::vector<CsvRow> table;
  CsvRow row;
  while (out.next(row)) table.push_back(row);
  return table;
}

double time_of(const std::string& row, std::vector<std::string> options = {}) {
  return std::stod(predicted(row + "\n", std::move(options)).at(0).at(7));
}

TEST(GemmTable, EveryRowKeepsItsPlaceAndBadOnesSayWhatWouldBeRight) {
  const std::vector<CsvRow> rows = predicted(
      "h100_sxm,trtllm,1.3.0rc20,bf16,128,4096,4096\n"
      "t4,trtllm,,bf16,128,4096,4096\n"
      "h100_sx,trtllm,,bf16,128,4096,4096\n"
      "h100_sxm,trtllm,,bf61,128,4096,4096\n"
      "h100_sxm,trtllm,,bf16,0,4096,4096\n"
      "H100-SXM,,,bf16,128,4096,4096\n"
      "h100_sxm,trtlm,,bf16,128,4096,4096\n"
      "l4,,,bf16,128,4096,4096\n"
      "h100_sxm,,,nvfp4,128,4096,4096\n"
      "a100_sxm,,,fp8,128,4096,4096\n");
  ASSERT_EQ(rows.size(), 10U);
  EXPECT_EQ(rows[0][10], "ok");
  EXPECT_LT(std::stod(rows[0][8]), std::stod(rows[0][7]));
  EXPECT_GT(std::stod(rows[0][9]), std::stod(rows[0][7]));
  EXPECT_THAT(rows[1][11], HasSubstr("nearest that works is 'fp16'"));
  EXPECT_THAT(rows[2][11], HasSubstr("nearest is 'h100-sxm'"));
  EXPECT_THAT(rows[3][11], HasSubstr("nearest is 'bf16'"));
  EXPECT_THAT(rows[4][11], HasSubstr("m: '0'"));
  EXPECT_EQ(rows[5][10], "ok");
  EXPECT_EQ(rows[5][11], "");
  EXPECT_THAT(rows[6][11], HasSubstr("nearest is 'trtllm'; there are: cublaslt, pytorch, sglang"));
  EXPECT_EQ(rows[7][10], "ok");
  EXPECT_EQ(rows[7][11], "factors of trtllm bf16 on a100-sxm");
  EXPECT_THAT(rows[8][11], HasSubstr("nearest that works is 'fp8'"));
  EXPECT_THAT(rows[9][11], HasSubstr("nearest that works is 'int8'"));
}

TEST(GemmTable, ATileThatFitsNoSmIsNoCandidateAndWithoutOneTheRowSaysSo) {
  const std::string row = "h100_sxm,trtllm,1.3.0rc20,bf16,4096,4096,4096";
  EXPECT_GT(time_of(row, {"--set", "device.sm.shared_memory_per_cta=32KiB"}), 1.2 * time_of(row));
  const CsvRow none =
      predicted(row + "\n", {"--set", "device.sm.shared_memory_per_cta=1KiB"}).at(0);
  EXPECT_EQ(none[10], "error");
  EXPECT_THAT(none[11], HasSubstr("device.sm.shared_memory_per_cta=20KiB"));
}

TEST(GemmTable, TheNumberOfWorkersChangesNothing) {
  std::string rows;
  for (int m = 1; m < 300; ++m)
    rows += "b200_sxm,sglang,0.5.14,fp8," + std::to_string(m) + ",4096,512\n";
  EXPECT_EQ(predicted(rows, {"--jobs", "1"}), predicted(rows, {"--jobs", "3"}));
}

TEST(GemmTable, WarmL2IsFasterAndOverridesReachTheDevice) {
  const std::string row = "h200_sxm,trtllm,1.3.0rc20,bf16,16,2048,4096";
  EXPECT_LT(time_of(row, {"--l2", "warm"}), time_of(row, {"--l2", "rotate:100"}));
  EXPECT_GT(time_of(row, {"--set", "device.hbm.bandwidth=1 TB/s", "--l2", "rotate:100"}),
            time_of(row, {"--l2", "rotate:100"}));
  const TemporaryFolder folder;
  const CommandResult bad =
      run_command({"predict", folder.write("t.csv", kHeader + row + "\n"), "--l2", "hot"});
  EXPECT_EQ(bad.code, kUserMistake);
  EXPECT_THAT(bad.messages, HasSubstr("write warm, or rotate:N"));
}

// A folder of other factors counts, and facts alone are not enough.
TEST(GemmTable, FactorsOfAFolderCount) {
  const std::string row = "h100_sxm,trtllm,,bf16,4096,4096,4096";
  const std::filesystem::path own = factors_folder() / "gpu/gemm/h100-sxm.yaml";
  const TemporaryFolder folder;
  const std::string slower =
      std::regex_replace(read_text_file(own.string()), std::regex("mma_efficiency: \\{value: 0\\."),
                         "mma_efficiency: {value: 0.0");
  std::filesystem::create_directories(folder.file("gpu/gemm"));
  folder.write("gpu/gemm/h100-sxm.yaml", slower);
  EXPECT_GT(time_of(row, {"--factors", folder.file("")}), 3 * time_of(row));
  EXPECT_THAT(
      run_command({"predict", folder.write("t.csv", kHeader + row + "\n"), "--factors", "none"})
          .messages,
      HasSubstr("--factors none: rows of kernels"));
}

TEST(GemmTable, StreamsAndSustainedClocksTakeLonger) {
  const std::string small = "h200_sxm,trtllm,1.3.0rc20,bf16,1,128,128";
  const std::string large = "h200_sxm,trtllm,1.3.0rc20,bf16,4096,8192,8192";
  EXPECT_GT(time_of(small, {"--launch", "stream"}), 1.5 * time_of(small));
  EXPECT_NEAR(time_of(small, {"--clock", "sustained"}), time_of(small), 0.3);
  EXPECT_GT(time_of(large, {"--clock", "sustained"}), 1.05 * time_of(large));
  EXPECT_LT(time_of(large, {"--clock", "sustained"}), 1.2 * time_of(large));
}

TEST(GemmTable, AGpuThatWasNeverMeasuredIsPredictedWithAWiderInterval) {
  const std::vector<CsvRow> rows = predicted(
      "h100_sxm,trtllm,1.3.0rc20,bf16,128,4096,4096\nl40s,trtllm,1.3.0rc20,bf16,128,4096,4096\n");
  const auto width = [&](const CsvRow& row) {
    return (std::stod(row[9]) - std::stod(row[8])) / std::stod(row[7]);
  };
  EXPECT_EQ(rows[1][10], "ok");
  EXPECT_GT(width(rows[1]), width(rows[0]));
}

TEST(CollectiveTable, NamesThatAreNotKnownAreRefused) {
  const TemporaryFolder folder;
  const std::string table = folder.write("c.csv",
                                         "gpu,op,n_gpus,bytes,dtype,backend,mode\n"
                                         "h100_sxm,all_reduce,8,1048576,bf16,NCCL,\n"
                                         "h100_sxm,all_reduce,8,1048576,bf16,nccl,\n"
                                         "h100_sxm,all_reduce,8,1048576,bf16,rccl,\n"
                                         "h100_sxm,all_reduce,8,1048576,bf16,vllm_custom,foo\n");
  const CommandResult result = run_command({"predict", table});
  EXPECT_THAT(result.result, HasSubstr("unknown library of collectives 'rccl'; nearest is 'nccl'"));
  EXPECT_THAT(result.result, HasSubstr("unknown mode 'foo'"));
  const auto after = [&](const char* row) {
    const std::size_t at = result.result.find(row) + std::string(row).size();
    return result.result.substr(at, result.result.find('\n', at) - at);
  };
  EXPECT_EQ(after("bf16,NCCL,"), after("bf16,nccl,"));
}

TEST(AttentionTable, ATokenAsksForItself) {
  const TemporaryFolder folder;
  const std::string table =
      folder.write("a.csv",
                   "gpu,dtype,phase,heads,kv_heads,head_dim,kv_len,isl,batch\n"
                   "h100_sxm,bf16,generation,32,8,128,4096,5,8\n");
  EXPECT_THAT(run_command({"predict", table}).result,
              HasSubstr("isl: a sequence asks for one token in generation"));
}

}  // namespace
}  // namespace foretell

// Tables of single operators on GPUs, through the commands.
#include <gmock/gmock.h>

#include "model/app/command/testing/predicted_rows.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;

constexpr const char* kHeader = "gpu,op,dtype,b,m,n,k,rows,cols,conv\n";

TEST(OperatorTable, EveryRowKeepsItsPlaceAndBadOnesSayWhatWouldBeRight) {
  const std::vector<CsvRow> rows = predicted(std::string(kHeader) +
                                             "v100_pcie_32gb,linear,fp32,,512,1024,1024,,,\n"
                                             "v100_pcie_32gb,bmm,fp32,16,128,64,128,,,\n"
                                             "t4,softmax,fp32,,,,,4096,512,\n"
                                             "t4,conv,fp32,8,,,,,,ci3 co64 k7 s224 st2 p3\n"
                                             "t4,softmx,fp32,,,,,4096,512,\n"
                                             "t4,add,fp32,,,,,4096,,\n"
                                             "t4,linear,fp32,,512,1024,,,,\n"
                                             "t4,conv,fp32,8,,,,,,ci3 co64 kernel7\n"
                                             "t5,add,fp32,,,,,4096,512,\n"
                                             "t4,linear,bf16,,512,1024,1024,,,\n"
                                             "t4,add,fp33,,,,,4096,512,\n"
                                             "t4,,fp32,,,,,4096,512,\n");
  ASSERT_EQ(rows.size(), 12U);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(status(rows[static_cast<std::size_t>(i)]), "ok") << i;
  }
  EXPECT_THAT(message(rows[4]), HasSubstr("softmax"));
  EXPECT_THAT(message(rows[5]), HasSubstr("state rows and cols"));
  EXPECT_THAT(message(rows[6]), HasSubstr("k"));
  EXPECT_THAT(message(rows[7]), HasSubstr("ci3 co64 k7 s224 st2 p3"));
  EXPECT_THAT(message(rows[8]), HasSubstr("t4"));
  EXPECT_THAT(message(rows[9]), HasSubstr("no pipe for bf16"));
  EXPECT_THAT(message(rows[10]), HasSubstr("fp32"));
  EXPECT_THAT(message(rows[11]), HasSubstr("op: is empty"));
}

TEST(OperatorTable, ASystemWithoutGpusSaysWhatItCanPredict) {
  for (const char* system : {"inf2.xlarge", "c7i.2xlarge"}) {
    const auto rows = predicted(kHeader + std::string(system) + ",add,bf16,,,,,64,64,\n");
    EXPECT_THAT(message(rows.at(0)), HasSubstr("is no GPU; single kernels")) << system;
  }
}

TEST(OperatorTable, TheNumberOfWorkersChangesNothing) {
  std::string table = kHeader;
  for (int side = 1; side < 3000; side += 41) {
    const std::string length = std::to_string(side);
    table += "a100_pcie_40gb,linear,fp32,," + length + ",512,1000,,,\n";
    table += "t4,ln,fp32,,,,," + length + ",1000,\n";
  }
  EXPECT_EQ(predicted(table, {"--jobs", "1"}), predicted(table, {"--jobs", "3"}));
}

TEST(OperatorTable, AGraphIsNotHeldUpByTheHost) {
  const std::string row = "v100_pcie_32gb,add,fp32,,,,,16,16,\n";
  const double stream = time_of(predicted(kHeader + row)[0]);
  const double graph = time_of(predicted(kHeader + row, {"--launch", "graph"})[0]);
  EXPECT_LT(graph, 0.3 * stream);
  const std::string slow_host = "device.stream_floor=100 us";
  EXPECT_GT(time_of(predicted(kHeader + row, {"--set", slow_host})[0]), 2 * stream);
}

TEST(OperatorTable, OptionsThatItCannotFollowAreRefused) {
  const TemporaryFolder folder;
  const std::string table =
      folder.write("t.csv", kHeader + std::string("t4,add,fp32,,,,,64,64,\n"));
  for (const auto& [option, value] :
       {std::pair{"--l2", "rotate:5"}, {"--launch", "magic"}, {"--clock", "sustained"}}) {
    EXPECT_EQ(run_command({"predict", table, option, value}).code, kUserMistake) << option;
  }
}

TEST(OperatorTable, AGpuThatWasNeverMeasuredIsPredictedFromItsNeighbours) {
  std::string table = kHeader;
  for (const char* gpu : {"l4", "a100_pcie_80gb", "h100_pcie", "h100_sxm", "v100_sxm_16gb"}) {
    table += std::string(gpu) + ",linear,fp32,,4096,4096,1024,,,\n";
    table += std::string(gpu) + ",softmax,fp32,,,,,16384,1024,\n";
  }
  const std::vector<CsvRow> rows = predicted(table);
  for (const CsvRow& row : rows) EXPECT_EQ(status(row), "ok") << message(row);
  EXPECT_GT(time_of(rows[0]), time_of(rows[4]));  // L4 and H100
}

TEST(OperatorTable, LayersNameTheirShapesByTheModel) {
  const std::vector<CsvRow> rows = predicted(
      "gpu,source,model,op,dtype,m,n,k,n_embd,n_ffn,tp\n"
      "a100,vidur,Llama-2-7b,add,fp16,1024,,,4096,11008,1\n"
      "a100,vidur,Llama-2-7b,mlp_act,fp16,1024,,,4096,11008,1\n"
      "a100,vidur,Llama-2-7b,mlp_act,fp16,1024,,,4096,11008,4\n"
      "a100,vidur,Llama-2-7b,mlp_up_proj,fp16,1024,22016,4096,4096,11008,1\n");
  for (const CsvRow& row : rows) EXPECT_EQ(status(row), "ok") << message(row);
  EXPECT_GT(time_of(rows[1]), 2 * time_of(rows[2]));
}

TEST(OperatorTable, RotaryEmbeddingGoesByTheHeadsOfKeys) {
  const std::vector<CsvRow> rows = predicted(
      "gpu,source,model,op,dtype,m,n_embd,tp,heads,kv_heads\n"
      "a100,vidur,of my own,attn_rope,fp16,4096,8192,1,,\n"
      "a100,vidur,of my own,attn_rope,fp16,4096,8192,1,64,64\n"
      "a100,vidur,of my own,attn_rope,fp16,4096,8192,1,64,8\n"
      "a100,vidur,meta-llama/Llama-2-70b-hf,attn_rope,fp16,4096,8192,1,,\n"
      "a100,vidur,of my own,attn_rope,fp16,4096,8192,1,64,none\n");
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(status(rows[i]), "ok") << message(rows[i]);
  EXPECT_EQ(time_of(rows[0]), time_of(rows[1])) << "as many keys as queries unless it is stated";
  EXPECT_EQ(time_of(rows[2]), time_of(rows[3])) << "a published network states it";
  EXPECT_NEAR(time_of(rows[2]) / time_of(rows[1]), 9.0 / 16, 0.05);
  EXPECT_THAT(message(rows[4]), HasSubstr("kv_heads"));
}

TEST(OperatorTable, ActivationsAreGatedUnlessTheLayerIsFourTimesAsWide) {
  const std::vector<CsvRow> rows = predicted(
      "gpu,source,model,op,dtype,m,n_embd,n_ffn,tp\n"
      "a100,vidur,of my own,mlp_act,fp16,4096,2560,10240,1\n"
      "a100,vidur,of my own,mlp_act,fp16,4096,2561,10240,1\n"
      "a100,vidur,gpt-j-6b,mlp_act,fp16,4096,4096,16384,1\n"
      "a100,vidur,Llama-3-8B,mlp_act,fp16,4096,4096,16384,1\n");
  for (const CsvRow& row : rows) EXPECT_EQ(status(row), "ok") << message(row);
  EXPECT_NEAR(time_of(rows[0]) / time_of(rows[1]), 0.4, 0.05) << "two of five moves";
  EXPECT_LT(time_of(rows[2]), 0.5 * time_of(rows[3])) << "networks that are known say it";
}

TEST(OperatorTable, ScalesOfRowsAreStatedWithoutTheKernelThatScales) {
  const std::vector<CsvRow> rows = predicted(
      "gpu,framework,op,dtype,m,k\n"
      "h100_sxm,vllm,scale_matrix,fp8,32768,1\n"
      "h100_sxm,vllm,scale_matrix,fp8,32768,256\n"
      "h100_sxm,vllm,compute_scale,fp8,16384,256\n"
      "h100_sxm,vllm,compute_scale,fp8,32768,256\n"
      "h100_sxm,vllm,compute_scale,fp8,1,1\n");
  for (const CsvRow& row : rows) EXPECT_EQ(status(row), "ok") << message(row);
  EXPECT_NEAR(time_of(rows[0]) / time_of(rows[1]), 1, 0.15) << "a thread block for each row";
  EXPECT_NEAR(time_of(rows[3]) / time_of(rows[2]), 2, 0.4);
  EXPECT_GE(time_of(rows[4]), 0.1) << "no less than a measurement shows";
}

TEST(OperatorTable, TheSystemColumnServesAsGpu) {
  const std::vector<CsvRow> rows =
      predicted("system,op,dtype,rows,cols\nv100-pcie-32gb,gelu,fp32,128,4096\n");
  EXPECT_EQ(status(rows.at(0)), "ok");
}

}  // namespace
}  // namespace foretell

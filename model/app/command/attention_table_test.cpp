// Tables of attention and of collectives on GPUs, through the commands.
#include <gmock/gmock.h>

#include "model/app/command/testing/predicted_rows.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;

constexpr const char* kAttention =
    "gpu,framework,phase,dtype,kv_dtype,batch,isl,kv_len,heads,kv_heads,head_dim,window\n";
constexpr const char* kCollective = "gpu,backend,op,n_ranks,bytes,dtype\n";

TEST(AttentionTable, EveryRowKeepsItsPlaceAndBadOnesSayWhatWouldBeRight) {
  const std::vector<CsvRow> rows = predicted(std::string(kAttention) +
                                             "h100_sxm,trtllm,context,bf16,,1,4096,,32,8,128,\n"
                                             "h100_sxm,,generation,bf16,fp8,8,,4096,32,8,128,0\n"
                                             "t4,trtllm,context,bf16,,1,4096,,32,8,128,\n"
                                             "h100_sxm,trtllm,prefill,bf16,,1,4096,,32,8,128,\n"
                                             "h100_sxm,trtllm,context,bf16,,1,4096,,32,5,128,\n"
                                             "h100_sxm,trtllm,context,int3,,1,4096,,32,8,128,\n"
                                             "h100_sxm,trtllm,context,bf16,,1,,,32,8,128,\n"
                                             "h100_sxm,vlm,context,bf16,,1,4096,,32,8,128,\n"
                                             "l4,vllm,context,bf16,,1,4096,,32,8,128,\n");
  ASSERT_EQ(rows.size(), 9U);
  EXPECT_EQ(status(rows[0]), "ok");
  EXPECT_EQ(status(rows[1]), "ok");
  EXPECT_THAT(message(rows[2]), HasSubstr("nearest that works is 'fp16'"));
  EXPECT_THAT(message(rows[3]), HasSubstr("write context, generation or encoder"));
  EXPECT_THAT(message(rows[4]), HasSubstr("multiple"));
  EXPECT_THAT(message(rows[5]), HasSubstr("write bf16, fp16 or fp8"));
  EXPECT_THAT(message(rows[6]), HasSubstr("isl"));
  EXPECT_THAT(message(rows[7]), HasSubstr("nearest is 'vllm'; there are: sglang, trtllm, vllm"));
  EXPECT_EQ(message(rows[0]), "");
  EXPECT_EQ(status(rows[8]), "ok");
  EXPECT_EQ(message(rows[8]), "factors of vllm context bf16 bf16 on a100-sxm");
}

// The simulator and the closed form that the factors were fitted with.
TEST(AttentionTable, TheNumberOfWorkersChangesNothing) {
  std::string table = kAttention;
  for (int tokens = 1; tokens < 3000; tokens += 37) {
    const std::string length = std::to_string(tokens);
    table += "h200_sxm,vllm,context,bf16,bf16,2," + length + ",,24,8,128,128\n";
    table += "a100_sxm,sglang,generation,bf16,bf16,64,," + length + ",32,8,128,0\n";
  }
  EXPECT_EQ(predicted(table, {"--jobs", "1"}), predicted(table, {"--jobs", "3"}));
}

TEST(AttentionTable, AFasterMemoryHelpsTokensAndALargerBatchCosts) {
  const std::string few = "h200_sxm,trtllm,generation,bf16,bf16,64,,16384,32,8,128,0\n";
  const std::string many = "h200_sxm,trtllm,generation,bf16,bf16,128,,16384,32,8,128,0\n";
  const std::vector<CsvRow> rows = predicted(kAttention + few + many);
  EXPECT_GT(time_of(rows[1]), 1.6 * time_of(rows[0]));
  const std::vector<CsvRow> slow =
      predicted(kAttention + few, {"--set", "device.hbm.bandwidth=1 TB/s"});
  EXPECT_GT(time_of(slow[0]), 2 * time_of(rows[0]));
}

TEST(AttentionTable, OptionsThatItCannotFollowAreRefused) {
  const TemporaryFolder folder;
  const std::string table = folder.write(
      "t.csv", kAttention + std::string("h100_sxm,trtllm,context,bf16,,1,4096,,32,8,128,\n"));
  for (const auto& [option, value] :
       {std::pair{"--l2", "rotate:5"}, {"--launch", "stream"}, {"--clock", "sustained"}}) {
    const CommandResult result = run_command({"predict", table, option, value});
    EXPECT_EQ(result.code, kUserMistake);
    EXPECT_THAT(result.messages, HasSubstr("leave it out"));
  }
}

TEST(AttentionTable, AGpuThatWasNeverMeasuredIsPredictedFromItsNeighbours) {
  const std::string row = ",trtllm,context,bf16,bf16,4,4096,,32,8,128,0\n";
  const std::vector<CsvRow> rows = predicted(kAttention + ("h100-sxm" + row) + ("l40s" + row));
  EXPECT_EQ(status(rows[1]), "ok");
  EXPECT_GT(time_of(rows[1]), time_of(rows[0]));
}

TEST(CollectiveTable, RowsAreAnsweredAndBadOnesSayWhatWouldBeRight) {
  const std::vector<CsvRow> rows = predicted(std::string(kCollective) +
                                             "h100_sxm,nccl,all_reduce,8,1048576,bf16\n"
                                             "h100_sxm,,all_gather,4,1048576,bf16\n"
                                             "h100_sxm,vllm_custom,all_reduce,8,65536,bf16\n"
                                             "a100_sxm,nccl,all_reduce,8,1048576,bf16\n"
                                             "h100_sxm,nccl,all_sum,8,1048576,bf16\n"
                                             "h100_sxm,nccl,all_reduce,1,1048576,bf16\n"
                                             "l4,nccl,all_reduce,2,1048576,bf16\n");
  ASSERT_EQ(rows.size(), 7U);
  for (std::size_t good = 0; good < 4; ++good) EXPECT_EQ(status(rows[good]), "ok");
  EXPECT_GT(time_of(rows[0]), time_of(rows[2]));
  EXPECT_GT(time_of(rows[3]), time_of(rows[0]));
  EXPECT_THAT(message(rows[4]), HasSubstr("all_sum"));
  EXPECT_THAT(message(rows[5]), HasSubstr("n_ranks"));
  EXPECT_EQ(status(rows[6]), "ok");  // over PCIe
  EXPECT_GT(time_of(rows[6]), time_of(rows[0]));
}

TEST(CollectiveTable, RowsOfNeuronCoresAreJudgedToo) {
  const TemporaryFolder folder;
  const std::string table = folder.write("t.csv",
                                         "system,op,n_ranks,bytes,dtype,latency_us\n"
                                         "trn1.32xlarge,all_reduce,32,1048576,bf16,300\n");
  const CommandResult result = run_command({"validate", table, "--worst", "0"});
  EXPECT_EQ(result.messages, "");
  EXPECT_THAT(result.result, HasSubstr("latency_us  1"));
}

}  // namespace
}  // namespace foretell

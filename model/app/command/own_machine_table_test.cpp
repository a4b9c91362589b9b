// Rows of tables on a device of the user's say which device it is taken for.
#include <gmock/gmock.h>

#include "model/app/command/testing/command_runner.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kTakenFor = "mine was not measured: it is taken for h100-sxm";

class OwnMachineTable : public testing::Test {
 protected:
  OwnMachineTable()
      : gpu_(folder_.write("mine.yaml", "id: mine\nlike: h100-sxm\nhbm: {bandwidth: 6 TB/s}\n")) {}

  std::string predicted(const std::string& table) {
    const CommandResult result =
        run_command({"predict", folder_.write("t.csv", table), "--jobs", "1"}, predict);
    EXPECT_EQ(result.code, kSuccess) << result.messages << result.result;
    return result.result;
  }

  TemporaryFolder folder_;
  std::string gpu_;
};

TEST_F(OwnMachineTable, OfModels) {
  const std::string header = "system,workload,phase,batch,seq_len\n";
  const std::string row = ",bert-base-uncased,forward,1,128\n";
  EXPECT_THAT(predicted(header + gpu_ + row), HasSubstr(kTakenFor));
  EXPECT_THAT(predicted(header + "h100-sxm" + row), Not(HasSubstr("taken for")));
}

TEST_F(OwnMachineTable, OfServices) {
  const std::string header = "gpu,model,framework,precision,mode,concurrency,isl,osl,tp\n";
  const std::string row = ",Llama-3.1-8B,vllm,bf16,agg,1,128,4,1\n";
  EXPECT_THAT(predicted(header + gpu_ + row), HasSubstr(kTakenFor));
  EXPECT_THAT(predicted(header + "h100_sxm" + row), Not(HasSubstr("taken for")));
}

}  // namespace
}  // namespace foretell

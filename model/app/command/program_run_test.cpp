#include "model/app/request/program_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/app/command/testing/command_runner.hpp"
#include "model/base/errors.hpp"
#include "model/testing/temporary_folder.hpp"
#include "reports/record/testing/message_of.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;

const std::string kToy = FORETELL_SOURCE_DIR "/workloads/programs/mamba-v1-toy.yaml";

TEST(ProgramRun, GivesARecordOfOneCore) {
  ProgramRequest request;
  request.request.system = "trn1.2xlarge";
  request.file = kToy;
  request.request.factors = "none";
  const RunRecord record = run_program(request);
  EXPECT_EQ(record.context.workload, "mamba-v1-toy");
  EXPECT_EQ(record.context.scenario.cores, 1);
  EXPECT_GT(record.summary.call_s, 100e-6);
  EXPECT_LT(record.summary.call_s, 1e-3);
  EXPECT_EQ(record.summary.bottleneck, "vector engine");
  EXPECT_GT(record.summary.memory_used_bytes, 0);
  EXPECT_GT(record.summary.cost_usd_per_million.value_or(0), 0);
  EXPECT_THAT(record.context.notes, testing::Contains(HasSubstr("on the device: ")));
}

TEST(ProgramRun, ParametersReplaceThoseOfTheFile) {
  ProgramRequest request;
  request.request.system = "trn1.2xlarge";
  request.file = kToy;
  request.parameters = {"seq=256"};
  const double shorter = run_program(request).summary.call_s;
  request.parameters = {"seq=512"};
  EXPECT_LT(shorter, run_program(request).summary.call_s);
  const auto error = [&request](const std::string& parameter) {
    request.parameters = {parameter};
    return message_of<UserError>([&request] { run_program(request); });
  };
  EXPECT_THAT(error("seq"), HasSubstr("write NAME=NUMBER"));
  EXPECT_THAT(error("seq=many"), HasSubstr("--parameter seq: 'many' is not allowed"));
  EXPECT_THAT(error("sequ=1"), HasSubstr("seq"));
}

TEST(ProgramRun, FromTheCommandLineWithATimeline) {
  const TemporaryFolder folder;
  const std::string trace = folder.file("t.json");
  const CommandResult result = run_command(
      {"run", "--on", "trn1.2xlarge", "--program", kToy, "--factors", "none", "--trace", trace});
  EXPECT_EQ(result.code, kSuccess) << result.messages;
  EXPECT_THAT(result.result, HasSubstr("mamba-v1-toy on trn1.2xlarge"));
  EXPECT_THAT(folder.read("t.json"), HasSubstr("\"ph\""));
}

TEST(ProgramRun, GridsRunOnAGpuAndLoopsOnACpu) {
  const TemporaryFolder folder;
  const std::string trace = folder.file("t.json");
  const std::string examples = FORETELL_SOURCE_DIR "/workloads/programs/";
  const auto run = [&](const std::string& system, const std::string& file) {
    const CommandResult result =
        run_command({"run", "--on", system, "--program", examples + file, "--trace", trace});
    EXPECT_EQ(result.code, kSuccess) << result.messages;
    return result.result;
  };
  const std::string gpu = run("h100-sxm", "two-kernels.yaml");
  EXPECT_THAT(gpu, HasSubstr("two-kernels on h100-sxm"));
  EXPECT_THAT(gpu, HasSubstr("host that launches"));
  EXPECT_THAT(folder.read("t.json"), HasSubstr("\"gemm\""));
  EXPECT_THAT(run("h100-sxm-x8", "two-gpus.yaml"), HasSubstr("two-gpus on h100-sxm-x8"));
  EXPECT_THAT(folder.read("t.json"), HasSubstr("\"sum\""));
  EXPECT_THAT(run("c7i.2xlarge", "two-loops.yaml"), HasSubstr("two-loops on c7i.2xlarge"));
  EXPECT_THAT(folder.read("t.json"), HasSubstr("\"softmax\""));
}

// Where its time goes, what would help, and what each parameter does to it.
TEST(ProgramRun, IsExplained) {
  const CommandResult result =
      run_command({"explain", "--on", "trn1.2xlarge", "--program", kToy, "--sensitivity"});
  EXPECT_EQ(result.code, kSuccess) << result.messages;
  EXPECT_THAT(result.result, HasSubstr("vector engine clock x 2"));
  EXPECT_THAT(result.result, HasSubstr("core.vector.clock"));
  const std::string loops = FORETELL_SOURCE_DIR "/workloads/programs/two-loops.yaml";
  const CommandResult cpu = run_command({"explain", "--on", "c7i.2xlarge", "--program", loops});
  EXPECT_EQ(cpu.code, kSuccess) << cpu.messages;
  EXPECT_THAT(cpu.result, HasSubstr("softmax"));
}

TEST(ProgramRun, OperatorsLieWithinTheCall) {
  ProgramRequest request;
  request.request.system = "trn1.2xlarge";
  request.file = kToy;
  const RunRecord record = run_program(request);
  ASSERT_FALSE(record.operators.empty());
  for (const OperatorRecord& op : record.operators) {
    EXPECT_GE(op.start_s, 0);
    EXPECT_GT(op.duration_s, 0);
    EXPECT_LE(op.start_s + op.duration_s, record.summary.call_s * (1 + 1e-12));
  }
}

TEST(ProgramRun, MistakesInTheCommand) {
  const auto error = [](const std::vector<std::string>& line) {
    const CommandResult result = run_command(line);
    EXPECT_EQ(result.code, kUserMistake);
    return result.messages;
  };
  EXPECT_THAT(error({"run", "--program", kToy}), HasSubstr("no system"));
  EXPECT_THAT(error({"run", "--on", "trn1.2xlarge", "--program", "/no/such.yaml"}),
              HasSubstr("/no/such.yaml"));
  EXPECT_THAT(error({"run", "--on", "trn1.2xlarge", "--program", kToy, "--dtype", "bf16"}),
              HasSubstr("exclude each other"));
  EXPECT_THAT(error({"run", "--on", "trn1.2xlarge", "--program", kToy, "--batch", "8"}),
              HasSubstr("--parameter NAME=NUMBER"));
  EXPECT_THAT(error({"run", "--on", "h100-sxm", "--program", kToy}),
              HasSubstr("holds instructions, which a GPU does not run; it runs grids"));
  const std::string gpus = FORETELL_SOURCE_DIR "/workloads/programs/two-gpus.yaml";
  EXPECT_THAT(error({"run", "--on", "h100-sxm", "--program", gpus}),
              HasSubstr("number of GPUs in a group"));
  for (const char* other : {"inf2.xlarge", "c7i.2xlarge"}) {
    EXPECT_THAT(error({"run", "--on", other, "--program", gpus}), HasSubstr("two-gpus")) << other;
  }
  EXPECT_THAT(error({"run", "--on", "h100-sxm", "--program", kToy, "--sdk", "2.21"}),
              HasSubstr("--sdk is the SDK of NeuronCores"));
  EXPECT_THAT(
      error({"run", "--on", "trn1.2xlarge", "--program", kToy, "--set", "workload.layers=1"}),
      HasSubstr("a program has no network"));
  EXPECT_THAT(error({"explain", "--on", "trn1.2xlarge", "--program", kToy, "--batch", "2"}),
              HasSubstr("--parameter NAME=NUMBER"));
  EXPECT_THAT(error({"run", "--on", "inf3.xlarge", "--program", kToy}), HasSubstr("inf2.xlarge"));
  EXPECT_THAT(error({"run", "--on", "a", "--workload", "b", "--dtype", "c", "--parameter", "x=1"}),
              HasSubstr("--parameter belongs to --program"));
}

}  // namespace
}  // namespace foretell

// calibrate import, from the command line to the table that validate reads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calib/measurements/testing/example_measurement.hpp"
#include "model/app/command/testing/command_runner.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class CalibrateImport : public testing::Test {
 protected:
  CommandResult import(const std::string& text, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"calibrate", "import", folder.write("t.csv", text), "-o",
                                          folder.file("out.csv")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_command(arguments);
  }
  static std::string rows(int count) {
    std::string text = "gpu,dtype,m,n,k,latency_us\n";
    for (int i = 1; i <= count; ++i) {
      text += "h100_sxm,bf16," + std::to_string(i) + ",4096,4096,15\n";
    }
    return text;
  }

  TemporaryFolder folder;
  std::vector<std::string> provenance = {"--source", "me",     "--machine",
                                         "mine",     "--date", "2026-01-31"};
};

TEST_F(CalibrateImport, WritesATableThatIsPredicted) {
  const CommandResult result = import(rows(12), provenance);
  EXPECT_EQ(result.code, kSuccess) << result.messages;
  EXPECT_THAT(folder.read("out.csv"),
              StartsWith("gpu,dtype,m,n,k,latency_us,measured_by,measured_on,measured_date,"
                         "measured_with\nh100-sxm,bf16,1,4096,4096,15,me,mine,2026-01-31,\n"));
  EXPECT_THAT(result.messages, HasSubstr("12 rows of kind gemm written; foretell validate"));
  const CommandResult validated =
      run_command({"validate", folder.file("out.csv"), "--jobs", "1", "--format", "csv"});
  EXPECT_EQ(validated.code, kSuccess) << validated.messages;
  EXPECT_THAT(validated.result, HasSubstr("latency_us,12,"));
}

TEST_F(CalibrateImport, RefusesWithEveryProblemAndWritesNothing) {
  std::string text = rows(12) + "h100-sxm,bf16,1,4096,4096,30\n";
  for (int i = 0; i < 30; ++i) text += "h100-sxm,bf16,9,64,64,-1\n";
  const CommandResult result = import(text, provenance);
  EXPECT_EQ(result.code, kUserMistake);
  EXPECT_THAT(result.messages, HasSubstr("t.csv:15: latency_us: '-1' is no measurement"));
  EXPECT_THAT(result.messages, HasSubstr("more\nnothing was imported"));
  EXPECT_FALSE(std::filesystem::exists(folder.file("out.csv")));
}

TEST_F(CalibrateImport, ContradictionsTooFewRowsAndNoProvenance) {
  CommandResult result = import(rows(12) + "h100-sxm,bf16,1,4096,4096,30\n", provenance);
  EXPECT_EQ(result.code, kUserMistake);
  EXPECT_THAT(result.messages, HasSubstr("t.csv:14: latency_us: 30 contradicts line 2"));
  result = import(rows(3), provenance);
  EXPECT_EQ(result.code, kUserMistake);
  EXPECT_THAT(result.messages, HasSubstr("gemm has 3 rows; fewer than 12"));
  result = import(rows(12));
  EXPECT_EQ(result.code, kUserMistake);
  EXPECT_THAT(result.messages, HasSubstr("no provenance; give --source"));
}

TEST_F(CalibrateImport, ProvenanceBesideTheTable) {
  const std::string beside =
      folder.write("p.yaml", "source: them\nmachine: theirs\ndate: 2025-12-24\nsoftware: lib 1\n");
  const CommandResult result = import(rows(12), {"--provenance", beside, "--machine", "mine"});
  EXPECT_EQ(result.code, kSuccess) << result.messages;
  EXPECT_THAT(folder.read("out.csv"), HasSubstr(",them,mine,2025-12-24,lib 1\n"));
}

TEST_F(CalibrateImport, RecordsOfSeveralKindsBecomeSeveralFiles) {
  Measurement warm = example_measurement();
  warm.states["weights"] = "warm";
  const std::string lines = to_line(example_measurement()) + "\n" + to_line(warm) + "\n";
  const CommandResult result = import(lines, {"--min-rows", "1"});
  EXPECT_EQ(result.code, kSuccess) << result.messages;
  EXPECT_THAT(folder.read("out.gemm.csv"),
              HasSubstr("h200-sxm,cublaslt,13.0,bf16,64,256,128,12.5"));
  EXPECT_THAT(result.messages, HasSubstr("out.gemm.warm.csv --l2 warm"));
}

// What import accepts, validate and fit read.
TEST_F(CalibrateImport, TablesOfDevicesAndOperatorsAreTranslatedOrRefused) {
  std::string products = "device,op,dtype,m,n,k,latency_us\n";
  std::string passes = "device,op,dtype,rows,cols,latency_us\n";
  for (int i = 1; i <= 40; ++i) {
    products += "h100-sxm,gemm,bf16," + std::to_string(16 * i) + ",4096,4096,25\n";
    passes += "h100-sxm,softmax,fp16," + std::to_string(64 * i) + ",4096,25\n";
  }
  CommandResult result = import(products, provenance);
  EXPECT_EQ(result.code, kSuccess) << result.messages;
  EXPECT_THAT(result.messages, HasSubstr("read device as gpu"));
  EXPECT_THAT(result.messages, HasSubstr("40 rows of kind gemm"));
  for (const std::string& text : {products, passes}) {
    ASSERT_EQ(import(text, provenance).code, kSuccess);
    result = run_command({"validate", folder.file("out.csv"), "--jobs", "1", "--format", "csv"});
    EXPECT_EQ(result.code, kSuccess) << result.messages;
    EXPECT_THAT(result.result, HasSubstr("latency_us,40,"));
  }
  std::string wrong = passes;
  for (std::size_t at = wrong.find("softmax"); at < wrong.size(); at = wrong.find("softmax")) {
    wrong.replace(at, 7, "sofmax");
  }
  result = import(wrong, provenance);
  EXPECT_EQ(result.code, kUserMistake);
  EXPECT_THAT(result.messages, HasSubstr("t.csv:2: unknown op 'sofmax'; nearest is 'softmax'"));
  EXPECT_THAT(result.messages, HasSubstr("(and 39 more rows)"));
  result =
      import("device,op,dtype,rows,cols,latency_us\nabacus,softmax,fp16,64,64,9\n", provenance);
  EXPECT_EQ(result.code, kUserMistake);
  EXPECT_THAT(result.messages, HasSubstr("t.csv:2: unknown system 'abacus'"));
}

TEST_F(CalibrateImport, OptionsOutsideTheirRange) {
  EXPECT_EQ(import(rows(12), {"--tolerance", "-5"}).code, kUserMistake);
  EXPECT_EQ(import(rows(12), {"--min-rows", "0"}).code, kUserMistake);
}

}  // namespace
}  // namespace foretell

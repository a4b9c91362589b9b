#include "calib/measure/cpu/measure_cpu_options.hpp"

#include <gmock/gmock.h>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string refusal_of(const std::vector<std::string>& arguments) {
  try {
    parse_measure_cpu_options(arguments);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(MeasureCpuOptions, ReadsBothWaysOfWriting) {
  const MeasureCpuOptions options = parse_measure_cpu_options(
      {"--output", "a.jsonl", "--quick", "--ops=gemm,conv", "--dtypes", "bf16", "--threads=3",
       "--max-load", "0.5", "--patience", "7", "--repeats", "5"});
  EXPECT_EQ(options.output, "a.jsonl");
  EXPECT_TRUE(options.plan.quick);
  EXPECT_THAT(options.plan.ops, ElementsAre("gemm", "conv"));
  EXPECT_THAT(options.plan.dtypes, ElementsAre("bf16"));
  EXPECT_EQ(options.plan.threads, 3);
  EXPECT_EQ(options.most_foreign, 0.5);
  EXPECT_EQ(options.patience, 7);
  EXPECT_EQ(options.repeats, 5);
}

TEST(MeasureCpuOptions, NamesWhatIsWrong) {
  EXPECT_THAT(refusal_of({"--quik"}), HasSubstr("--quick"));
  EXPECT_THAT(refusal_of({"--ops", "gem"}), HasSubstr("gemm"));
  EXPECT_THAT(refusal_of({"--dtypes", "fp8"}), HasSubstr("fp32"));
  EXPECT_THAT(refusal_of({"--dtypes="}), HasSubstr("names nothing"));
  EXPECT_THAT(refusal_of({"--output"}), HasSubstr("a value is missing"));
  EXPECT_THAT(refusal_of({"--threads", "0"}), HasSubstr("from 1 to 4096"));
  EXPECT_THAT(refusal_of({"--threads", "1.5"}), HasSubstr("whole number"));
  EXPECT_THAT(refusal_of({"--max-load", "2"}), HasSubstr("from 0 to 1"));
  EXPECT_THAT(refusal_of({"--repeats", "many"}), HasSubstr("'many'"));
}

TEST(MeasureCpuOptions, HelpNamesEveryOption) {
  const std::string help = measure_cpu_help();
  for (const char* option : {"--output", "--quick", "--ops", "--dtypes", "--threads", "--repeats",
                             "--max-load", "--patience", "--device-name", "--list"}) {
    EXPECT_THAT(help, HasSubstr(option));
  }
}

}  // namespace
}  // namespace foretell

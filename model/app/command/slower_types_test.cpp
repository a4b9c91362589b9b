#include "model/app/command/slower_types.hpp"

#include <gmock/gmock.h>

namespace foretell {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ComparedRun run_of(const std::string& dtype, double latency, double vector_s,
                   const std::string& system = "chip") {
  RunRecord record;
  record.context.system = system;
  record.context.workload = "net";
  record.context.dtype = dtype;
  record.machine = MachineRecord{};
  record.machine->compute = {{"tensor engine, bf16", 1, ""}};
  record.summary.latency_s = latency;
  for (const auto& [name, seconds] :
       {std::pair("tensor engine", 1e-3), {"vector engine", vector_s}}) {
    OperatorRecord op;
    op.critical = name;
    op.duration_s = seconds;
    record.operators.push_back(op);
  }
  return {record, ""};
}

TEST(SlowerTypes, ANarrowTypeThatIsSlowerSaysWhatItWaitsFor) {
  EXPECT_THAT(
      slower_types({run_of("bf16", 2e-3, 1e-3), run_of("int8-weights", 4e-3, 3e-3)}),
      ElementsAre("int8-weights is slower than bf16 on chip: it multiplies in bf16 as well; "
                  "operators bound by vector engine take longer"));
}

TEST(SlowerTypes, FasterTypesOtherSystemsAndWiderTypesSayNothing) {
  EXPECT_THAT(slower_types({run_of("bf16", 2e-3, 1e-3), run_of("fp8", 1e-3, 1e-3)}), IsEmpty());
  EXPECT_THAT(slower_types({run_of("bf16", 2e-3, 1e-3), run_of("fp8", 4e-3, 3e-3, "other")}),
              IsEmpty());
  EXPECT_THAT(slower_types({run_of("bf16", 2e-3, 1e-3), run_of("fp32", 4e-3, 3e-3)}), IsEmpty());
  EXPECT_THAT(slower_types({run_of("int8", 2e-3, 1e-3), run_of("fp8", 4e-3, 3e-3)}), IsEmpty());
  ComparedRun failed = run_of("fp8", 4e-3, 3e-3);
  failed.problem = "no pipe";
  EXPECT_THAT(slower_types({run_of("bf16", 2e-3, 1e-3), failed}), IsEmpty());
}

}  // namespace
}  // namespace foretell

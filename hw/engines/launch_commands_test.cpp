#include "hw/engines/launch_commands.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hw/engines/engine_catalog.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;
using testing::Not;

LaunchedWorker worker_of(const std::string& engine) {
  return {engine, "org/net-7b", "fp8", "fp8", 4, 128, 4096, 1, 1, 1};
}

TEST(LaunchCommands, EveryEngineThatIsDescribedHasOne) {
  const LaunchCommands commands = LaunchCommands::load();
  const EngineCatalog catalog;
  for (const std::string& id : catalog.ids()) {
    const std::string command = commands.command_of(worker_of(id));
    EXPECT_THAT(command, HasSubstr("org/net-7b")) << id;
    EXPECT_THAT(command, HasSubstr("4")) << id;
    EXPECT_THAT(command, HasSubstr("128")) << id;
    EXPECT_THAT(command, Not(HasSubstr("{"))) << id;
  }
}

TEST(LaunchCommands, ExpertsThatLieApartAndRanksHaveTheirFlags) {
  const LaunchCommands commands = LaunchCommands::load();
  LaunchedWorker worker = worker_of("vllm");
  EXPECT_THAT(commands.command_of(worker), Not(HasSubstr("parallel-size 8")));
  worker.tp = 1;
  worker.attention_dp = worker.ep = 8;
  EXPECT_THAT(commands.command_of(worker),
              HasSubstr(" --data-parallel-size 8 --enable-expert-parallel"));
  worker.engine = "sglang";
  EXPECT_THAT(commands.command_of(worker), HasSubstr(" --tp 8 "));
  EXPECT_THAT(commands.command_of(worker), HasSubstr(" --dp 8 --enable-dp-attention --ep-size 8"));
  worker.engine = "trtllm";
  EXPECT_THAT(commands.command_of(worker), HasSubstr(" --tp_size 8 "));
  EXPECT_THAT(commands.command_of(worker), HasSubstr("enable_attention_dp: true"));
  worker.attention_dp = 1;
  worker.tp = 8;
  EXPECT_THAT(commands.command_of(worker), Not(HasSubstr("enable_attention_dp")));
}

TEST(LaunchCommands, StagesHaveTheirFlagAndGroupsOfExpertsWhereTheEngineHasOne) {
  const LaunchCommands commands = LaunchCommands::load();
  LaunchedWorker worker = worker_of("vllm");
  EXPECT_THAT(commands.command_of(worker), Not(HasSubstr("pipeline")));
  worker.pp = 2;
  EXPECT_THAT(commands.command_of(worker),
              HasSubstr("--tensor-parallel-size 4 --pipeline-parallel-size 2 "));
  EXPECT_FALSE(commands.states_groups("vllm@0.14"));
  EXPECT_TRUE(commands.states_groups("sglang"));
  EXPECT_TRUE(commands.states_groups("mine"));
}

TEST(LaunchCommands, TypesThatACheckpointStatesAddNothing) {
  const LaunchCommands commands = LaunchCommands::load();
  const std::string engine = EngineCatalog().default_engine();
  LaunchedWorker worker = worker_of(engine);
  EXPECT_THAT(commands.command_of(worker), HasSubstr("fp8"));
  worker.dtype = "nvfp4";
  worker.kv_dtype = "bf16";
  EXPECT_THAT(commands.command_of(worker), Not(HasSubstr("fp")));
}

TEST(LaunchCommands, AnEngineOfTheUsersOwnHasNone) {
  EXPECT_EQ(LaunchCommands::load().command_of(worker_of("mine")), "");
}

}  // namespace
}  // namespace foretell

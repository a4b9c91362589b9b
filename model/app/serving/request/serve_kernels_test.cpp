#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/app/serving/request/serve_parts.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

Request after(const std::string& engine_name, Request machine) {
  EngineSpec engine;
  engine.library = engine_name.substr(0, engine_name.find('@'));
  take_kernels(engine_name, engine, machine);
  return machine;
}

TEST(ServeKernels, AReleaseOfAnEngineHasTheKernelsOfThatRelease) {
  Request machine;
  machine.system = "h100-sxm-x8";
  EXPECT_EQ(after("trtllm@0.10.0", machine).library, "trtllm");
  EXPECT_EQ(after("trtllm@0.10.0", machine).library_release, "0.10.0");
  for (const char* newest : {"trtllm", "trtllm@1.2.0rc6", "trtllm@99", "trtllm@", "vllm@0.8"})
    EXPECT_EQ(after(newest, machine).library_release, "") << newest;
}

TEST(ServeKernels, AnEngineOfOtherDevicesIsRefusedByItsName) {
  Request machine;
  machine.system = "h100-sxm";
  try {
    after("neuron", machine);
    FAIL() << "accepted";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("--engine neuron: has no kernels for GPUs"));
  }
}

TEST(ServeKernels, WhatWasAskedForStays) {
  Request machine;
  machine.system = "h100-sxm-x8";
  machine.library_release = "0.7";
  EXPECT_EQ(after("trtllm@0.10.0", machine).library_release, "0.7");
  machine.library = "vllm";
  EXPECT_EQ(after("trtllm@0.10.0", machine).library, "vllm");
  machine = {};
  machine.system = "inf2.xlarge";
  EXPECT_EQ(after("trtllm@0.10.0", machine).library, "");
}

}  // namespace
}  // namespace foretell

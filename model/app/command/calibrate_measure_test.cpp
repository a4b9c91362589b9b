// calibrate measure, with a script in the place of the program that measures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "model/app/command/testing/command_runner.hpp"
#include "model/app/command/testing/scoped_variable.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;

class CalibrateMeasure : public testing::Test {
 protected:
  void install(const std::string& script) const {
    const std::string program = folder.write("foretell_measure_cuda", "#!/bin/sh\n" + script);
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  }

  TemporaryFolder folder;
  ScopedVariable path{"PATH", folder.file("")};
};

TEST_F(CalibrateMeasure, HandsItsOptionsOnAndReturnsTheExitCode) {
  install("echo \"$@\" > " + folder.file("arguments") + "\nexit 1\n");
  const CommandResult result =
      run_command({"calibrate", "measure", "--device", "cuda", "--quick", "-o", "m.jsonl", "--ops",
                   "gemm,softmax", "--", "--gpu", "3"});
  EXPECT_EQ(result.code, 1) << result.messages;
  EXPECT_EQ(folder.read("arguments"), "--output m.jsonl --ops gemm,softmax --quick --gpu 3\n");
}

TEST_F(CalibrateMeasure, SaysHowTheProgramIsBuiltWhenItIsNotThere) {
  const CommandResult result = run_command({"calibrate", "measure", "--device", "cuda"});
  EXPECT_EQ(result.code, kUserMistake);
  EXPECT_THAT(result.messages, HasSubstr("foretell_measure_cuda is neither beside this program"));
  EXPECT_THAT(result.messages, HasSubstr("cmake -S calib/measure/cuda -B build-cuda"));
}

TEST_F(CalibrateMeasure, WhatCannotRunIsNamed) {
  install("kill -9 $$\n");
  CommandResult result = run_command({"calibrate", "measure", "--device", "cuda"});
  EXPECT_EQ(result.code, kUserMistake);
  EXPECT_THAT(result.messages, HasSubstr("was stopped by a signal"));
  result = run_command({"calibrate", "measure", "--device", "cude"});
  EXPECT_EQ(result.code, kUserMistake);
  EXPECT_THAT(result.messages, HasSubstr("unknown kind of machine 'cude'; nearest is 'cuda'"));
}

}  // namespace
}  // namespace foretell

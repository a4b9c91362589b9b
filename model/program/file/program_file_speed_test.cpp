#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "model/program/file/program_file.hpp"

namespace foretell {
namespace {

double seconds_to_parse(const std::string& text, std::size_t instructions) {
  const auto begin = std::chrono::steady_clock::now();
  const Program program = parse_program(text, "x.yaml");
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(program.entry_count(), instructions);
  return elapsed.count();
}

// As large as the vendor's matrix multiplication: 32768 matmuls with their weights.
TEST(ProgramFileSpeed, SixtyFiveThousandInstructionsOfLoopsLoadInAFractionOfASecond) {
  const std::string text = R"(
program: p
type: bf16
semaphores: {bank: 8, sum: 0}
queues:
  tensor:
    - repeat: 512
      index: output
      body:
        - repeat: 64
          take: bank
          give: sum
          body:
            - {load_stationary: 128}
            - {multiply_moving: 512, bank: output % 8}
  vector:
    - repeat: 512
      body:
        - {tensor_copy: 512, reads: psum, take: sum, give: bank}
)";
  EXPECT_LT(seconds_to_parse(text, 66'048), 0.2);
}

// Written by another program, without loops: bound by the YAML reader.
TEST(ProgramFileSpeed, AFileOfTenThousandLinesLoadsInAboutASecond) {
  std::string text = "program: p\ntype: bf16\nqueues:\n  vector:\n";
  for (int i = 0; i < 10'000; ++i)
    text += "    - {tensor_copy: 512, reads: psum, dependent: true}\n";
  EXPECT_LT(seconds_to_parse(text, 10'000), 2.0);
}

}  // namespace
}  // namespace foretell

// Small program files against times that can be worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/base/errors.hpp"
#include "model/program/file/program_file.hpp"
#include "model/system/machine.hpp"
#include "model/system/simulate.hpp"
#include "model/testing/neuron_exemplar.hpp"

namespace foretell {
namespace {

constexpr double kVectorHertz = 1.12e9;
constexpr double kTensorHertz = 2.8e9;
constexpr double kStart = 1300e-9;      // of a transfer
constexpr double kDescriptor = 146e-9;  // of up to 2 KiB

// Seconds on the device.
double run(const std::string& text) {
  const NeuronSystemSpec system = exemplar_inf2();
  ProgramFileOptions options;
  options.limits = limits_of(system.device);
  const Execution execution = simulate(system, {}, {}, parse_program(text, "x.yaml", options));
  return to_seconds(execution.end - execution.call_begin).value();
}

void expect_time(const std::string& text, double seconds) {
  EXPECT_NEAR(run(text), seconds, 1e-13) << text;
}

TEST(SmallPrograms, WeightsLoadOnceInFrontAndThenDuringTheMatmuls) {
  // 32 cycles to load 128 columns, 8 matmuls of 512; further weights are hidden.
  expect_time(R"(
program: p
type: bf16
queues:
  tensor:
    - repeat: 8
      body:
        - {load_stationary: 128}
        - {multiply_moving: 512}
)",
              (32 + 8 * 512) / kTensorHertz);
}

TEST(SmallPrograms, Fp32TakesFourPassesAndHalfOfThemForOnesAndZeros) {
  const std::string head =
      "program: p\ntype: fp32\nqueues:\n  tensor:\n    - {multiply_moving: 512";
  expect_time(head + "}\n", 4 * 512 / kTensorHertz);
  expect_time(head + ", onezero: true}\n", 2 * 512 / kTensorHertz);
}

TEST(SmallPrograms, ADependentInstructionPaysMoreThanAnIndependentOne) {
  const std::string head =
      "program: p\ntype: fp32\nqueues:\n  vector:\n    - {tensor_copy: 512}\n    - {tensor_copy: "
      "512";
  expect_time(head + "}\n", 2 * (512 + 60) / kVectorHertz);
  expect_time(head + ", dependent: true}\n", (2 * 512 + 60 + 100) / kVectorHertz);
}

TEST(SmallPrograms, WhereAnOperandIsAndWhatTypeItHasSelectTheRowOfTheCostTable) {
  const auto add = [](const std::string& keys) {
    return "program: p\nqueues:\n  vector:\n    - {tensor_tensor: 512, alu: add, " + keys + "}\n";
  };
  expect_time(add("type: fp32"), (2 * 512 + 60) / kVectorHertz);
  expect_time(add("type: fp32, reads: [psum, sbuf]"), (512 + 60) / kVectorHertz);
  expect_time(add("type: bf16"), (512 + 60) / kVectorHertz);
  expect_time(add("type: bf16, out: fp32"), (2 * 512 + 60) / kVectorHertz);
}

TEST(SmallPrograms, ATransferTakesItsStartAndEightDescriptorsPerEngine) {
  const auto load = [](const std::string& rows, const std::string& bytes) {
    return "program: p\nhbm: {x: 1 GiB}\nrings:\n  in:\n    - {load: x, rows: " + rows +
           ", row_bytes: " + bytes + "}\n";
  };
  expect_time(load("128", "256"), kStart + 8 * kDescriptor);
  expect_time(load("128", "1 KiB"), kStart + 8 * kDescriptor);  // small rows cost as much
  expect_time(load("129", "1 KiB"), kStart + 9 * kDescriptor);
  expect_time(load("16", "1 KiB"), kStart + kDescriptor);
}

// With one buffer, loading and computing alternate; with two they overlap.
TEST(SmallPrograms, TwoBuffersHideTheLoads) {
  const auto pipeline = [](int buffers) {
    return "program: p\ntype: fp32\nparameters: {buffers: " + std::to_string(buffers) + R"(}
hbm: {x: 1 MiB}
semaphores: {full: 0, empty: buffers}
rings:
  in:
    - repeat: 6
      body:
        - {load: x, rows: 128, row_bytes: 1 KiB, take: empty, give: full}
queues:
  vector:
    - repeat: 6
      body:
        - {tensor_copy: 8192, take: full, give: empty}
)";
  };
  const double load = kStart + 8 * kDescriptor;
  const double copy = (8192 + 60) / kVectorHertz;
  expect_time(pipeline(1), 6 * (load + copy));
  expect_time(pipeline(2), load + 6 * copy);
}

TEST(SmallPrograms, StatementsWithoutInstructionCostNothing) {
  expect_time(R"(
program: p
type: fp32
semaphores: {a: 0, b: 0, c: 0}
queues:
  tensor:
    - {take: a, give: b}
  sync:
    - {take: b, give: c}
  vector:
    - {tensor_copy: 512, give: a}
    - {take: c}
)",
              (512 + 60) / kVectorHertz);
}

// The page explains the format with a program: it is the text between the first pair of fences that
// begins with "program:".
TEST(SmallPrograms, TheProgramOfTheDocumentationOverlapsLoadsAndStores) {
  std::ostringstream page;
  page << std::ifstream(FORETELL_SOURCE_DIR "/docs/programs.md").rdbuf();
  const std::string text = page.str();
  const std::size_t begin = text.find("program: square");
  ASSERT_NE(begin, std::string::npos);
  // Every buffer goes round through a load, an activation and a store; there are two of them,
  // whose transfers follow one another on the same DMA engines.
  const double transfer = kStart + 8 * kDescriptor;
  const double activation = (512 + 60) / 1.4e9;
  expect_time(text.substr(begin, text.find("```", begin) - begin),
              8 * (2 * transfer + activation) + 8 * kDescriptor);
}

// Every take is matched by a give, but each queue waits for the other.
TEST(SmallPrograms, ACircleOfWaitsIsADeadlockThatSaysWhoWaitsForWhat) {
  const std::string text = R"(
program: circle
type: fp32
semaphores: {a: 0, b: 0}
queues:
  scalar:
    - {activate: 512, take: a, give: b}
  vector:
    - {tensor_copy: 512}
    - {tensor_copy: 512, take: b, give: a}
)";
  try {
    run(text);
    FAIL() << "the program cannot end";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("program 'circle' deadlocks on chip0.core0"));
    EXPECT_THAT(
        error.what(),
        testing::HasSubstr("scalar[0] activate waits for semaphore 'a' to reach 1; it is 0"));
    EXPECT_THAT(
        error.what(),
        testing::HasSubstr("vector[1] tensor_copy waits for semaphore 'b' to reach 1; it is 0"));
  }
}

// For a GPU with links of 400 GB/s in a group of eight.
double run_on_gpu(const std::string& text) {
  const GpuDeviceSpec device = GpuCatalog().load("h100-sxm").spec.device;
  ProgramFileOptions options;
  options.limits.ranks = 8;
  const Execution execution = simulate(GpuMachine{device}, parse_program(text, "x.yaml", options));
  return to_seconds(execution.end - execution.call_begin).value();
}

std::string exchange(const std::string& keys) {
  return "program: p\nexchanges:\n  links:\n    - {exchange: sum, " + keys + "}\n";
}

TEST(SmallPrograms, AnExchangeTakesItsRounds) {
  const double message = 4e6 / 400e9;
  EXPECT_NEAR(run_on_gpu(exchange("ranks: 8, rounds: 14, launch: 1 us, latency: 2 us, "
                                  "message: 4 MB, rate: 400 GB/s")),
              1e-6 + 14 * (2e-6 + message), 1e-9);
  // To all others at once, over the links that they share.
  EXPECT_NEAR(run_on_gpu(exchange("ranks: 4, peers: 3, latency: 2 us, message: 4 MB, "
                                  "rate: 400 GB/s")),
              2e-6 + 3 * message, 1e-9);
}

TEST(SmallPrograms, ASumPassesTheLinksWhileTheNextGridComputes) {
  const std::string kernels =
      "program: p\nsemaphores: {half: 0}\ngrids:\n  kernels:\n"
      "    - {grid: a, blocks: 132, block_time: 20 us, give: half}\n"
      "    - {grid: b, blocks: 132, block_time: 20 us}\n";
  EXPECT_NEAR(run_on_gpu(kernels + "exchanges:\n  links:\n    - {exchange: sum, latency: 5 us, "
                                   "message: 4 MB, rate: 400 GB/s, take: half}\n"),
              40e-6, 1e-9);
}

TEST(SmallPrograms, WrongExchangesAreRefusedWithTheirPlace) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"ranks: 16, message: 1 MB, rate: 1 GB/s", "number of GPUs in a group"},
      {"ranks: 1, message: 1 MB, rate: 1 GB/s", "state 2 ranks or more"},
      {"ranks: 4, peers: 4, message: 1 MB, rate: 1 GB/s", "4 peers in a group of 4"},
      {"message: 1 MB", "states no rate"},
      {"message: 1 MB, rate: 2 GB/s, links: 1 GB/s", "faster than the links"},
      {"local: 1 MB, latency: 1 us", "states no rate"},
      {"mesage: 1 MB", "mesage"},
      {"rounds: 2000000", "the most is"},
      {"latency: 5 MB", "latency"}};
  for (const auto& [keys, message] : wrong) {
    try {
      run_on_gpu(exchange(keys));
      ADD_FAILURE() << "accepted: " << keys;
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(),
                  testing::AllOf(testing::HasSubstr("x.yaml:4"), testing::HasSubstr(message)))
          << keys;
    }
  }
}

}  // namespace
}  // namespace foretell

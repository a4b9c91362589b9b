#include "model/system/simulate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

#include "model/base/errors.hpp"
#include "model/program/program_builder.hpp"
#include "model/testing/neuron_exemplar.hpp"

namespace foretell {
namespace {

Instruction lane(Opcode opcode, std::uint32_t n) {
  Instruction i;
  i.opcode = opcode;
  i.n = n;
  return i;
}

TEST(Simulate, TwoSimulationsInOneProcessAgree) {
  ProgramBuilder builder("two");
  builder.begin_operator("a");
  const Deps first = builder.emit(Engine::kScalar, lane(Opcode::kActivate, 512), {});
  builder.emit(Engine::kVector, lane(Opcode::kTensorCopy, 512), first);
  const Program program = std::move(builder).finish();
  const NeuronSystemSpec system = exemplar_inf2();
  const auto once = simulate(system, {}, {}, program);
  const auto twice = simulate(system, {}, {}, program);
  EXPECT_EQ(once.end, twice.end);
  const double seconds = 572 / 1.4e9 + 572 / 1.12e9;
  EXPECT_NEAR(to_seconds(once.end - once.call_begin).value(), seconds, 1e-14);
}

}  // namespace
}  // namespace foretell

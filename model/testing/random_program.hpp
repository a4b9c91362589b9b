// Programs without meaning, for laws that hold for every program.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "model/program/program_builder.hpp"
#include "model/testing/instructions.hpp"

namespace foretell {

struct RandomProgram {
  unsigned seed = 1;
  int entries = 400;
  // With PSUM operands and GpSimd, engines compete for ports, and who comes first may change the
  // order of everything after it. Without, a program is a pure graph of dependencies.
  bool ports = true;
  bool transfers = true;
};

namespace detail {

inline Instruction random_lane(Engine engine, bool ports, std::mt19937* random) {
  constexpr std::array<Opcode, 3> kOpcodes = {Opcode::kTensorCopy, Opcode::kTensorScalar,
                                              Opcode::kRsqrt};
  unsigned flags = kReadsSbuf | kWritesSbuf;
  if (ports && engine != Engine::kGpSimd && (*random)() % 2 == 0) flags = kReadsPsum | kWritesSbuf;
  const auto n = static_cast<std::uint32_t>(1 + (*random)() % 600);
  return lane(kOpcodes[(*random)() % kOpcodes.size()], n, flags);
}

inline Instruction random_matmul(std::mt19937* random) {
  if ((*random)() % 2 == 0) return load_stationary(128);
  return multiply_moving(static_cast<std::uint32_t>(1 + (*random)() % 512));
}

}  // namespace detail

inline Program random_program(const RandomProgram& options) {
  std::mt19937 random(options.seed);
  ProgramBuilder builder("random");
  std::vector<Deps> done;
  for (int i = 0; i < options.entries; ++i) {
    if (i % 20 == 0) builder.begin_operator("op" + std::to_string(i / 20));
    Deps deps;
    for (std::size_t d = random() % 3; d > 0 && !done.empty(); --d) {
      deps.merge(done[done.size() - 1 - random() % std::min<std::size_t>(done.size(), 10)]);
    }
    const auto kind = random() % 10;
    if (kind < 4) {
      done.push_back(builder.emit(Engine::kTensor, detail::random_matmul(&random), deps));
    } else if (options.transfers && kind == 9) {
      const auto rows = static_cast<std::uint32_t>(1 + random() % 128);
      const auto bytes = static_cast<std::uint32_t>(1 + random() % 9000);
      const bool out = random() % 4 == 0;
      done.push_back(builder.emit(out ? Ring::kOutputs : Ring::kWeights,
                                  out ? store(rows, bytes) : load(rows, bytes), deps));
    } else {
      const bool gpsimd = options.ports && kind == 8;
      const Engine engine = gpsimd ? Engine::kGpSimd : kind < 7 ? Engine::kVector : Engine::kScalar;
      const Instruction i_lane = detail::random_lane(engine, options.ports, &random);
      done.push_back(builder.emit(engine, i_lane, deps));
    }
  }
  return std::move(builder).finish();
}

}  // namespace foretell

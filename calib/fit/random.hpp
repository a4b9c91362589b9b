// Random draws that are the same on every machine: the standard fixes the engine's bits, but not
// what its distributions make of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

namespace foretell {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  double uniform();                      // in (0, 1)
  double normal();                       // mean 0, deviation 1
  std::size_t index(std::size_t count);  // 0 … count - 1

 private:
  std::mt19937_64 engine_;
};

}  // namespace foretell

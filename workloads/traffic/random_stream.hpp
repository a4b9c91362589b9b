// Random numbers that are the same on every machine: the generator is specified by the standard,
// the distributions are written here.
#pragma once

#include <cstdint>
#include <random>

namespace foretell {

class RandomStream {
 public:
  // Streams of one seed with different numbers are independent.
  RandomStream(std::uint64_t seed, std::uint64_t number);

  double uniform();            // [0, 1)
  double exponential();        // mean 1
  double normal();             // mean 0, deviation 1
  double gamma(double shape);  // mean `shape`, deviation sqrt(shape); shape > 0
  // A whole number in [low, high], all equally likely.
  std::int64_t whole(std::int64_t low, std::int64_t high);

 private:
  std::mt19937_64 generator_;
};

}  // namespace foretell

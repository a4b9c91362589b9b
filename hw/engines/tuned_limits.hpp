// Limits of a step that a benchmark's builder takes from memory and lengths.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace foretell {

// Numbers below `below` are rounded up to a multiple of `by`; 0: all.
struct RoundingStep {
  std::int64_t below = 0;
  std::int64_t by = 1;
};

struct StepLimits {
  std::int64_t sequences = 0;
  std::int64_t tokens = 0;
};

// The facts of hw/engines/choice/tuned_limits.yaml.
struct TunedLimits {
  double share = 0;
  std::int64_t most_sequences = 0;
  std::int64_t most_tokens = 0;
  std::int64_t least_sequences = 0;
  std::int64_t least_tokens = 0;
  std::vector<RoundingStep> sequence_steps;
  std::vector<RoundingStep> token_steps;

  // UserError with file:line for what is wrong with the file.
  static TunedLimits load(const std::filesystem::path& hw);

  // `kv_tokens`: whose cache fits into what weights leave; of a pipeline all stages together.
  StepLimits of(double kv_tokens, double mean_input, double mean_output, int stages) const;
};

}  // namespace foretell

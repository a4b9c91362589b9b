// Prompts that begin alike, as published traces tell it: by numbers of their blocks of tokens.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/traffic/load.hpp"

namespace foretell {

struct NumberedPrompt {
  std::int64_t tokens = 0;
  std::vector<std::int64_t> blocks;  // in order; the last may be partly filled, or left out
};

// Tokens of a block: the largest power of two up to 4096 of which every prompt has as many, whole
// ones or rounded up, as it has numbers. 0: there is none.
std::int64_t tokens_per_block(const std::vector<NumberedPrompt>& prompts);

// For every prompt the parts that others begin with, too. Blocks with the same number after the
// same blocks are equal; where prompts part, or one ends, a chain ends.
std::vector<std::vector<SharedPart>> shared_openings(const std::vector<NumberedPrompt>& prompts,
                                                     std::int64_t tokens_per_block);

}  // namespace foretell

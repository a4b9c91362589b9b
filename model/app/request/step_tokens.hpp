// Servers cut prompts into pieces of this many tokens, as engines have it by default (max_tokens in
// hw/engines); more are never active at once.
#pragma once

#include <cstdint>

namespace foretell {

inline constexpr std::int64_t kTokensOfAStep = 8192;

}  // namespace foretell

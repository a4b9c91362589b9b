// How many tokens are computed at once where no engine is stated.
#pragma once

#include <cstdint>
#include <string_view>

namespace foretell {

// Servers cut prompts into pieces of at most this many tokens, and no more are active at once: the
// limit of the default engine (hw/engines) of a family of devices ("gpu").
std::int64_t tokens_of_step(std::string_view family);

}  // namespace foretell

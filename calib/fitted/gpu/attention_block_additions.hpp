// What a library adds to a layer of attention beside its kernels: fitted to layers of that table,
// or, where no row was, what blocks.yaml says stands in for it.
#pragma once

#include <optional>
#include <string>

#include "calib/fitted/gpu/gpu_factors.hpp"
#include "hw/spec/gpu/attention_block_facts.hpp"

namespace foretell {

// `served_as`: the phase whose kernels serve the call ("generation" for prompts of a few queries).
// Nothing where neither is known, and for factors of kernels alone (GpuFactors).
std::optional<ChosenOperatorFactors<AttentionBlockFactors>> attention_block_additions(
    const GpuFactors& factors, const AttentionBlockFacts& facts,
    const AttentionBlockFacts::Call& call, const std::string& served_as);

}  // namespace foretell

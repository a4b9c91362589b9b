// Latent attention (MLA) on one GPU: keys and values of a token are one latent of 512 values and a
// rotated part of 64. Prompts are multiplied out to heads of 192 (queries, keys) and 128 (values);
// tokens ask the latents themselves, all heads at once, with queries that the absorbed products
// bring into the latent (576) and results that they bring back (512).
#pragma once

#include <cstdint>

#include "model/timing/gpu/layer_call.hpp"

namespace foretell {

struct LatentShape {
  bool prompt = true;
  std::int64_t batch = 1;
  std::int64_t queries = 1;  // of a sequence
  std::int64_t keys = 1;     // of a sequence
  std::int64_t heads = 1;    // of the GPU
  double cache_bytes = 2;    // per element of a latent
  // Keys that an indexer chose for each query, which then asks them as a sequence of its own; 0:
  // all keys are asked.
  std::int64_t selected = 0;
  bool fills_choice = false;   // as many as may be chosen are read, however few there are
  bool divides_choice = true;  // sequences are divided among thread blocks, as without a choice
  double choice_time = 1;      // of a stage beside that of kernels that read neighbours
};

// Whether heads have the widths that these kernels are made for: of latents, of prompts that are
// multiplied out, and of the product that brings queries into the latent.
bool is_latent_head(std::int64_t key_width, std::int64_t value_width);
bool is_expanded_head(std::int64_t key_width, std::int64_t value_width);
bool is_absorbed_product(std::int64_t k, std::int64_t n);

GridSequence latent_kernels(const LayerCall& call, const LatentShape& shape);

// Attention to keys that an indexer chose (`selected` above 0), in any phase: thread blocks of
// tokens, one after another along as many keys, without what rotates and writes the cache.
GridSequence chosen_latent_kernels(const LayerCall& call, const LatentShape& shape);

struct LatentProductShape {
  bool to_latent = true;  // queries 128 -> 512; else results 512 -> 128
  std::int64_t tokens = 1;
  std::int64_t heads = 1;
};

GridSequence latent_product_kernels(const LayerCall& call, const LatentProductShape& shape);

}  // namespace foretell

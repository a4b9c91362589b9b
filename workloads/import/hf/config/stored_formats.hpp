// Which matrix of a decoder its checkpoint stores in which format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/import/hf/config/model_config.hpp"
#include "workloads/ir/graph.hpp"

namespace foretell {

// A matrix of a layer, or the head, whose format files may state.
struct StoredMatrix {
  std::string_view name;     // in graphs, without layer and ".weight": "attention.query"
  std::string_view group;    // for people: "attention"
  std::string_view holders;  // modules that files have it in, separated by spaces: "self_attn"
  std::string_view modules;  // … and what it is called there: "q_proj qkv_proj"
};

// The rules of config->checkpoint, by layer and matrix; the format that most of its experts or else
// its other matrices have becomes that of the checkpoint. Notes patterns that cannot be read and
// matrices of which parts differ. Of networks that are no decoders, the last rule counts for all.
void place_formats(ModelConfig* config);

// Gives a weight of a graph the type that its file states, where it is not that of the checkpoint.
// `layer`: kNoId for the head.
void store_as_stated(const CheckpointFormat& checkpoint, std::int32_t layer,
                     std::string_view matrix, TensorId weight, Graph* graph);

// Where `storage` is another narrow type than that of most matrices: all matrices of layers, those
// of other formats and of 16 bits too, have the format of most from here on, and so has a head that
// is narrow. Whether any had another.
bool takes_all_as(DType storage, CheckpointFormat* checkpoint);

// Groups of matrices of layers with their formats: "NVFP4 in routed experts, FP8 in attention
// (16 bits in layers 0-2)". Empty where the file states none or one for all.
std::string stored_text(const CheckpointFormat& checkpoint);

}  // namespace foretell

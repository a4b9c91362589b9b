// What a decoder is made of: a list of layers, each with a way to mix tokens and a feed-forward
// network. Sizes are those of the whole network, or of one rank after shard_of_parts().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/ir/dtype.hpp"

namespace foretell {

enum class MixerKind {
  kNone,        // no tokens are mixed
  kGrouped,     // softmax attention, several query heads per key head
  kLatent,      // keys and values are made from a narrow latent of each token (MLA)
  kCompressed,  // one key-value head; a window, and tokens that were compressed (DeepSeek-V4)
  kLinear,      // a linear recurrence: Scan of workloads/ir/operators/networks.hpp
};

enum class HeadNorm { kNone, kPerHead, kWhole };  // of queries and keys

// Few narrow heads that choose what attention reads (DSA, MSA).
struct IndexerPart {
  std::int64_t heads = 0;  // 0: none
  std::int64_t head_dim = 0;
  std::int64_t top_k = 0;  // blocks that are read
  std::int64_t block = 1;  // keys of a block
  bool narrow = false;     // its scores are products in FP8
  bool always = false;     // it chooses where there are fewer keys than it may choose, too
  bool shared = false;     // none of its own: what an earlier layer chose is read
};

struct MixerPart {
  MixerKind kind = MixerKind::kGrouped;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;    // of queries and keys; linear: of keys
  std::int64_t value_dim = 0;   // of a head of values
  std::int64_t rotary_dim = 0;  // rotated columns of a head; 0: none
  std::int64_t window = 0;      // keys that a query sees, its own included; 0: all
  std::int64_t stride = 0;      // … and, of those before them, one in this many; 0: none
  std::int64_t chunk = 0;       // keys are seen from the start of the chunk on; linear: see Scan
  bool sinks = false;
  bool qkv_bias = false;
  bool output_bias = false;
  HeadNorm head_norm = HeadNorm::kNone;
  bool keys_are_values = false;  // one projection serves both
  bool reads_earlier = false;    // the cache of an earlier layer: no keys and values of its own
  bool holds_keys = false;       // … though its weights for them are loaded
  bool reads_images = false;     // keys and values come from an image: calls without skip the layer
  std::int64_t adapter_rank = 0;  // of low-rank matrices beside shared projections; 0: none
  std::int64_t gate_columns = 0;  // of a gate on the result, per head; 0: none
  // Sets of projections of queries and results, of which a token takes as many as it has heads for
  // each head of keys (mixture of heads); 0: all tokens take the same.
  std::int64_t head_experts = 0;
  IndexerPart indexer;

  std::int64_t query_rank = 0;  // 0: queries come straight from the hidden state

  // Latent and compressed.
  std::int64_t kv_rank = 0;
  std::int64_t rope_dim = 0;      // columns of a key that all heads share
  bool multiplies_cache = false;  // prompts multiply the latents of the cache out, too
  std::int64_t ratio = 0;         // tokens that become one; 0: none are compressed
  std::int64_t output_groups = 1;
  std::int64_t output_rank = 0;

  // Linear; heads are those of values, kv_heads those of queries and keys.
  std::string function;  // of Scan
  std::int64_t conv_kernel = 0;
  bool conv_bias = false;
  std::int64_t decay_rank = 0;  // of the matrices that make the decay; 0: one full matrix or none
  std::int64_t gate_rank = 0;
  std::int64_t rate_rank = 0;   // RWKV: of the in-context learning rate
  std::int64_t value_rank = 0;  // RWKV: of the residual of values
  bool decay_per_key = false;   // else one decay per head
  std::int64_t gate_block = 0;  // RG-LRU: columns of a block of its gates
  DType state_type = DType::kFp32;
};

enum class FeedForwardKind { kNone, kDense, kExperts };

struct RouterPart {
  std::string function = "softmax";  // softmax, sigmoid, sqrtsoftplus
  std::int64_t groups = 1;
  std::int64_t top_groups = 1;
  bool bias = false;      // of the choice alone
  bool by_token = false;  // a table from token to experts instead of scores
};

struct FeedForwardPart {
  FeedForwardKind kind = FeedForwardKind::kDense;
  std::int64_t intermediate = 0;
  bool gated = true;
  bool bias = false;
  std::string activation = "silu";
  std::int64_t experts = 0;
  std::int64_t held = 0;  // of these on this rank
  std::int64_t top_k = 0;
  std::int64_t expert_intermediate = 0;
  std::int64_t expert_hidden = 0;  // width of what experts read and give, if not the hidden size
  std::int64_t shared_intermediate = 0;  // of all shared experts together; 0: none
  bool shared_gate = false;              // one number per token that scales their result
  bool dense_beside = false;             // a dense network works beside the experts
  bool reads_layer_input = false;        // these read what the layer does, not what attention gave
  std::int64_t idle_experts = 0;  // of the router's choice, those that give back what they get
  bool cuts_gates = false;        // gates below a quantile of their token become 0
  std::int64_t adapter_rank = 0;  // of low-rank matrices beside shared ones; 0: none
  RouterPart router;
};

enum class LayerForm {
  kPreNorm,   // norm, mixer, residual, norm, feed-forward, residual
  kSandwich,  // … and a norm after each of the two
  kPostNorm,  // norms after them only
  kParallel,  // both read one norm of the input
  kSingle,    // one norm, and either a mixer or a feed-forward network
  kLastNorm,  // a norm after each residual, and none at the end of the stack
};

// A block of attention and a feed-forward network whose weights several layers share: it reads the
// stream and the embeddings side by side, and a matrix of the layer makes its result part of what
// the layer reads.
struct SharedBlockPart {
  std::int64_t weights = -1;  // number of the set of weights; -1: there is no such block
  MixerPart mixer;
  FeedForwardPart feed_forward;
};

struct LayerPart {
  MixerPart mixer;
  // Reads the same norm, and its result is added to that of `mixer`; kNone: there is none.
  MixerPart beside = [] {
    MixerPart none;
    none.kind = MixerKind::kNone;
    return none;
  }();
  FeedForwardPart feed_forward;
  // Experts that read what `feed_forward` reads, and whose result joins the stream at the end of
  // the next layer that says so; kNone: there are none.
  FeedForwardPart aside = [] {
    FeedForwardPart none;
    none.kind = FeedForwardKind::kNone;
    return none;
  }();
  bool joins_aside = false;
  SharedBlockPart shared;
  LayerForm form = LayerForm::kPreNorm;
};

// A format of weights.
struct WeightFormat {
  std::string dtype;          // a precision policy that runs it as published; "": 16 bits
  std::string name;           // for people: "FP8 in blocks of 128 x 128"
  bool block_scales = false;  // of FP8: each 128 x 128 weights have one of their own
  bool operator==(const WeightFormat& other) const {
    return dtype == other.dtype && name == other.name;
  }
};

// What a file says of the modules that a pattern is about: a name or some of its parts in a row
// ("lm_head", "model.layers.3.mlp", "self_attn"), with * for any text, or "re:" and a regular
// expression for the whole name, or a class ("Linear": every matrix of a layer).
struct FormatRule {
  std::string pattern;
  WeightFormat format;
};

// How a checkpoint stores its weights: most of them, or those of the experts, as the base says.
struct CheckpointFormat : WeightFormat {
  std::vector<FormatRule> rules;  // the first that is about a matrix counts; none: 16 bits
  bool fp8_cache = false;
  // What follows for a decoder (stored_formats.hpp): for each layer and, last, for the head, the
  // place among `formats` of every matrix that is known. `formats` begins with that of 16 bits.
  std::vector<WeightFormat> formats;
  std::vector<std::vector<std::uint8_t>> placed;
};

// One of the matrices that make tokens of the decoder from patches.
struct ProjectorStep {
  std::int64_t in = 0;
  std::int64_t out = 0;
  bool bias = true;
  bool gated = false;   // a second matrix of the same size beside it
  bool shares = false;  // a norm and a softmax after it, in the place of a function
};

// One attention whose queries are learned and whose keys and values are patches of an image, of
// which it makes as many tokens as it has queries (MiniCPM-V, Aria).
struct ResamplerPart {
  std::int64_t queries = 0;  // 0: there is none
  std::int64_t width = 0;    // of the attention; patches of another are projected to it
  std::int64_t heads = 0;
  bool twice = false;  // a matrix without bias before each of its projections, and one after it
};

// A transformer over patches of images beside the decoder.
struct TowerPart {
  std::string name;  // "vision tower"; "": none
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t attention_width = 0;  // of queries; hidden where it says nothing else
  std::int64_t intermediate = 0;
  bool gated = false;
  bool bias = true;
  std::int64_t patch = 0;           // side of a patch in pixels
  std::int64_t patch_elements = 0;  // numbers of a patch, all channels and frames
  std::int64_t positions = 0;       // rows of a table of positions
  std::int64_t merge = 1;           // patches along a side that become one token
  std::int64_t pool = 1;            // … that are averaged before they are projected
  std::int64_t side = 0;            // pixels of every image; 0: images have any size
  bool rotates = false;             // queries and keys, by their places in the image
  ResamplerPart resampler;
  std::vector<ProjectorStep> projector;  // from merged patches to tokens of the decoder
  std::int64_t projectors = 1;           // copies of it
  std::int64_t other_parameters = 0;     // tables and norms beside those of its layers
  std::string unreadable;                // why it reads no images: "" where it does
};
std::int64_t parameters_of(const TowerPart& tower);

struct DecoderParts {
  std::vector<LayerPart> layers;
  bool layer_norm = false;         // LayerNorm instead of RMS
  bool norm_weights = true;        // norms have weights
  std::int64_t streams = 1;        // residual streams (hyper-connections)
  std::int64_t predictions = 1;    // copies of the stream, of which a layer computes one (AltUp)
  std::int64_t residual_rank = 0;  // of a low-rank residual of attention (LAuReL); 0: none
  std::int64_t draft_layers = 0;   // heads that predict further tokens (MTP)
  std::int64_t per_layer_columns = 0;  // of an embedding of its own for every layer; 0: none
  std::int64_t per_layer_vocab = 0;
  std::int64_t more_words = 0;  // rows of the table of words that no logit has
  TowerPart tower;

  bool empty() const { return layers.empty(); }
};

// Most keys that a layer of these reads back; 0: all of the context.
std::int64_t cached_window(const MixerPart& mixer);

}  // namespace foretell

// A network as its published Hugging Face config.json describes it, checked and typed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/import/hf/decoder/decoder_parts.hpp"
#include "workloads/import/hf/diffusion/denoiser_config.hpp"

namespace foretell {

// Which graph builder a network needs.
enum class Family {
  kEncoder,         // post-norm encoder: BERT, RoBERTa, DistilBERT, ALBERT, ELECTRA and their kin
  kDecoder,         // pre-norm decoder: GPT-2, OPT, Llama, Mistral, Qwen, GPT-NeoX and their kin
  kEncoderDecoder,  // T5, Whisper, T5Gemma
  kVision,          // images in or out: ResNet, VGG, U-Net, YOLO, vision transformers, diffusion
  kPipeline,        // several networks, each called a number of times
  kOnnx,            // whatever an ONNX file says
};

// One forward pass is all that there is: no tokens are generated.
constexpr bool runs_forward(Family family) {
  return family == Family::kEncoder || family == Family::kVision || family == Family::kOnnx ||
         family == Family::kPipeline;
}

enum class Norm { kLayerNorm, kRmsNorm };

// How a network knows the order of its tokens.
enum class Positions {
  kLearned,   // a table that is added to the embeddings
  kRotary,    // queries and keys are rotated
  kAlibi,     // scores fall with the distance
  kRelative,  // a learned bias of the scores by bucketed distance
};

// How attention and feed-forward network follow each other in a block of a decoder.
enum class BlockForm {
  kSequential,       // norm, attention, residual, norm, feed-forward, residual
  kParallel,         // both read the input, each through a norm of its own
  kParallelOneNorm,  // both read the same normalised input
};

enum class Activation { kGelu, kGeluTanh, kRelu, kSilu, kTanh };

// What stands on top of the last block.
enum class Head {
  kNone,           // the hidden states are the output
  kPooler,         // also: dense + tanh of the first token
  kSequence,       // class logits of the first token: dense + activation + classifier; of
                   // decoders, of the last token: one matrix
  kToken,          // class logits of every token
  kQuestion,       // start and end logits of every token
  kMaskedLm,       // vocabulary logits of every token through a transform
  kDiscriminator,  // one logit per token: dense + activation + dense
  kCausalLm,       // vocabulary logits of every token
};

// A stack of transformer blocks: norm, attention, residual, norm, feed-forward, residual.
struct TowerConfig {
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t intermediate = 0;
  Activation activation = Activation::kGelu;
  bool gated = false;  // activation(gate) * up
  bool query_bias = true;
  bool key_bias = true;
  bool value_bias = true;
  bool ffn_bias = true;
  std::int64_t registers = 0;  // learned tokens beside that of the class
};

// Networks that look at images.
// MobileNetV3: lists by block, numbers from 1.
struct VisionBlocks {
  std::vector<std::int64_t> kernels;   // sides of the depthwise windows
  std::vector<std::int64_t> inner;     // channels of the depthwise part
  std::vector<std::int64_t> weighted;  // numbers of the blocks that weight their channels
  std::int64_t swish_from = 1;         // the first block with hard swish; before, ReLU
};

struct VisionConfig {
  std::int64_t image_size = 0;        // pixels along each side, when the run does not say
  std::int64_t image_width = 0;       // where images are not square; image_size is their height
  std::int64_t frames = 1;            // of a video, when the run does not say
  std::int64_t channels = 3;          // of the image
  std::vector<std::int64_t> depths;   // blocks of each stage
  std::vector<std::int64_t> widths;   // channels of each stage
  bool bottleneck = false;            // ResNet: blocks of three convolutions instead of two
  std::int64_t patch = 0;             // side of the patches that a transformer takes as tokens
  std::vector<std::int64_t> strides;  // MobileNet: of the first block of each stage
  std::int64_t expansion = 1;  // MobileNet, Swin: channels inside a block per channel outside;
                               // ResNet: how many times wider the inside is than the usual
  std::int64_t window = 0;     // Swin: tokens along a side that look at each other
  std::vector<std::int64_t> stage_heads;  // Swin: of attention in each stage
  std::int64_t growth = 0;                // DenseNet: channels that a layer adds
  std::int64_t stages = 0;                // OpenPose: how often the result is looked at again
  std::int64_t second_labels = 0;         // OpenPose: channels of the other of the two results
  std::int64_t token_intermediate = 0;    // Mixer: width of the parts over tokens
  VisionBlocks blocks = {};               // MobileNetV3
  TowerConfig tower = {};                 // DINO: its gate, biases and registers
};

// The encoder of an encoder-decoder, where it is not like the decoder.
struct EncoderConfig {
  std::int64_t hidden = 0;  // 0: this and the next four are those of the decoder
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t intermediate = 0;
  bool own_table = false;  // of words, of `vocab` rows; else that of the decoder
  std::int64_t vocab = 0;
  std::int64_t max_len = 0;   // longest input; 0: max_seq_len of the network
  std::int64_t mel_bins = 0;  // features of a frame of sound; 0: it reads tokens
};

// Positions of an encoder of sound in a second: frames of 10 ms, of which a convolution makes half
// as many (Radford et al., "Robust Speech Recognition via Large-Scale Weak Supervision", 2.2).
inline constexpr std::int64_t kSoundPositionsPerSecond = 50;

// Texts beside the images: what CLIP compares them with, what a generator paints.
struct TextConfig {
  TowerConfig tower;
  std::int64_t vocab = 0;
  std::int64_t positions = 0;   // rows of the position table
  std::int64_t texts = 1;       // per call, however many images there are
  std::int64_t length = 0;      // tokens of each
  std::int64_t projection = 0;  // width in which texts and images are compared; 0: none
  bool causal = true;           // tokens see those before them alone
};

// DeBERTa: products of words with the places of others are part of the scores (arXiv 2006.03654).
struct DisentangledConfig {
  std::int64_t places = 0;          // rows of the table of relative places; 0: none
  bool norm = false;                // of that table
  bool shares_projections = false;  // of words, for places, too
  bool word_to_place = false;       // queries with the places of keys
  bool place_to_word = false;       // keys with the places of queries
  std::int64_t conv_kernel = 0;     // tokens of a convolution beside the first layer; 0: none
  Activation conv_activation = Activation::kTanh;
};

// Perceiver IO: latents that look at many inputs, and outputs that look at the latents.
struct PerceiverConfig {
  std::int64_t latents = 0;
  std::int64_t blocks = 0;        // that share one set of weights
  std::int64_t self_attends = 0;  // layers of a block
  std::int64_t cross_heads = 1;
};

// Image generators that remove noise step by step in a smaller, latent image.
// A decoder of videos makes one tile of a sample after another, which overlap.
struct TileConfig {
  std::int64_t pixels = 0;         // along both sides; 0: the sample is made at once
  std::int64_t pixel_stride = 0;   // from one tile to the next
  std::int64_t latent_frames = 1;  // of a tile
  std::int64_t frame_stride = 1;
  bool keeps_frames = false;  // results of the frames before stay for the next tile (Wan)
};

struct DiffusionConfig {
  std::int64_t in_channels = 0;
  std::int64_t out_channels = 0;
  std::int64_t layers_per_block = 0;
  std::vector<std::int64_t> depths;  // transformer blocks at each size; 0: none there
  std::vector<std::int64_t> heads;   // of attention, at each size
  std::int64_t text_width = 0;       // of the texts that it looks at
  std::int64_t text_length = 0;
  std::int64_t added_width = 0;    // of further conditions: pooled text, sizes; 0: none
  std::int64_t scale = 1;          // pixels of the image per pixel of the latent one
  std::int64_t frame_scale = 1;    // frames of a video per latent one; the first stands alone
  std::int64_t patch_frames = 1;   // latent frames that a token of a video has
  bool linear_projection = false;  // around the transformer blocks: linear layers, no 1x1 filters
  std::int64_t groups = 32;        // of channels, that are normalised together
  TileConfig tiles;                // of decoders of videos
};

// One network of a pipeline.
struct PipelinePart {
  std::string name;      // "unet"
  std::string workload;  // as in `foretell list workloads`
  std::int64_t calls = 1;
  std::int64_t seq_len = 0;  // of networks that take tokens
  bool guided = false;       // called for every image with and without its text
  bool one_by_one = false;   // these are calls one after the other, no batch twice as large
};

struct Architecture;

struct ModelConfig {
  std::string name;          // "bert-large-uncased"
  std::string file;          // where it was read from
  std::string published_as;  // its name on huggingface.co; empty for a file of the user's own
  std::vector<std::string> also_called;  // further names
  std::string model_type;                // "bert"
  std::string architecture;              // "BertModel"; empty: not stated, the plain model
  Family family = Family::kEncoder;
  Head head = Head::kNone;
  std::int64_t layers = 0;  // of the encoder, where there are an encoder and a decoder
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;  // fewer than heads: grouped queries
  std::int64_t head_dim = 0;
  std::int64_t intermediate = 0;  // width of the feed-forward layer
  std::int64_t vocab = 0;
  std::int64_t embedding = 0;    // width of the embedding tables; unlike hidden: projected
  std::int64_t positions = 0;    // rows of the position table; 0: no such table
  std::int64_t max_seq_len = 0;  // longest context
  double padding = 0;            // share of an encoder's tokens that are padding and are left out
  std::int64_t window = 0;       // tokens that attention looks back, its own included; 0: all
  Activation activation = Activation::kGelu;
  bool tied_embeddings = true;  // the vocabulary logits reuse the word table

  // Encoders.
  std::int64_t token_types = 0;                    // rows of the token type table; 0: no such table
  std::int64_t labels = 0;                         // of a classification head
  Activation head_activation = Activation::kTanh;  // between the two layers of the head
  // Of inputs that reach the end of a layer, the share that leaves there through a head of its own;
  // empty: all go to the end.
  std::vector<double> exits;
  // Of layers with a window, one in this many, the first included, sees all tokens; 0: no windows.
  std::int64_t all_tokens_every = 0;
  bool shared_layers = false;      // one set of weights for all blocks (ALBERT)
  std::int64_t experts_every = 0;  // the last of as many layers has experts; 0: none has
  std::int64_t adapters = 0;  // parameters of low-rank matrices that are stored beside the others
  DisentangledConfig disentangled;

  // Decoders.
  Norm norm = Norm::kLayerNorm;
  Positions position_kind = Positions::kLearned;
  BlockForm block_form = BlockForm::kSequential;
  std::int64_t rotary_dim = 0;  // rotated columns of each head
  bool fused_qkv = false;       // one projection for queries, keys and values
  bool qkv_bias = true;
  bool key_bias = true;        // of keys, where qkv_bias is on (encoders, encoder-decoders)
  bool attention_bias = true;  // of the output projection
  bool ffn_bias = true;
  bool ffn_input_bias = true;  // of its first matrices, where ffn_bias is on (encoders)
  bool head_bias = false;      // of the vocabulary logits
  bool qk_norm = false;        // queries and keys are normalised, of decoders per head
  bool gated_ffn = false;      // activation(gate) * up instead of activation(up)
  bool embedding_norm = false;
  std::int64_t experts = 0;  // feed-forward networks per block; 0: one, without routing
  std::int64_t experts_per_token = 0;

  // Encoder-decoders.
  std::int64_t decoder_layers = 0;
  std::int64_t relative_buckets = 0;
  bool norm_after = false;      // a norm after each part of a block, too
  bool sine_positions = false;  // rows of sines that are no weights, in place of a table
  bool post_norm = false;       // norms after each residual alone, and none at the end of a stack
  // Windows of the first layers of the decoder, over and over; empty: none has one.
  std::vector<std::int64_t> decoder_windows;
  std::int64_t window_of_layer(std::int64_t layer) const;
  EncoderConfig encoder;

  VisionConfig vision;
  TextConfig text;
  PerceiverConfig perceiver;
  DiffusionConfig diffusion;
  DenoiserConfig denoiser;
  std::vector<PipelinePart> parts;
  std::string left_out;  // of a pipeline: what takes time and is no part of it; "": nothing

  // Decoders whose layers differ or that are made of more than the fields above say; else empty.
  DecoderParts parts_of_decoder;
  CheckpointFormat checkpoint;
  std::shared_ptr<const Architecture> own_architecture;  // of the user's; null: none
  std::vector<std::string> notes;  // what a reader should know of how the file was understood

  // Networks in ONNX files.
  std::string onnx_file;
  std::map<std::string, std::int64_t> dimensions;  // sizes of what the file leaves open
};

// A decoder that gives a text a score or a class and generates no tokens (rerankers).
inline bool scores_texts(const ModelConfig& config) {
  return config.family == Family::kDecoder && config.head == Head::kSequence;
}

// Reads one config.json. `name` is what the network is called in reports, `file` stands in
// messages. UserError lists everything that is wrong with it: syntax, unsupported architecture,
// missing, contradictory and out-of-range fields. `own_architecture` is one of the user's, by
// whose rules a network of its model_type is read (architecture.hpp).
ModelConfig parse_model_config(const std::string& text, const std::string& name,
                               const std::string& file,
                               std::shared_ptr<const Architecture> own_architecture = nullptr);

// Adds the formats of weights that a file beside config.json states (hf_quant_config.json).
void read_format_file(const std::string& text, const std::string& file, ModelConfig* config);

// The values of model_type that can be imported, sorted.
std::vector<std::string> supported_model_types();

}  // namespace foretell

// Steps of a server on GPUs that share one copy of a decoder.
//
// In a step all tokens go through the linear layers together, while attention is a kernel for the
// decodes and one for every chunk. Kernels of a GPU follow one another, so that a step is the sum
//   of the layers without attention and the embeddings, by the number of tokens,
//   of the head, by the number of sequences that get a token,
//   of the experts and what is exchanged, by the tokens that ranks have on average,
//   of the attention of the decodes, by their number and the mean length of what they read,
//   of the attention of every chunk, by its length and what is in the cache before it.
// A chunk that reads latents (MLA) has two ways: its queries ask the cached latents themselves, or
// keys and values of every head are made of them again, which saves where many ask. What a library
// does is stated in hw/kernels (asks_latents); where nothing is, it is whichever takes less time.
// The second takes what a prompt of all tokens takes without what one of those before takes, and
// the product that makes keys and values of these. Each is executed as a call of the machine at
// points of a grid (lazy_grid.hpp); of equal layers the first and one other are executed, of layers
// with equal attention one up to what reads it. `exact` executes every size, and attention within
// its network.
//
// In a pipeline (--pp) each stage has the layers of its range, the first the embeddings and the
// last the head: together they take what one copy without stages takes, and what it takes to send
// the activations of all tokens from stage to stage.
//
// With --two-batch each of these calls is of two halves that take turns (workloads/ir/two_batches),
// on one machine and at the same time; of every kind of layer the last is executed apart, too, and
// what is exchanged while nothing computes depends on attention, too.
//
// --power-limit and --clock act on each of these calls: it runs at the clock that its power leaves
// it (model/predict/calls/limited_call.hpp). The energy of a step is the sum of theirs. Where that
// is more than the limit leaves in the time of the step, it runs at a lower clock and takes longer,
// unless a call has the lowest clock already.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "calib/fitted/shared/energy_factors.hpp"
#include "model/app/request/resolve/gpu_request.hpp"
#include "model/app/serving/steps/image_timer.hpp"
#include "model/app/serving/steps/layer_kinds.hpp"
#include "model/app/serving/steps/lazy_grid.hpp"
#include "model/serving/step_timer.hpp"

namespace foretell {

// Memory of one GPU of a worker, that the rules of an engine divide.
struct WorkerMemory {
  Bytes weights;
  Bytes kv_per_token;  // of the KV cache, all layers
  Bytes workspace;     // activations of a step of `max_tokens`
};

class GpuStepTimer : public StepTimer {
 public:
  // UserError for a network that does not generate tokens, and for what GPUs do not do.
  GpuStepTimer(const Request& request, bool exact);

  StepTime time(const StepShape& shape, int stage) override;
  int stages() const override { return static_cast<int>(reduced_.counts.size()); }
  std::int64_t executed() const override;

  const GpuRequest& resolved() const { return resolved_; }
  const GpuFactors& factors() const { return factors_; }
  const DeviceEnergy& energy() const { return energy_.asked; }
  Watts limit() const { return kept_limit(resolved_, energy_); }  // 0: none
  // Where a device that was changed draws this much: what is said of it; else "".
  std::string power_note(Watts most) const;
  WorkerMemory memory(std::int64_t max_tokens, int stage) const;
  // Of the kernels that were executed so far.
  const std::vector<std::string>& notes() const { return notes_; }
  const ImageTimer* images() const { return images_.get(); }  // null: prompts have none
  // Groups of GPUs of a worker that each have sequences of their own.
  int ranks() const;
  // In some layer keys and values are made of latents (MLA).
  bool reads_latents() const;
  // … that divide the tokens of every prompt and its cache.
  std::int64_t context_ranks() const;
  // measured / predicted of one call, 80 %.
  std::pair<double, double> interval80() const { return interval80_; }

 private:
  // The time of one execution in a stage, by part.
  struct Parts {
    double layers = 0;  // without attention, experts and exchange
    double experts = 0;
    double exchange = 0;
    double head = 0;
    double attention = 0;
    double launches = 0;
    double expansion = 0;  // of latents to keys and values; in `layers`, too
    // Energy of one GPU above active idle, likewise; that of the exchange with the layers.
    double layers_j = 0;
    double head_j = 0;
    double attention_j = 0;
    double expansion_j = 0;
  };
  // What stands for the network: fewer layers, and how many of the network each stands for.
  struct Executed {
    GpuRequest request;
    std::vector<std::vector<double>> counts;  // by stage, then by layer of `request`
    bool attention_alone = false;             // up to its last attention
  };
  // Keeps one layer of each kind in the model; equal layers take equal times.
  void keep_one_of_each_kind();
  void keep_attention_of_each_kind();
  void count_layers(const std::vector<AlikeLayers>& kinds);
  LazyGrid::Function attention_of(int stage, bool decodes);
  LazyGrid::Function exposed_of(int stage, bool decodes);
  Seconds exposed_exchange(const StepShape& shape, std::int64_t tokens, int stage,
                           Seconds without_attention);
  std::optional<bool> asks_latents(std::int64_t tokens, std::int64_t cached) const;
  // All stages, in order.
  using StageParts = std::vector<Parts>;
  // By sequences and positions of decodes, or by tokens and context of a chunk.
  const StageParts& executed_attention(bool decodes, std::int64_t x, std::int64_t y);
  StageParts run(const Executed& network, Phase phase, std::int64_t batch, std::int64_t tokens,
                 std::int64_t kv_len);
  const StageParts& dense(std::int64_t tokens);
  Parts dense_between(std::int64_t tokens, int stage);
  // To the next stage.
  Seconds handover(std::int64_t tokens);
  // Lowers the clock of a step, given with the energy of one device, until it keeps the limit.
  void keep_limit(StepTime& time) const;

  GpuRequest resolved_;
  Executed reduced_;          // to one layer of each kind
  Executed attention_alone_;  // … of attention
  GpuFactors factors_;
  BoardEnergy energy_;
  bool exact_;
  GridAxis dense_axis_;
  std::unordered_map<std::int64_t, StageParts> dense_;
  std::map<std::tuple<bool, std::int64_t, std::int64_t>, StageParts> attention_;
  std::map<std::int64_t, Seconds> handovers_;
  std::vector<LazyGrid> decode_;  // by stage
  std::vector<LazyGrid> chunk_;
  // With --two-batch: what is exchanged while nothing computes, by the same sizes.
  std::vector<LazyGrid> exposed_in_decode_;
  std::vector<LazyGrid> exposed_in_chunk_;
  std::unique_ptr<ImageTimer> images_;
  std::vector<std::string> notes_;
  std::pair<double, double> interval80_{1, 1};
  bool has_interval_ = false;
  bool limit_is_missed_ = false;  // a call draws more at the lowest clock; a note says so
};

}  // namespace foretell

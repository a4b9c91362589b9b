// What one step of a worker computes, and how long it takes through all stages.
#include <algorithm>

#include "hw/engines/size_list.hpp"
#include "model/serving/service_modules.hpp"

namespace foretell {

// Images that have the first of their tokens in this piece of a prompt, which they begin.
std::int64_t ServingWorker::images_in(const PlannedChunk& chunk) const {
  const std::int64_t each = group_.rules.image_tokens;
  if (each == 0) return 0;
  const auto begun = [&](std::int64_t tokens) {
    return std::min(group_.rules.images, (tokens + each - 1) / each);
  };
  return begun(chunk.context + chunk.tokens) - begun(chunk.context);
}

StepShape ServingWorker::shape_of(const StepPlan& plan, std::int64_t ghosts) const {
  StepShape shape;
  shape.decodes = static_cast<std::int64_t>(plan.decodes.size()) + ghosts;
  shape.tokens_each = 1 + group_.rules.drafts;
  shape.decode_positions =
      plan.decode_positions +
      (plan.decodes.empty()
           ? ghosts
           : ghosts * plan.decode_positions / static_cast<std::int64_t>(plan.decodes.size()));
  for (const PlannedChunk& chunk : plan.chunks) {
    shape.chunks.push_back({chunk.tokens, chunk.context});
    shape.images += images_in(chunk);
    if (chunk.ends_prompt) ++shape.finished_prompts;
  }
  shape.padded_tokens = shape.tokens();
  if (shape.chunks.empty() || group_.rules.mixed_graphs) {
    const std::int64_t padded = padded_size(group_.rules.graph_sizes, shape.padded_tokens);
    if (padded > 0) shape.padded_tokens = padded;
  }
  return shape;
}

StepHost ServingWorker::host_time(const StepPlan& plan) const {
  const WorkerRules& rules = group_.rules;
  const HostTimes& host = rules.host;
  const auto decodes = static_cast<double>(plan.decodes.size());
  const auto sequences = decodes + static_cast<double>(plan.chunks.size());
  StepHost time{host.per_step + host.per_sequence * sequences, Seconds(0)};
  if (!rules.overlap) return time;
  time.gap = host.gap + host.gap_per_sequence * decodes;
  // An offline load reads whole answers.
  if (!state_.setup->load->offline)
    time.gap += host.gap_per_message * (decodes / static_cast<double>(rules.stream_interval));
  return time;
}

// Kernels of prompts are compiled and loaded when they are first called; those of a prompt that
// continues what is in the cache are others.
Seconds ServingWorker::first_use(const StepPlan& plan) {
  Seconds time;
  for (const PlannedChunk& chunk : plan.chunks) {
    if (!had_prompt_) time += group_.rules.host.first_prompt;
    had_prompt_ = true;
    if (chunk.context == 0 || had_piece_) continue;
    time += group_.rules.host.first_piece;
    had_piece_ = true;
  }
  return time;
}

void ServingWorker::account(const StepTime& time) {
  auto& spent = state_.result.spent;
  const Seconds rest = time.total - time.attention - time.prompts - time.exchange - time.copies;
  spent[kCopies] += time.copies;
  spent[kPrompts] += time.prompts;
  spent[kDecodeAttention] += time.attention;
  spent[kExchange] += time.exchange + time.handover;
  spent[kDecodeRest] += std::max(Seconds(0), rest);
}

// For ranks in lock step: idle ones have no tokens, and experts get those of all.
std::vector<StepShape> ServingWorker::shapes_of_ranks() const {
  std::vector<StepShape> shapes;
  std::int64_t sum = 0;
  for (std::size_t rank = 0; rank < plans_.size(); ++rank) {
    const StepPlan& plan = *plans_[rank];
    shapes.push_back(plan.empty() ? StepShape{} : shape_of(plan, ghosts_[rank]));
    sum += shapes.back().padded_tokens;
  }
  const auto ranks = static_cast<std::int64_t>(shapes.size());
  if (ranks == 1) return shapes;
  for (StepShape& shape : shapes) shape.shared_tokens = (sum + ranks - 1) / ranks;
  return shapes;
}

bool ServingWorker::is_graphed(const StepPlan& plan, const StepShape& shape) const {
  const WorkerRules& rules = group_.rules;
  return (plan.chunks.empty() || rules.mixed_graphs) && !rules.graph_sizes.empty() &&
         shape.tokens() <= rules.graph_sizes.back();
}

// KV blocks go to the host and come from there before the step, one copy after the other as in
// vLLM V0; every device has a link of its own.
Seconds ServingWorker::copy_time(const StepPlan& plan) {
  const std::int64_t blocks = plan.blocks_out + plan.blocks_in;
  if (blocks == 0) return Seconds(0);
  state_.result.copied_blocks += blocks;
  return group_.rules.block_bytes * static_cast<double>(blocks) / group_.rules.host_rate;
}

// The time of the rank that takes longest in each stage; adds up the energy of all.
std::vector<StepTime> ServingWorker::times_of_stages(const std::vector<StepShape>& shapes,
                                                     Joules& energy) {
  std::vector<StepTime> stages(pipeline_->stages.size());
  for (std::size_t rank = 0; rank < plans_.size(); ++rank) {
    const StepPlan& plan = *plans_[rank];
    if (plan.empty()) continue;
    const bool graphed = is_graphed(plan, shapes[rank]);
    const Seconds copies = copy_time(plan);
    for (std::size_t stage = 0; stage < stages.size(); ++stage) {
      StepTime time = group_.timer->time(shapes[rank], static_cast<int>(stage));
      // Launched kernel by kernel, a step takes the longer of its launches and its kernels.
      if (!graphed) time.total = std::max(time.total, group_.rules.host.per_launch * time.launches);
      const Seconds images =
          std::max(time.images, group_.rules.host.per_launch * time.image_launches);
      time.total += images;
      time.prompts += images;
      energy += time.energy;
      state_.result.most_power = std::max(state_.result.most_power, time.power);
      if (stage == 0) {
        time.copies = copies;
        time.total += copies;
      }
      if (time.total > stages[stage].total) stages[stage] = time;
    }
  }
  return stages;
}

// Sends a step that was planned now through the stages and returns when it leaves the last one;
// `work` is what it takes without waiting for other steps. One host prepares the steps of all
// batches one after the other: before a step, or where it overlaps, while the step runs, but for a
// gap before it.
Seconds ServingWorker::pass_stages(const std::vector<StepTime>& stages, const StepHost& host,
                                   Seconds& work) {
  const bool overlap = group_.rules.overlap;
  PipelineFree& free = *pipeline_;
  Seconds at = std::max(service_now(), free.host);
  const Seconds waited = at - service_now();  // while the host prepared steps of other batches
  Seconds device;
  Seconds all;
  at += overlap ? host.gap : host.work;
  free.host = at;
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    const StepTime& time = stages[stage];
    const Seconds total = std::max(time.total, Seconds(1 / kServiceTicks));
    account(time);
    at = std::max(at, free.stages[stage]);
    if (stage == 0 && overlap) free.host = at + host.work;
    at += total;
    free.stages[stage] = at;
    at += time.handover;
    all += total + time.handover;
    device += time.total + time.handover;
  }
  all = overlap ? host.gap + std::max(all, host.work) : all + host.work;
  const Seconds shown = waited + std::max(Seconds(0), all - device);
  state_.result.spent[kHost] += shown;
  state_.result.host_bound += overlap && host.work >= device ? waited + all : shown;
  work = all;
  return overlap ? std::max(at, free.host) : at;
}

void ServingWorker::time_step() {
  StepHost host;
  std::int64_t decodes = 0;
  std::int64_t prompts = 0;
  std::int64_t tokens = 0;
  Joules energy;
  const std::vector<StepShape> shapes = shapes_of_ranks();
  const std::vector<StepTime> stages = times_of_stages(shapes, energy);
  for (std::size_t rank = 0; rank < plans_.size(); ++rank) {
    const StepPlan& plan = *plans_[rank];
    if (plan.empty()) continue;
    const StepHost of_rank = host_time(plan);
    host.work = std::max(host.work, of_rank.work + first_use(plan));
    host.gap = std::max(host.gap, of_rank.gap);
    decodes += static_cast<std::int64_t>(plan.decodes.size());
    prompts += static_cast<std::int64_t>(plan.chunks.size());
    tokens += shapes[rank].tokens();
  }
  decodes_since_look_ =
      prompts > 0 ? group_.rules.schedule.receive_interval : decodes_since_look_ + 1;
  std::fill(ghosts_.begin(), ghosts_.end(), 0);
  const Seconds now = service_now();
  Seconds work;
  const Seconds end = pass_stages(stages, host, work);
  const Seconds total = stages.size() == 1 ? work : end - now;
  ServiceResult& result = state_.result;
  ++result.steps;
  if (decodes > 0) {
    ++result.decode_steps;
    result.batch_sum += static_cast<double>(decodes);
  }
  result.busy += work;
  result.step_energy += energy;
  note_batch(result, now, decodes);
  if (refusal_ == Refusal::kTokens || refusal_ == Refusal::kOrder)
    result.waited[kForTokens] += work;
  if (refusal_ == Refusal::kSequences) result.waited[kForSequences] += work;
  if (refusal_ == Refusal::kBlocks) result.waited[kForBlocks] += work;
  result.spent[kIdle] += std::max(Seconds(0), now - idle_since_);
  if (result.slices.size() < state_.setup->slices) {
    result.slices.push_back({now, total, batch_, static_cast<std::int32_t>(decodes),
                             static_cast<std::int32_t>(prompts), tokens, energy});
  }
  step_begin_ = now;
  wake_.notify(service_time(total));
}

}  // namespace foretell

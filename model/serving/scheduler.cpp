#include "model/serving/scheduler.hpp"

#include <algorithm>
#include <utility>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

// Chains of openings, of sessions and of single requests have numbers of their own.
constexpr std::int64_t kOfOpenings = std::int64_t{1} << 40;
constexpr std::int64_t kOfRequests = std::int64_t{1} << 41;

}  // namespace

Scheduler::Scheduler(const WorkerRules& rules)
    : rules_(rules), pool_(rules.blocks), ratio_(rules.schedule.partial_start) {
  const bool swaps = rules.preemption == Preemption::kSwap;
  if (rules.prefix_cache)
    cache_ = std::make_unique<PrefixCache>(pool_, swaps ? 0 : rules.host_blocks);
}

bool Scheduler::fits(std::int64_t input, std::int64_t output) const {
  const std::int64_t longest = rules_.prefill_only ? input : input + output - 1;
  const bool step = rules_.chunking || rules_.decode_only || input <= rules_.max_tokens;
  return step && blocks_for(longest, rules_.block) + rules_.watermark_blocks <= pool_.total();
}

std::int64_t Scheduler::load() const {
  std::int64_t sum = 0;
  for (const Sequence* one : running_)
    sum += std::int64_t{one->input} + one->output - one->computed;
  for (const Sequence* one : waiting_) sum += std::int64_t{one->input} + one->output;
  for (const Sequence* one : away_) sum += std::int64_t{one->input} + one->output - one->computed;
  return sum;
}

std::int64_t Scheduler::known_tokens() const {
  std::int64_t sum = 0;
  for (const Sequence* one : running_) sum += one->known();
  for (const Sequence* one : waiting_) sum += one->known();
  for (const Sequence* one : away_) sum += one->known();
  return sum;
}

bool Scheduler::take(std::int64_t blocks) {
  if (cache_ && blocks <= free_blocks()) cache_->make_room(blocks);
  return pool_.take(blocks);
}

std::int64_t Scheduler::free_blocks() const {
  return pool_.free() + (cache_ ? cache_->evictable() : 0);
}

PrefixKeys Scheduler::keys_of(const Sequence& sequence) const {
  PrefixKeys keys;
  std::int64_t end = 0;     // tokens
  std::int64_t blocks = 0;  // full ones up to there
  for (const SharedPart& part : sequence.opening) {
    end = std::min<std::int64_t>(end + part.tokens, sequence.input);
    const std::int64_t full = end / rules_.block;
    keys.opening.push_back({kOfOpenings + part.chain, full - std::exchange(blocks, full)});
  }
  keys.own = sequence.session >= 0 ? sequence.session : kOfRequests + sequence.request;
  return keys;
}

// What the cache has of a sequence that is to be admitted; at least one token is computed.
void Scheduler::find_prefix(Sequence* sequence) {
  if (!cache_ || sequence->cached) return;
  const PrefixCache::Hit hit =
      cache_->acquire(keys_of(*sequence), (sequence->known() - 1) / rules_.block);
  sequence->cached = true;
  sequence->shared = static_cast<std::int32_t>(hit.blocks * rules_.block);
  sequence->computed = sequence->shared;
  plan_.blocks_in += hit.loaded;
}

void Scheduler::leave_prefix(Sequence* sequence) {
  if (!sequence->cached) return;
  cache_->release(keys_of(*sequence));
  sequence->cached = false;
  sequence->shared = 0;
  sequence->computed = 0;
}

// The blocks of a sequence that leaves; `keep`: others may find what it computed.
void Scheduler::give_back(Sequence* sequence, bool keep) {
  if (sequence->cached && keep) {
    sequence->blocks -= cache_->adopt(keys_of(*sequence), sequence->shared / rules_.block,
                                      sequence->computed / rules_.block);
  }
  pool_.give_back(sequence->blocks);
  sequence->blocks = 0;
  leave_prefix(sequence);
}

// To the memory of the host; false where that is full.
bool Scheduler::send_away(Sequence* victim) {
  if (rules_.preemption != Preemption::kSwap || host_used_ + victim->blocks > rules_.host_blocks)
    return false;
  victim->away = victim->blocks;
  host_used_ += victim->away;
  plan_.blocks_out += victim->away;
  pool_.give_back(victim->blocks);
  victim->blocks = 0;
  return true;
}

// First come, first served; with the blocks of the token that comes next.
void Scheduler::bring_back() {
  while (!away_.empty() && budget_ > 0) {
    Sequence* sequence = away_.front();
    const std::int64_t tokens = cut(sequence->known() - sequence->computed);
    if (tokens == 0 || !has_place()) return;
    const std::int64_t needed = blocks_needed(*sequence, tokens);
    if (!take(needed)) return;
    sequence->blocks = needed;
    plan_.blocks_in += sequence->away;
    host_used_ -= std::exchange(sequence->away, 0);
    away_.pop_front();
    running_.push_back(sequence);
    put(sequence, tokens);
  }
}

std::int64_t Scheduler::blocks_needed(const Sequence& sequence, std::int64_t tokens) const {
  const std::int64_t end =
      std::min(sequence.computed + tokens + rules_.drafts, rules_.max_length) - sequence.shared;
  return std::max<std::int64_t>(
      0, blocks_for(std::max<std::int64_t>(0, end), rules_.block) - sequence.blocks);
}

std::int64_t Scheduler::blocks_at_end(const Sequence& sequence) const {
  const std::int64_t answer = rules_.prefill_only ? 0 : sequence.output - 1;
  return blocks_for(sequence.input + answer + rules_.drafts - sequence.shared, rules_.block);
}

// The most of a prompt that fits the step.
std::int64_t Scheduler::cut(std::int64_t missing) const {
  if (missing <= budget_) return missing;
  if (!rules_.chunking) return 0;
  return budget_ / rules_.schedule.chunk_unit * rules_.schedule.chunk_unit;
}

void Scheduler::put(Sequence* sequence, std::int64_t tokens) {
  sequence->planned = static_cast<std::int32_t>(tokens);
  budget_ -= tokens;
  const std::int64_t missing = sequence->known() - sequence->computed;
  if (missing == 1 && sequence->generated > 0) {
    plan_.decodes.push_back(sequence);
    plan_.decode_positions += sequence->computed + tokens;
    return;
  }
  ++prompts_;
  plan_.chunks.push_back({sequence, tokens, sequence->computed, tokens == missing});
}

void Scheduler::preempt(Sequence* victim) {
  committed_ -= std::exchange(victim->committed, 0);
  const bool away = send_away(victim);
  if (!away) {
    // One that keeps its place in the queue may find its own blocks again.
    give_back(victim, rules_.preemption != Preemption::kMinToEnd);
    victim->computed = victim->shared;
  }
  if (victim->planned > 0) {  // it was in this step already
    budget_ += victim->planned;
    const auto decode = std::find(plan_.decodes.begin(), plan_.decodes.end(), victim);
    if (decode != plan_.decodes.end()) {
      plan_.decode_positions -= victim->known();
      plan_.decodes.erase(decode);
    } else {
      const auto chunk =
          std::find_if(plan_.chunks.begin(), plan_.chunks.end(),
                       [victim](const PlannedChunk& one) { return one.sequence == victim; });
      if (chunk != plan_.chunks.end()) plan_.chunks.erase(chunk);
    }
    victim->planned = 0;
  }
  ++victim->preemptions;
  ++preemptions_;
  ++plan_.preempted;
  running_.erase(std::find(running_.begin(), running_.end(), victim));
  if (away) {
    away_.push_back(victim);
  } else if (rules_.preemption != Preemption::kMinToEnd) {
    waiting_.push_front(victim);
  } else {
    waiting_.push_back(victim);
  }
}

// A request gives blocks back; false when it is the one that asks, or none can.
bool Scheduler::make_room(Sequence* asking) {
  if (rules_.preemption == Preemption::kNever || running_.empty()) return false;
  Sequence* victim = running_.back();
  if (rules_.preemption == Preemption::kMinToEnd) {
    victim = *std::min_element(running_.begin(), running_.end(),
                               [](const Sequence* a, const Sequence* b) {
                                 if (a->generated != b->generated)
                                   return a->generated < b->generated;
                                 return a->input > b->input;
                               });
    if (running_.size() == 1) return false;
    const double after = static_cast<double>(victim->generated + 1) / (victim->output + 1);
    ratio_ = std::min(1.0, std::max(ratio_, after));
  }
  preempt(victim);
  return victim != asking;
}

bool Scheduler::take_blocks(Sequence* sequence, std::int64_t tokens) {
  const std::int64_t needed = blocks_needed(*sequence, tokens);
  while (!take(needed)) {
    if (!make_room(sequence)) return false;
  }
  sequence->blocks += needed;
  return true;
}

bool Scheduler::has_place() const {
  const auto running = static_cast<std::int64_t>(running_.size());
  return running == 0 || running + held_places_ < rules_.max_sequences;
}

void Scheduler::plan_running() {
  // Preempted ones leave the list, at its end or anywhere.
  for (std::size_t i = 0; i < running_.size();) {
    Sequence* sequence = running_[i];
    std::int64_t tokens = sequence->known() - sequence->computed;
    if (tokens > budget_) tokens = cut(tokens);
    if (tokens == 0) {
      ++i;
      continue;
    }
    if (sequence->planned > 0) {
      ++i;
      continue;
    }
    if (!take_blocks(sequence, tokens)) {
      const bool stays = i < running_.size() && running_[i] == sequence;
      if (stays) ++i;
      continue;
    }
    put(sequence, tokens);
    // Earlier ones may have left: find the place again.
    if (i >= running_.size() || running_[i] != sequence) {
      i = static_cast<std::size_t>(std::find(running_.begin(), running_.end(), sequence) -
                                   running_.begin());
    }
    ++i;
  }
}

// Blocks that a new sequence has to find beside those of its first chunk.
bool Scheduler::admits(const Sequence& sequence, std::int64_t tokens) {
  const std::int64_t needed = blocks_needed(sequence, tokens);
  switch (rules_.admission) {
    case Admission::kNone:
      return needed + rules_.watermark_blocks <= free_blocks();
    case Admission::kFull: {
      // Blocks of others that are shared stay as well.
      const std::int64_t shared = cache_ ? cache_->blocks() - cache_->evictable() : 0;
      return committed_ + shared + blocks_at_end(sequence) <= pool_.total();
    }
    case Admission::kPartial: {
      double reserved = 0;
      for (const Sequence* one : running_) {
        const std::int64_t left = std::int64_t{one->output} - one->generated;
        reserved +=
            static_cast<double>(std::min<std::int64_t>(left, rules_.schedule.partial_clip)) *
            ratio_;
      }
      const std::int64_t own = std::min<std::int64_t>(sequence.output - sequence.generated,
                                                      rules_.schedule.partial_clip);
      const auto block = static_cast<double>(rules_.block);
      const double free = static_cast<double>(free_blocks()) * block - reserved;
      const bool whole = tokens >= sequence.known() - sequence.computed;
      const double asked = static_cast<double>(tokens) + (whole ? static_cast<double>(own) : 0);
      return asked + block <= free || (running_.empty() && needed <= free_blocks());
    }
  }
  throw InternalError(__FILE__, __LINE__, "an admission without a rule");
}

// Prompts that come one by one are held back to share a step, as long as others decode.
bool Scheduler::holds_back() {
  if (rules_.schedule.wait_steps == 0 || waiting_.empty() || plan_.decodes.empty() ||
      !plan_.chunks.empty())
    return false;
  const double enough = rules_.schedule.wait_share * static_cast<double>(rules_.max_tokens);
  double tokens = 0;
  for (const Sequence* one : waiting_) {
    tokens += static_cast<double>(one->known() - one->computed);
    if (tokens >= enough) break;
  }
  if (tokens < enough && held_steps_ < rules_.schedule.wait_steps) {
    ++held_steps_;
    return true;
  }
  held_steps_ = 0;
  return false;
}

void Scheduler::admit() {
  plan_.refusal = Refusal::kNothingWaits;
  if (holds_prompts_ && !waiting_.empty()) {
    plan_.refusal = Refusal::kOrder;
    return;
  }
  while (!waiting_.empty()) {
    Sequence* sequence = waiting_.front();
    if (!has_place()) {
      plan_.refusal = Refusal::kSequences;
      return;
    }
    if (budget_ <= 0) {
      plan_.refusal = Refusal::kTokens;
      return;
    }
    if (rules_.schedule.prefills_per_step > 0 && prompts_ >= rules_.schedule.prefills_per_step) {
      plan_.refusal = Refusal::kOrder;
      return;
    }
    if (sequence->computed == 0 && sequence->shared > 0) sequence->computed = sequence->shared;
    find_prefix(sequence);
    const std::int64_t tokens = cut(sequence->known() - sequence->computed);
    if (tokens == 0) {
      leave_prefix(sequence);
      plan_.refusal = Refusal::kTokens;
      return;
    }
    if (!admits(*sequence, tokens) || !take(blocks_needed(*sequence, tokens))) {
      leave_prefix(sequence);
      plan_.refusal = Refusal::kBlocks;
      blocked_ = rules_.prefill_first;
      return;
    }
    if (sequence->cached) cached_tokens_ += sequence->shared;
    sequence->blocks += blocks_needed(*sequence, tokens);
    if (rules_.admission == Admission::kFull) {
      sequence->committed = blocks_at_end(*sequence);
      committed_ += sequence->committed;
    }
    waiting_.pop_front();
    running_.push_back(sequence);
    put(sequence, tokens);
  }
}

bool Scheduler::has_open_prompt() const {
  return std::any_of(running_.begin(), running_.end(), [](const Sequence* one) {
    return one->known() - one->computed > 1 || one->generated == 0;
  });
}

void Scheduler::plan_decodes_alone() {
  plan_running();
  if (!plan_.decodes.empty() && ratio_ > rules_.schedule.partial_floor) {
    ratio_ = std::max(rules_.schedule.partial_floor,
                      ratio_ - (rules_.schedule.partial_start - rules_.schedule.partial_floor) /
                                   rules_.schedule.partial_steps);
  }
}

const StepPlan& Scheduler::plan() {
  plan_step();
  held_places_ = 0;
  holds_prompts_ = false;
  return plan_;
}

void Scheduler::plan_step() {
  plan_.decodes.clear();
  plan_.chunks.clear();
  plan_.decode_positions = 0;
  plan_.preempted = 0;
  plan_.blocks_out = 0;
  plan_.blocks_in = 0;
  prompts_ = 0;
  budget_ = rules_.max_tokens;
  if (!rules_.prefill_first) {
    plan_running();
    if (plan_.preempted == 0) bring_back();
    if (!away_.empty()) {
      plan_.refusal = Refusal::kBlocks;
    } else if (holds_back()) {
      plan_.refusal = Refusal::kOrder;
    } else if (plan_.preempted == 0) {
      admit();
    }
    return;
  }
  if (running_.empty()) {
    ratio_ = rules_.schedule.partial_start;
    blocked_ = false;
  }
  const bool continues = has_open_prompt();
  if (continues) {  // the rest of a prompt that was cut
    for (Sequence* sequence : running_) {
      const std::int64_t missing = sequence->known() - sequence->computed;
      if (missing <= 1 && sequence->generated > 0) continue;
      const std::int64_t tokens = cut(missing);
      if (tokens > 0 && take_blocks(sequence, tokens)) put(sequence, tokens);
      break;
    }
  }
  if (!blocked_ && plan_.preempted == 0 && away_.empty()) {
    admit();
  } else {
    plan_.refusal = waiting() == 0 ? Refusal::kNothingWaits : Refusal::kBlocks;
  }
  // A step of decodes alone has no other limit than the places.
  if (plan_.chunks.empty()) budget_ = std::max(budget_, static_cast<std::int64_t>(running_.size()));
  if (rules_.mixed || plan_.chunks.empty()) plan_decodes_alone();
  if (plan_.chunks.empty() && plan_.preempted == 0) bring_back();
}

void Scheduler::finish(const std::vector<Sequence*>& done) {
  const auto advance = [](Sequence* sequence) {
    sequence->computed += sequence->planned;
    sequence->planned = 0;
  };
  for (Sequence* sequence : plan_.decodes) advance(sequence);
  for (const PlannedChunk& chunk : plan_.chunks) {
    advance(chunk.sequence);
    if (!chunk.sequence->cached) continue;
    // Others find the opening while its request runs; it is shared then.
    const std::int64_t hit = chunk.sequence->shared / rules_.block;
    const std::int64_t added = cache_->adopt_opening(keys_of(*chunk.sequence), hit,
                                                     chunk.sequence->computed / rules_.block);
    chunk.sequence->blocks -= added;
    chunk.sequence->shared += static_cast<std::int32_t>(added * rules_.block);
    if (rules_.admission != Admission::kFull) continue;
    chunk.sequence->committed -= added;
    committed_ -= added;
  }
  if (done.empty()) return;
  blocked_ = false;
  for (Sequence* sequence : done) {
    committed_ -= std::exchange(sequence->committed, 0);
    const std::int64_t computed = sequence->computed;  // that other workers go on from
    give_back(sequence, true);
    sequence->computed = computed;
    sequence->request = -1 - sequence->request;  // marks those that leave
  }
  running_.erase(std::remove_if(running_.begin(), running_.end(),
                                [](const Sequence* one) { return one->request < 0; }),
                 running_.end());
  for (Sequence* sequence : done) sequence->request = -1 - sequence->request;
}

}  // namespace foretell

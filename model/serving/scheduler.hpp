// What a worker computes next: the rules of a serving engine, without any notion of time.
//
// One scheduler serves all engines; its rules are data (hw/engines). In the order in which a step
// is made:
//   running first   every running sequence gets its next token or its next chunk, then waiting
//                   ones are admitted while tokens, places and blocks last
//   prefill first   waiting sequences are admitted first; with prompts in it, a step that is not
//                   `mixed` leaves all decodes out
// A sequence has `input + generated` known tokens, of which `computed` are in the KV cache. What is
// missing is computed, as far as the step allows; when nothing is, the sequence gets a token. A
// preempted sequence has computed = 0 and computes all of them again, or, by the rule swap, its
// blocks wait in the memory of the host and come back before anybody new is admitted (vLLM V0);
// where the host has no room for them they are computed again.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "model/serving/block_pool.hpp"
#include "model/serving/prefix_cache.hpp"
#include "model/serving/worker_rules.hpp"
#include "workloads/traffic/load.hpp"

namespace foretell {

// A request on a worker.
struct Sequence {
  std::int64_t request = 0;  // number of the request
  std::int32_t input = 0;
  std::int32_t output = 0;  // tokens that it will have when it is done
  std::int32_t generated = 0;
  std::int64_t computed = 0;  // tokens in the KV cache
  std::int64_t blocks = 0;
  std::int32_t planned = 0;  // tokens in the step that runs
  std::int32_t preemptions = 0;
  std::int32_t shared = 0;          // tokens of its prompt that stand in shared blocks
  std::int32_t session = -1;        // whose turns begin with all that came before; -1: none
  std::vector<SharedPart> opening;  // of its prompt
  bool cached = false;              // uses chains of the prefix cache
  std::int64_t committed = 0;       // full admission: blocks that it may take
  std::int64_t away = 0;            // blocks that wait in the memory of the host
  std::int32_t place = 0;           // the worker's own number of it
  std::int32_t decoder = -1;        // batch of decode workers that has room for it; -1: any

  std::int64_t known() const { return std::int64_t{input} + generated; }
};

struct PlannedChunk {
  Sequence* sequence;
  std::int64_t tokens;
  std::int64_t context;
  bool ends_prompt;
};

// Why a waiting sequence was not admitted.
enum class Refusal { kNothingWaits, kTokens, kSequences, kBlocks, kOrder };

struct StepPlan {
  std::vector<Sequence*> decodes;
  std::vector<PlannedChunk> chunks;
  std::int64_t decode_positions = 0;
  std::int64_t preempted = 0;
  std::int64_t blocks_out = 0;  // to the memory of the host, before the step
  std::int64_t blocks_in = 0;   // from there
  Refusal refusal = Refusal::kNothingWaits;

  bool empty() const { return decodes.empty() && chunks.empty(); }
};

class Scheduler {
 public:
  explicit Scheduler(const WorkerRules& rules);

  // The sequence outlives its stay. InternalError when it can never be served.
  void add(Sequence* sequence) { waiting_.push_back(sequence); }

  // Answers that ended and keep their places in the next step: an engine that plans ahead of the
  // GPU has not seen their end. Without others that run they are not waited for.
  void hold_places(std::int64_t places) { held_places_ = places; }

  // No request is admitted in the next step.
  void hold_prompts() { holds_prompts_ = true; }
  bool has_place() const;  // for one more

  // Makes the next step and takes its blocks; the plan is valid until the next call.
  const StepPlan& plan();

  // The step is over: its tokens are in the cache. Sequences of `done` leave and give their blocks
  // back.
  void finish(const std::vector<Sequence*>& done);

  // Could the sequence ever be served, alone?
  bool fits(std::int64_t input, std::int64_t output) const;

  std::size_t running() const { return running_.size(); }
  std::size_t waiting() const { return waiting_.size() + away_.size(); }
  // In use; those that the prefix cache keeps unused count as free.
  std::int64_t blocks_used() const { return pool_.used() - (cache_ ? cache_->evictable() : 0); }
  const BlockPool& pool() const { return pool_; }
  const PrefixCache* cache() const { return cache_.get(); }
  std::int64_t host_blocks() const { return host_used_; }        // of sequences
  std::int64_t cached_tokens() const { return cached_tokens_; }  // of prompts, found so far
  std::int64_t preemptions() const { return preemptions_; }
  std::int64_t known_tokens() const;  // of all that are here
  // Tokens of all that are here, known and still to come: what a router compares.
  std::int64_t load() const;

 private:
  void plan_step();
  void plan_running();
  void plan_decodes_alone();
  void admit();
  bool holds_back();
  bool has_open_prompt() const;
  bool take_blocks(Sequence* sequence, std::int64_t tokens);
  bool take(std::int64_t blocks);
  std::int64_t free_blocks() const;
  void find_prefix(Sequence* sequence);
  void leave_prefix(Sequence* sequence);
  void give_back(Sequence* sequence, bool keep);
  PrefixKeys keys_of(const Sequence& sequence) const;
  bool send_away(Sequence* victim);
  void bring_back();
  bool make_room(Sequence* asking);
  void preempt(Sequence* victim);
  bool admits(const Sequence& sequence, std::int64_t tokens);
  std::int64_t blocks_needed(const Sequence& sequence, std::int64_t tokens) const;
  std::int64_t blocks_at_end(const Sequence& sequence) const;
  void put(Sequence* sequence, std::int64_t tokens);
  std::int64_t cut(std::int64_t missing) const;

  const WorkerRules& rules_;
  BlockPool pool_;
  std::unique_ptr<PrefixCache> cache_;  // null: the engine has none, or the load shares nothing
  std::vector<Sequence*> running_;      // in the order in which they were admitted
  std::deque<Sequence*> waiting_;
  std::deque<Sequence*> away_;  // whose blocks are in the memory of the host
  StepPlan plan_;
  std::int64_t budget_ = 0;     // tokens left in the step
  std::int64_t prompts_ = 0;    // in the step
  std::int64_t committed_ = 0;  // full admission: blocks of all running ones at their end
  double ratio_;                // partial admission
  std::int64_t preemptions_ = 0;
  std::int64_t host_used_ = 0;
  std::int64_t cached_tokens_ = 0;
  std::int64_t held_steps_ = 0;  // prompts were held back
  std::int64_t held_places_ = 0;
  bool holds_prompts_ = false;
  bool blocked_ = false;  // prefill first: a refusal for blocks holds until a request leaves
};

}  // namespace foretell

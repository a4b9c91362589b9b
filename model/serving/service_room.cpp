// Room on the worker that makes an answer, found before its prompt begins on another.
#include "model/serving/service_modules.hpp"

namespace foretell {

void ServingWorker::ask_room(Sequence sequence) {
  sequence.decoder = batch_ - state_.decoding.front()->batch_;
  without_room_.push_back(sequence);
  let_in();
}

void ServingWorker::give_room_back(const Sequence& sequence) {
  --promised_;
  promised_tokens_ -= sequence.input;
  let_in();
}

// A place, and blocks for the prompt; every request here counts with some tokens more, which it
// may make until another ends. A worker that has none takes whatever comes.
bool ServingWorker::has_room(const Sequence& sequence) const {
  const WorkerRules& rules = group_.rules;
  const auto ranks = static_cast<std::int64_t>(ranks_.size());
  const auto here = static_cast<std::int64_t>(requests()) + promised_;
  if (here == 0) return true;
  if (here >= rules.max_sequences * ranks) return false;
  std::int64_t tokens = promised_tokens_ + sequence.input;
  for (const auto& rank : ranks_) tokens += rank->known_tokens();
  for (const Arriving& one : arriving_) tokens += one.sequence->known();
  for (const Sequence* one : inbox_) tokens += one->known();
  return tokens + rules.room_reserve * (here + 1) <= rules.blocks * rules.block * ranks;
}

void ServingWorker::let_in() {
  while (!without_room_.empty() && !state_.stopped && has_room(without_room_.front())) {
    const Sequence sequence = without_room_.front();
    without_room_.pop_front();
    ++promised_;
    promised_tokens_ += sequence.input;
    state_.begin(sequence);
  }
}

}  // namespace foretell

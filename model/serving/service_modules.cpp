#include "model/serving/service_modules.hpp"

#include <algorithm>
#include <cmath>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

enum : std::uint64_t { kGuessStream = 100 };

}  // namespace

sc_core::sc_time service_time(Seconds time) {
  return sc_core::sc_time::from_value(
      static_cast<sc_dt::uint64>(std::max(0LL, std::llround(time.value() * kServiceTicks))));
}

Seconds service_now() {
  return Seconds(static_cast<double>(sc_core::sc_time_stamp().value()) / kServiceTicks);
}

// The worker that saw most of the beginning of the prompt, if that is more than half of it, as the
// cache-aware router of SGLang; -1: none did.
std::int32_t ServiceState::worker_of(const Sequence& sequence) const {
  if (sequence.session >= 0) {
    const auto found = session_worker.find(sequence.session);
    return found == session_worker.end() ? -1 : found->second;
  }
  std::int64_t seen = 0;
  std::int32_t worker = -1;
  for (const SharedPart& part : sequence.opening) {
    const auto found = chain_worker.find(part.chain);
    if (found == chain_worker.end()) break;
    worker = found->second;
    seen += part.tokens;
  }
  return 2 * seen > sequence.input ? worker : -1;
}

ServingWorker& ServiceState::route(const std::vector<ServingWorker*>& workers,
                                   const Sequence* sequence) {
  const Router router = setup->router;
  const auto least = [&workers] {
    return std::min_element(
        workers.begin(), workers.end(),
        [](const ServingWorker* a, const ServingWorker* b) { return a->load() < b->load(); });
  };
  if (workers.size() == 1) return *workers.front();
  if (router == Router::kPrefixAware && sequence != nullptr) {
    std::int32_t worker = worker_of(*sequence);
    if (worker < 0) worker = static_cast<std::int32_t>(least() - workers.begin());
    if (sequence->session >= 0) session_worker[sequence->session] = worker;
    for (const SharedPart& part : sequence->opening) chain_worker[part.chain] = worker;
    return *workers[static_cast<std::size_t>(worker)];
  }
  if (router != Router::kRoundRobin) return **least();
  // The worker whose turn it is, and of its batches the one with the fewest requests.
  const auto batches = static_cast<std::size_t>(workers.front()->group().stages());
  std::size_t& next = &workers == &decoding ? next_decoder : next_worker;
  const std::size_t first = next++ % (workers.size() / batches) * batches;
  ServingWorker* fewest = workers[first];
  for (std::size_t i = first + 1; i < first + batches; ++i) {
    if (workers[i]->requests() < fewest->requests()) fewest = workers[i];
  }
  return *fewest;
}

void ServiceState::count_requests(std::int64_t change) {
  const Seconds now = service_now();
  result.request_time += static_cast<double>(in_service) * (now - counted_until);
  counted_until = now;
  in_service += change;
}

void ServiceState::begin(const Sequence& sequence) {
  ServingWorker& worker = route(serving, &sequence);
  result.requests[static_cast<std::size_t>(sequence.request)].worker = worker.number();
  worker.accept(sequence, true);
}

void ServiceState::answered(const Sequence& sequence, Seconds now) {
  ServedRequest& request = result.requests[static_cast<std::size_t>(sequence.request)];
  request.end_s = static_cast<float>((now - request.arrival).value());
  request.preemptions += sequence.preemptions;
  result.end = std::max(result.end, now);
  ++result.answered;
  FullWindow& full = result.full;
  if (full.begin >= Seconds(0) && full.end < Seconds(0) &&
      result.answered >= setup->load->requests - setup->places - 1) {
    full.end = now;
    full.energy = result.step_energy - full.energy;
    full.tokens = result.output_tokens - full.tokens;
  }
  count_requests(-1);
  clients->answer_came();
}

void ServiceState::first_token_came(Seconds now) {
  ++result.first_tokens;
  if (result.first_tokens == setup->places)
    result.full = {now, Seconds(-1), result.step_energy, result.output_tokens};
  clients->first_token_came();
}

ServingClients::ServingClients(const sc_core::sc_module_name& name, ServiceState& state)
    : sc_module(name), state_(state), source_(*state.setup->load) {
  SC_METHOD(send_due);
  sensitive << due_;
  dont_initialize();
  due_.notify(sc_core::SC_ZERO_TIME);
}

void ServingClients::send(const TrafficRequest& request) {
  const Seconds now = service_now();
  ServiceResult& result = state_.result;
  ServedRequest served;
  served.arrival = now;
  served.input = request.input_len;
  served.output = request.output_len;
  Sequence sequence;
  sequence.request = static_cast<std::int64_t>(result.requests.size());
  sequence.input = request.input_len;
  sequence.output = request.output_len;
  sequence.session = request.session;
  sequence.opening = request.opening;
  result.requests.push_back(served);
  result.last_arrival = now;
  state_.count_requests(1);
  const auto& decoding = state_.setup->decoding;
  if (!decoding.empty() && decoding.front().rules.room_first) {
    state_.route(state_.decoding, nullptr).ask_room(sequence);
  } else {
    state_.begin(sequence);
  }
  if (source_.is_done()) {
    double waiting = 0;
    for (const ServingWorker* one : state_.serving) waiting += static_cast<double>(one->waiting());
    for (const ServingWorker* one : state_.decoding)
      waiting += static_cast<double>(one->without_room());
    result.waiting_at_last_arrival = waiting;
    result.moving_at_last_arrival = static_cast<double>(state_.link->waiting());
  }
}

void ServingClients::send_due() {
  const Load& load = *state_.setup->load;
  if (load.is_closed()) {
    const std::int64_t together = load.staggered ? 1 : load.concurrency;
    for (; clients_ < together && !source_.is_done(); ++clients_) send(source_.next());
    return;
  }
  if (has_pending_) {
    has_pending_ = false;
    send(pending_);
  }
  while (!source_.is_done() && !state_.stopped) {
    pending_ = source_.next();
    const sc_core::sc_time at = service_time(Seconds(pending_.arrival_s));
    if (at > sc_core::sc_time_stamp()) {
      has_pending_ = true;
      due_.notify(at - sc_core::sc_time_stamp());
      return;
    }
    send(pending_);
  }
}

void ServingClients::first_token_came() {
  const Load& load = *state_.setup->load;
  if (!load.staggered || clients_ >= load.concurrency || source_.is_done() || state_.stopped)
    return;
  ++clients_;
  send(source_.next());
}

void ServingClients::answer_came() {
  if (!state_.setup->load->is_closed() || source_.is_done() || state_.stopped) return;
  send(source_.next());
}

ServingWorker::ServingWorker(const sc_core::sc_module_name& name, ServiceState& state,
                             const ServingGroup& group, std::int32_t number, std::int32_t batch,
                             std::shared_ptr<PipelineFree> free)
    : sc_module(name),
      state_(state),
      group_(group),
      number_(number),
      batch_(batch),
      pipeline_(std::move(free)),
      guesses_(state.setup->seed, kGuessStream + static_cast<std::uint64_t>(batch)) {
  for (int i = 0; i < group.ranks; ++i) ranks_.push_back(std::make_unique<Scheduler>(group.rules));
  plans_.resize(ranks_.size());
  ghosts_.resize(ranks_.size());
  SC_METHOD(arrive);
  sensitive << arrived_;
  dont_initialize();
  SC_METHOD(step);
  sensitive << wake_;
  dont_initialize();
}

std::int64_t ServingWorker::load() const {
  std::int64_t sum = 0;
  for (const auto& rank : ranks_) sum += rank->load();
  for (const Arriving& one : arriving_)
    sum += std::int64_t{one.sequence->input} + one.sequence->output;
  for (const Sequence* one : inbox_) sum += std::int64_t{one->input} + one->output;
  return sum;
}

std::size_t ServingWorker::running() const {
  std::size_t sum = 0;
  for (const auto& rank : ranks_) sum += rank->running();
  return sum;
}

std::size_t ServingWorker::waiting() const {
  std::size_t sum = arriving_.size() + inbox_.size();
  for (const auto& rank : ranks_) sum += rank->waiting();
  return sum;
}

std::size_t ServingWorker::requests() const { return running() + waiting(); }

std::int64_t ServingWorker::blocks_used() const {
  std::int64_t sum = 0;
  for (const auto& rank : ranks_) sum += rank->blocks_used();
  return sum;
}

std::int64_t ServingWorker::preemptions() const {
  std::int64_t sum = 0;
  for (const auto& rank : ranks_) sum += rank->preemptions();
  return sum;
}

void ServingWorker::add_cache(ServiceResult& result) const {
  for (const auto& rank : ranks_) {
    result.cached_tokens += rank->cached_tokens();
    if (rank->cache() == nullptr) continue;
    result.evicted_blocks += rank->cache()->evicted();
    result.offloaded_blocks += rank->cache()->offloaded();
  }
}

double ServingWorker::kv_share() const {
  const double all = static_cast<double>(group_.rules.blocks) * static_cast<double>(ranks_.size());
  return all > 0 ? static_cast<double>(blocks_used()) / all : 0;
}

void ServingWorker::accept(Sequence sequence, bool from_client) {
  Sequence* place = nullptr;
  if (free_.empty()) {
    places_.emplace_back();
    place = &places_.back();
    place->place = static_cast<std::int32_t>(places_.size() - 1);
    last_token_.emplace_back();
  } else {
    place = free_.back();
    free_.pop_back();
  }
  sequence.place = place->place;
  *place = sequence;
  const double share = group_.rules.prefix_share;
  if (from_client && share > 0) {
    place->shared = static_cast<std::int32_t>(
        std::min<double>(place->input - 1, std::floor(share * place->input)));
    place->shared -= place->shared % static_cast<std::int32_t>(group_.rules.block);
  }
  if (!from_client && sequence.decoder >= 0) {
    --promised_;
    promised_tokens_ -= sequence.input;
  }
  last_token_[static_cast<std::size_t>(place->place)] = service_now();
  sc_core::sc_time ready = sc_core::sc_time_stamp();
  if (from_client) {
    // What is there from the beginning was made of tokens before.
    const bool is_text = !state_.setup->load->offline;
    if (is_text) {
      tokenized_ = std::max(tokenized_, ready) +
                   service_time(group_.rules.host.per_prompt_token * place->input);
      ready = tokenized_;
    }
    ready += service_time(group_.rules.host.per_request +
                          group_.rules.host.per_answer * static_cast<double>(running()));
  }
  arriving_.push_back({ready, place});
  if (arriving_.size() == 1) arrived_.notify(ready - sc_core::sc_time_stamp());
}

void ServingWorker::arrive() {
  while (!arriving_.empty() && arriving_.front().ready <= sc_core::sc_time_stamp()) {
    inbox_.push_back(arriving_.front().sequence);
    arriving_.pop_front();
  }
  if (!arriving_.empty()) arrived_.notify(arriving_.front().ready - sc_core::sc_time_stamp());
  if (!busy_) wake_.notify(sc_core::SC_ZERO_TIME);
}

// What has arrived goes to the ranks with the fewest sequences. A worker that looks at it only
// after some decode steps looks at once when it is idle, and after a prompt. `arrived`: how many
// there were when it looked.
void ServingWorker::receive(std::size_t arrived) {
  if (decodes_since_look_ < group_.rules.schedule.receive_interval && running() > 0) return;
  decodes_since_look_ = 0;
  const auto end = inbox_.begin() + static_cast<std::ptrdiff_t>(arrived);
  for (auto next = inbox_.begin(); next != end; ++next) {
    Sequence* sequence = *next;
    const auto rank =
        std::min_element(ranks_.begin(), ranks_.end(), [](const auto& a, const auto& b) {
          return a->running() + a->waiting() < b->running() + b->waiting();
        });
    (*rank)->add(sequence);
  }
  inbox_.erase(inbox_.begin(), end);
}

// Adds the state of the worker from one time to another to the timeline.
void ServingWorker::sample(Seconds from, Seconds until) {
  ServiceResult& result = state_.result;
  const double share = kv_share();
  result.kv_share_time += share * (until - from);
  const auto running = static_cast<double>(this->running());
  const auto waiting = static_cast<double>(this->waiting());
  const Seconds width = result.timeline_step;
  for (Seconds at = from; at < until;) {
    const auto second = static_cast<std::size_t>(at / width);
    if (second >= kMaxSeconds) return;
    const Seconds next = std::min(until, static_cast<double>(second + 1) * width);
    if (!(next > at)) return;
    if (result.timeline.size() <= second) result.timeline.resize(second + 1);
    TimelineSecond& entry = result.timeline[second];
    const double part = (next - at) / width;
    entry.running += running * part;
    entry.waiting += waiting * part;
    entry.kv_share += share * part;
    at = next;
  }
}

void ServingWorker::note_start(const Sequence& sequence) {
  ServedRequest& request = state_.result.requests[static_cast<std::size_t>(sequence.request)];
  if (request.start < Seconds(0)) request.start = service_now();
}

// Ranks in lock step hold their prompts back until each has one and a place for it, so that they
// wait for each other's prompts less often: for some steps at most, and while all decode.
bool ServingWorker::holds_for_balance() {
  if (ranks_.size() < 2 || group_.rules.schedule.balance_steps == 0) return false;
  const auto all = [this](auto holds) {
    return std::all_of(ranks_.begin(), ranks_.end(),
                       [&holds](const auto& rank) { return holds(*rank); });
  };
  const bool together = all([](const Scheduler& rank) { return rank.waiting() > 0; }) &&
                        all([](const Scheduler& rank) { return rank.has_place(); });
  const bool decode = all([](const Scheduler& rank) { return rank.running() > 0; });
  if (!together && decode && ++held_for_balance_ < group_.rules.schedule.balance_steps) return true;
  held_for_balance_ = 0;
  return false;
}

void ServingWorker::plan_ranks() {
  refusal_ = Refusal::kNothingWaits;
  const bool holds = holds_for_balance();
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    ranks_[i]->hold_places(ghosts_[i]);
    if (holds) ranks_[i]->hold_prompts();
    plans_[i] = &ranks_[i]->plan();
    if (plans_[i]->refusal != Refusal::kNothingWaits) refusal_ = plans_[i]->refusal;
  }
}

// A host that works while the GPU does prepares a step when the one before it begins: what arrives
// later joins the step after that, but where there was nothing to prepare. Batches that take turns
// in the stages of a pipeline are prepared when their last step is over.
bool ServingWorker::plan_step(bool follows) {
  const auto is_empty = [this] {
    return std::all_of(plans_.begin(), plans_.end(),
                       [](const StepPlan* plan) { return plan->empty(); });
  };
  const bool ahead = follows && group_.rules.overlap && group_.stages() == 1;
  receive(ahead ? prepared_ : inbox_.size());
  plan_ranks();
  if (ahead && is_empty()) {
    receive(inbox_.size());
    plan_ranks();
  }
  for (const StepPlan* plan : plans_) {
    for (const PlannedChunk& chunk : plan->chunks) note_start(*chunk.sequence);
  }
  prepared_ = inbox_.size();
  if (is_empty()) {
    decodes_since_look_ = group_.rules.schedule.receive_interval;
    return false;
  }
  state_.asking.push_back(this);
  sc_core::sc_pause();
  return true;
}

std::int32_t ServingWorker::accepted_drafts() {
  std::int32_t tokens = 0;
  while (tokens < group_.rules.drafts && guesses_.uniform() < group_.rules.acceptance) ++tokens;
  return tokens;
}

void ServingWorker::give_token(Sequence* sequence, Seconds now, std::int32_t tokens) {
  ServiceResult& result = state_.result;
  ServedRequest& request = result.requests[static_cast<std::size_t>(sequence->request)];
  Seconds& last = last_token_[static_cast<std::size_t>(sequence->place)];
  const auto interval = static_cast<std::int32_t>(group_.rules.stream_interval);
  const bool counts = sequence->request >= result.warm_up;
  const bool ends = sequence->generated + tokens >= sequence->output;
  // Tokens are sent together by the worker that makes them, the first with the others of its group
  // unless the engine sends what a prompt gave at once.
  const bool group_ends =
      interval == 1 || (sequence->generated + tokens) / interval != sequence->generated / interval;
  const bool of_prompt = group_.rules.first_at_once && !group_.rules.decode_only;
  const bool is_due = group_ends || (of_prompt && request.first_s < 0);
  const bool is_sent = ends || (is_due && !group_.rules.prefill_only);
  if (is_sent && request.first_s < 0) {
    request.first_s = static_cast<float>((now - request.arrival).value());
    last = now;
    state_.first_token_came(now);
  } else if (is_sent) {
    if (counts) result.itl.add((now - last) / tokens, tokens);
    last = now;
  }
  sequence->generated += tokens;
  result.output_tokens += tokens;
  const auto second = static_cast<std::size_t>(now / result.timeline_step);
  if (second < result.timeline.size()) result.timeline[second].tokens += tokens;
}

void ServingWorker::end_rank(std::size_t rank, Seconds now) {
  const StepPlan& plan = *plans_[rank];
  if (plan.empty()) return;
  done_.clear();
  std::vector<Sequence*>& done = done_;
  for (Sequence* sequence : plan.decodes) {
    const std::int32_t left = sequence->output - sequence->generated;
    give_token(sequence, now, std::min(left, 1 + accepted_drafts()));
    sequence->computed = sequence->known() - 1 - sequence->planned;
    if (sequence->generated >= sequence->output) done.push_back(sequence);
  }
  for (const PlannedChunk& chunk : plan.chunks) {
    state_.result.prompt_tokens += chunk.tokens;
    if (!chunk.ends_prompt) continue;
    give_token(chunk.sequence, now, 1);
    const bool moves =
        group_.rules.prefill_only && chunk.sequence->generated < chunk.sequence->output;
    if (moves || chunk.sequence->generated >= chunk.sequence->output)
      done.push_back(chunk.sequence);
  }
  ranks_[rank]->finish(done);
  for (Sequence* sequence : done) {
    const Sequence gone = *sequence;
    free_.push_back(sequence);
    if (gone.generated < gone.output) {
      state_.link->send(gone);
    } else {
      if (group_.rules.prefill_only && gone.decoder >= 0)
        state_.decoding[static_cast<std::size_t>(gone.decoder)]->give_room_back(gone);
      if (group_.rules.overlap && gone.output > 1) ++ghosts_[rank];
      state_.answered(gone, now);
    }
  }
}

void ServingWorker::end_step() {
  const Seconds now = service_now();
  sample(step_begin_, now);
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) end_rank(rank, now);
  let_in();
}

void ServingWorker::step() {
  const bool follows = busy_;
  if (busy_) {
    end_step();
    busy_ = false;
    idle_since_ = service_now();
    const ServiceSetup& setup = *state_.setup;
    if (setup.progress && !state_.stopped) {
      const double share =
          static_cast<double>(state_.result.answered) / static_cast<double>(setup.load->requests);
      state_.stopped = !setup.progress(share);
    }
  }
  if (state_.stopped) return;
  busy_ = plan_step(follows);
}

}  // namespace foretell

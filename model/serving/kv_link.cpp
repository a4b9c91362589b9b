#include "model/serving/service_modules.hpp"

namespace foretell {

KvLink::KvLink(const sc_core::sc_module_name& name, ServiceState& state)
    : sc_module(name), state_(state) {
  SC_METHOD(next);
  sensitive << done_;
  dont_initialize();
}

void KvLink::send(const Sequence& sequence) {
  queue_.push_back(sequence);
  if (!busy_) {
    busy_ = true;
    done_.notify(sc_core::SC_ZERO_TIME);
    moving_ = false;
  }
}

void KvLink::next() {
  if (moving_) {
    Sequence arrived = queue_.front();
    queue_.pop_front();
    // Its prompt is in the cache of the other worker: only blocks are needed there.
    arrived.blocks = 0;
    arrived.planned = 0;
    ServingWorker& worker = arrived.decoder < 0
                                ? state_.route(state_.decoding, nullptr)
                                : *state_.decoding[static_cast<std::size_t>(arrived.decoder)];
    worker.accept(arrived, false);
  }
  moving_ = !queue_.empty();
  busy_ = moving_;
  if (!moving_) return;
  const KvLinkRules& rules = state_.setup->link;
  const Bytes bytes = rules.per_token * static_cast<double>(queue_.front().input);
  const Seconds time = rules.latency + bytes / rules.rate;
  state_.result.link_busy += time;
  state_.result.transferred += bytes;
  done_.notify(service_time(time));
}

}  // namespace foretell

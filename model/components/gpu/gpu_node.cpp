#include "model/components/gpu/gpu_node.hpp"

#include <string>
#include <utility>

namespace foretell {
namespace {

KnownTimes::Key key_of_exchange(const LinkExchange& exchange) {
  KnownTimes::Key key = {static_cast<double>(exchange.ranks), static_cast<double>(exchange.sms)};
  for (const LinkRound& round : exchange.rounds) {
    key.insert(key.end(), {static_cast<double>(round.times), round.latency.value(),
                           round.local.value(), round.local_rate.value()});
    for (const LinkMessages* sent : {&round.links, &round.network}) {
      key.insert(key.end(),
                 {static_cast<double>(sent->peers), static_cast<double>(sent->block),
                  static_cast<double>(sent->stride), sent->each.value(), sent->rate.value()});
    }
  }
  return key;
}

}  // namespace

GpuNode::GpuNode(const sc_core::sc_module_name& name, const GpuDeviceSpec& spec, int gpus,
                 const LinkPeaks& peaks, const Program& program, const Program& idle,
                 bool lock_step, bool exact)
    : sc_module(name), lock_step_(lock_step), known_(lock_step && !exact) {
  SC_METHOD(known_done);
  sensitive << known_over_;
  dont_initialize();
  all_.node = this;
  std::vector<GpuLinks*> links;
  for (int g = 0; g < gpus; ++g) {
    const std::string gpu_name = "gpu" + std::to_string(g);
    const Program& runs = lock_step && g > 0 ? idle : program;
    gpus_.push_back(std::make_unique<GpuChip>(gpu_name.c_str(), spec, runs, CollectiveSeat{this, g},
                                              peaks, exact));
    links.push_back(&gpus_.back()->links());
  }
  for (int g = 0; g < gpus; ++g) gpu(g).links().connect(links, g);
}

void GpuNode::join(int rank, std::uint32_t index, const Collective& collective,
                   CollectiveMember& member) {
  const LinkExchange& exchange = collective.exchange;
  if (!lock_step_) return gpu(rank).links().start(exchange, index, member);
  all_.member = &member;
  key_ = key_of_exchange(exchange);
  alone_ = gpu(0).sms().idle();
  const KnownTimes::Known* const known = alone_ ? known_.find(key_) : nullptr;
  if (known != nullptr) {
    for (int r = 0; r < exchange.ranks; ++r) gpu(r).links().count(exchange);
    known_sms_ = exchange.sms;
    gpu(0).sms().hold(known_sms_);
    known_over_.notify(to_sc_time(known->time));
    return;
  }
  joined_ = now_ticks();
  all_.running = exchange.ranks;
  for (int r = 0; r < exchange.ranks; ++r) gpu(r).links().start(exchange, index, all_);
}

void GpuNode::all_done() {
  if (alone_ && gpu(0).sms().idle()) known_.add(std::move(key_), {now_ticks() - joined_, 0});
  all_.member->collective_done();
}

}  // namespace foretell

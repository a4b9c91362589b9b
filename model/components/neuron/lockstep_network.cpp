#include "model/components/neuron/lockstep_network.hpp"

#include <algorithm>

#include "model/base/errors.hpp"
#include "model/components/shared/memory_access.hpp"

namespace foretell {
namespace {

// The memory traffic of a collective is spread evenly over its time, in bursts of about this size
// but not too many of them.
constexpr std::uint64_t kBurstBytes = std::uint64_t{1} << 16U;
constexpr std::uint64_t kMaxBursts = 64;

}  // namespace

LockstepNetwork::LockstepNetwork(const sc_core::sc_module_name& name,
                                 const CollectiveCostTable& costs)
    : sc_module(name), hbm("hbm"), costs_(costs), due_("due") {
  SC_METHOD(advance);
  sensitive << due_;
  dont_initialize();
}

void LockstepNetwork::join(int /*rank*/, std::uint32_t /*index*/, const Collective& collective,
                           CollectiveMember& member) {
  FORETELL_CHECK(member_ == nullptr, "a core runs one collective at a time");
  const auto cost = costs_.find(collective);
  FORETELL_CHECK(cost != costs_.end(), "a collective of unknown cost");
  cost_ = &cost->second;
  member_ = &member;
  const std::uint64_t traffic = cost_->hbm_read + cost_->hbm_written;
  bursts_ = std::clamp<std::uint64_t>(traffic / kBurstBytes, 1, kMaxBursts);
  done_ = 0;
  advance();
}

void LockstepNetwork::advance() {
  if (done_ == bursts_) {
    CollectiveMember& member = *member_;
    member_ = nullptr;
    member.collective_done();
    return;
  }
  // Shares that add up to the whole in spite of rounding.
  const auto share = [&](std::uint64_t bytes) {
    return bytes * (done_ + 1) / bursts_ - bytes * done_ / bursts_;
  };
  const Ticks now = now_ticks();
  const Ticks read = access(tlm::TLM_READ_COMMAND, share(cost_->hbm_read));
  const Ticks written = access(tlm::TLM_WRITE_COMMAND, share(cost_->hbm_written));
  const auto part = static_cast<Ticks>(share(static_cast<std::uint64_t>(cost_->duration)));
  ++done_;
  due_.notify(to_sc_time(std::max({now + part, read, written}) - now));
}

Ticks LockstepNetwork::access(tlm::tlm_command command, std::uint64_t bytes) {
  if (bytes == 0) return now_ticks();
  static const Speaker kSpeaker{[] { return std::string("a collective"); }};
  return now_ticks() +
         path_.pass(*hbm.operator->(), hbm.name(), {command, 0, bytes, 0}, 0, kSpeaker);
}

}  // namespace foretell

#include "model/components/gpu/gpu_links.hpp"

#include <algorithm>
#include <cmath>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr double kMaxMessage = 1 << 30;  // a payload counts its bytes in 32 bits
constexpr int kRoundBits = 20;           // rounds of an exchange, more than any has

std::uint64_t whole_bytes(Bytes bytes) {
  return static_cast<std::uint64_t>(std::llround(bytes.value()));
}

// Links of GPUs that only the network joins carry nothing, and need a rate.
BytesPerSecond served(BytesPerSecond peak) {
  return peak > BytesPerSecond(0) ? peak : BytesPerSecond(1);
}

int messages_of(const LinkRound& round) { return round.links.peers + round.network.peers; }

// What occupies a server of `peak` as long as `bytes` at `rate` take.
double at_peak(Bytes bytes, BytesPerSecond rate, BytesPerSecond peak) {
  FORETELL_CHECK(rate > BytesPerSecond(0), "bytes without a rate");
  return std::max(1.0, std::round(bytes.value() * (peak / rate)));
}

}  // namespace

GpuLinks::GpuLinks(const sc_core::sc_module_name& name, const LinkPeaks& peaks,
                   BytesPerSecond l2_peak, SmPool& sms)
    : sc_module(name),
      peaks_(peaks),
      l2_peak_(l2_peak),
      sms_(sms),
      out_("out", served(peaks.links)),
      in_("in", served(peaks.links)),
      links_("links"),
      network_("network") {
  links_.register_nb_transport_bw(this, &GpuLinks::nb_transport_bw);
  network_.register_nb_transport_bw(this, &GpuLinks::nb_transport_bw);
  if (!(peaks.network > BytesPerSecond(0))) return;
  network_out_ = std::make_unique<MemoryServer>("network_out", peaks.network);
  network_in_ = std::make_unique<MemoryServer>("network_in", peaks.network);
}

void GpuLinks::connect(const std::vector<GpuLinks*>& node, int rank) {
  node_ = node;
  rank_ = rank;
  links_.bind(out_.socket);
  for (GpuLinks* gpu : node_) links_.bind(gpu->in_.socket);
  if (network_out_ == nullptr) return;
  network_.bind(network_out_->socket);
  for (GpuLinks* gpu : node_) network_.bind(gpu->network_in_->socket);
}

void GpuLinks::start(const LinkExchange& exchange, std::uint32_t index, CollectiveMember& member) {
  FORETELL_CHECK(exchange_ == nullptr, "a GPU takes part in one exchange at a time");
  FORETELL_CHECK(exchange.ranks >= 2 && exchange.ranks <= static_cast<int>(node_.size()),
                 "an exchange between GPUs that the node has");
  FORETELL_CHECK(!exchange.rounds.empty(), "an exchange without rounds");
  exchange_ = &exchange;
  member_ = &member;
  round_ = 0;
  repeats_ = 0;
  serial_ = static_cast<std::uint64_t>(index) << kRoundBits;
  sms_.hold(exchange.sms);
  begin_round();
}

void GpuLinks::count(const LinkExchange& exchange) {
  for (const LinkRound& round : exchange.rounds) {
    for (const LinkMessages* sent : {&round.links, &round.network}) {
      const std::uint64_t bytes = whole_bytes(sent->each) *
                                  static_cast<std::uint64_t>(round.times) *
                                  static_cast<std::uint64_t>(sent->peers);
      sent_ += bytes;
      received_ += bytes;
    }
  }
}

void GpuLinks::begin_round() {
  leaving_ = messages_of(round());
  moving_.memory_latency = round().latency;
  moving_.l2_bytes = round().local;
  moving_.l2_rate = round().local_rate;
  sms_.start(
      moving_, 0, [this] { return "round " + std::to_string(round_) + " of a collective"; }, *this,
      std::min(1.0, round().local_rate / l2_peak_));
}

void GpuLinks::grid_ended(Ticks /*drained*/) {
  sent_messages_ = 0;
  send(round().links);
  send(round().network);
}

int GpuLinks::receiver(const LinkMessages& messages, int i) const {
  const int block = messages.block > 0 ? messages.block : exchange_->ranks;
  const int first = rank_ / block * block;
  return first + (rank_ - first + (1 + i) * messages.stride) % block;
}

void GpuLinks::send(const LinkMessages& messages) {
  for (int i = 0; i < messages.peers; ++i) {
    if (messages_.size() == sent_messages_) messages_.push_back(std::make_unique<Message>());
    Message& message = *messages_[sent_messages_++];
    message.of = &messages;
    message.to = receiver(messages, i);
    message.left = at_peak(messages.each, messages.rate,
                           &messages == &round().network ? peaks_.network : peaks_.links);
    sent_ += whole_bytes(messages.each);
    send_piece(message);
  }
}

void GpuLinks::send_piece(Message& message) {
  const double piece = std::min(message.left, kMaxMessage);
  message.left -= piece;
  message.servers = 2;
  for (tlm::tlm_generic_payload* payload : {&message.out, &message.in}) {
    payload->set_command(tlm::TLM_WRITE_COMMAND);
    payload->set_data_length(static_cast<unsigned>(piece));
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    Ways& ways = message.of == &round().network ? network_ : links_;
    ways[payload == &message.out ? 0 : 1 + message.to]->nb_transport_fw(*payload, phase, delay);
  }
}

tlm::tlm_sync_enum GpuLinks::nb_transport_bw(int /*id*/, tlm::tlm_generic_payload& payload,
                                             tlm::tlm_phase& phase, sc_core::sc_time& /*delay*/) {
  FORETELL_CHECK(phase == tlm::BEGIN_RESP, "links answer when a message is through");
  const auto found = std::find_if(messages_.begin(), messages_.end(), [&](const auto& candidate) {
    return &candidate->out == &payload || &candidate->in == &payload;
  });
  FORETELL_CHECK(found != messages_.end(), "an answer to a message that was not sent");
  Message& message = **found;
  if (--message.servers > 0) return tlm::TLM_COMPLETED;
  if (message.left > 0) {
    send_piece(message);
    return tlm::TLM_COMPLETED;
  }
  --leaving_;
  node_[static_cast<std::size_t>(message.to)]->receive(serial_, whole_bytes(message.of->each));
  end_round_if_complete();
  return tlm::TLM_COMPLETED;
}

void GpuLinks::receive(std::uint64_t serial, std::uint64_t bytes) {
  received_ += bytes;
  ++arrived_[serial];
  if (exchange_ != nullptr && serial == serial_) end_round_if_complete();
}

void GpuLinks::end_round_if_complete() {
  if (leaving_ > 0) return;
  const auto arrived = arrived_.find(serial_);
  if (arrived == arrived_.end() || arrived->second < messages_of(round())) return;
  arrived_.erase(arrived);
  ++serial_;
  if (++repeats_ == round().times) {
    repeats_ = 0;
    ++round_;
  }
  if (round_ < exchange_->rounds.size()) return begin_round();
  sms_.hold(-exchange_->sms);
  exchange_ = nullptr;
  member_->collective_done();
}

}  // namespace foretell

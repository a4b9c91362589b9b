#include "model/timing/gpu/exchange_kernels.hpp"

#include <algorithm>
#include <cmath>

namespace foretell {

double expected_bins(double bins, double choices, double experts) {
  const double held = std::max(1.0, experts / bins);
  double missed = 1;  // chance that all choices lie outside a bin
  for (double i = 0; i < choices; ++i) {
    missed *= std::max(0.0, experts - held - i) / std::max(1.0, experts - i);
  }
  return bins * (1 - missed);
}

GridSequence exchange_kernels(const LayerCall& call, const ExchangeShape& shape) {
  const LayerKernelFactors& factors = call.factors();
  const auto tokens = static_cast<double>(shape.tokens);
  const auto gpus = static_cast<double>(shape.gpus);
  const double nodes = std::ceil(gpus / static_cast<double>(shape.gpus_per_node));
  const auto choices = static_cast<double>(shape.top_k);
  const auto experts = static_cast<double>(shape.experts);
  const double copies = call.facts().per_choice ? choices : expected_bins(gpus, choices, experts);
  const double far = call.facts().per_choice
                         ? choices * (nodes - 1) / nodes
                         : expected_bins(nodes, choices, experts) * (nodes - 1) / nodes;
  const double message = static_cast<double>(shape.hidden) * call.facts().wire_bytes;
  const double bytes = shape.moves_tokens ? tokens * message : 0;
  const double taken = shape.sms > 0 ? static_cast<double>(shape.sms) : call.sms();
  Grid kernel;
  kernel.name = "exchange";
  kernel.launch = factors.launch + factors.group * (gpus - 1);
  const Seconds rows(tokens * call.seconds(factors.row) / taken);
  const auto peers = static_cast<int>(std::ceil(gpus / nodes)) - 1;  // in the node
  if (!(bytes > 0) || gpus < 2) {
    kernel.tail = rows;
  } else {
    LinkRound round;
    round.latency = rows;
    const double sent = (gpus - 1) / gpus;
    if (peers > 0) {
      BytesPerSecond rate = call.device().nvlink.bandwidth * factors.link_efficiency;
      const BytesPerSecond port(call.feed(factors.sm_feed) * taken);
      // What feeds the links feeds copies for the own GPU too.
      if (port > BytesPerSecond(0)) rate = std::min(rate, port * sent);
      round.links = {peers, Bytes(bytes * copies * sent / peers), rate, peers + 1};
    }
    if (nodes > 1) {
      const auto others = static_cast<int>(nodes) - 1;
      const BytesPerSecond network(shape.network_rate * factors.network_efficiency);
      round.network = {others, Bytes(bytes * far / others), network, 0, peers + 1};
      kernel.exchange.network = BytesPerSecond(shape.network_rate);
    }
    kernel.exchange.ranks = static_cast<int>(nodes) * (peers + 1);
    kernel.exchange.peak = call.device().nvlink.bandwidth;
    kernel.exchange.rounds = {round};
    kernel.exchange.sms = static_cast<int>(shape.sms);
  }
  GridSequence program;
  program.kernels.push_back(kernel);
  return program;
}

}  // namespace foretell

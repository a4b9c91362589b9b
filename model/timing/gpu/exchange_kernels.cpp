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
  const double link = call.device().nvlink.bandwidth.value() * factors.link_efficiency;
  const double port = call.feed(factors.sm_feed) * taken;
  const double near_time = link > 0 ? bytes * copies * (gpus - 1) / gpus / link : 0;
  const double port_time = port > 0 ? bytes * copies / port : 0;
  const double network = shape.network_rate * factors.network_efficiency;
  const double far_time = network > 0 && nodes > 1 ? bytes * far / network : 0;
  const double rows = tokens * call.seconds(factors.row) / taken;
  kernel.tail = Seconds(std::max({near_time, port_time, far_time}) + rows);
  GridSequence program;
  program.kernels.push_back(kernel);
  return program;
}

}  // namespace foretell

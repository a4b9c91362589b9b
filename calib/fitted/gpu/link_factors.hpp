// What collectives reach of the links between the GPUs of a node: fitted per device and library
// (calib/factors/gpu/collective/<device>.yaml). A factor that is zero does not apply.
#pragma once

#include "calib/fitted/gpu/kernel_factors_library.hpp"
#include "model/base/units.hpp"
#include "model/config/fields.hpp"

namespace foretell {

struct LinkFactors {
  Seconds launch;              // of the kernel, until the first message
  double link_efficiency = 0;  // of the peak rate of the links of a GPU, one direction
  BytesPerSecond local_rate;   // through the GPU itself: every byte of the operand once
  // NCCL: one step of a ring by protocol, and how many bytes it moves for one of payload.
  Seconds hop_ll;
  Seconds hop_ll128;
  Seconds hop_simple;
  double cost_ll = 0;
  double cost_ll128 = 0;
  Seconds start_simple;      // of the pipeline of large messages
  Seconds start_message;     // … of one between two GPUs; 0: those go by time as rings do
  Seconds peer;              // all-to-all: of each other GPU
  double switch_reduce = 0;  // traffic of an all-reduce in the switch, of that of a ring
  // Custom kernels.
  Seconds host;      // between two launches by the host, which the kernel before may fill
  Seconds barrier;   // between all GPUs, of each other GPU
  Seconds two_shot;  // more for the second phase
};

void fields(FieldList& list, LinkFactors& factors);

// Those that a set of a file names; the others stay zero.
LinkFactors link_factors(const FactorTable& set);

}  // namespace foretell

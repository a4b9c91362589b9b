// A small network whose layers are divided into stages and ranks.
#pragma once

#include <string>

#include "model/app/request/prediction.hpp"

namespace foretell {

inline Request gpt2_in_stages(const std::string& system, int tp, int pp) {
  Request request;
  request.system = system;
  request.workload = "gpt2";
  request.dtype = "bf16";
  request.tp = tp;
  request.pp = pp;
  request.dp = 1;
  request.input_len = 256;
  request.output_len = 64;
  return request;
}

}  // namespace foretell

// Requests that laws of networks on GPUs vary.
#pragma once

#include "model/app/request/prediction.hpp"

namespace foretell {

inline Request bert_on_h100() {
  Request request;
  request.system = "H100_SXM";
  request.workload = "bert-large-uncased";
  request.dtype = "bf16";
  request.batch = 8;
  request.seq_len = 128;
  return request;
}

inline Request llama_on_h100() {
  Request request;
  request.system = "h100-sxm-x8";
  request.workload = "llama-3-8b";
  request.dtype = "bf16";
  request.tp = 2;
  request.input_len = 512;
  request.output_len = 300;
  return request;
}

inline double gpu_call_of(const Request& request) { return predict(request).summary.call_s; }

}  // namespace foretell

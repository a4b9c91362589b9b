#include "model/app/command/other_names.hpp"

#include <algorithm>

namespace foretell {
namespace {

struct OtherNames {
  std::string_view option;
  std::vector<std::string_view> elsewhere;
};

// An option that stands earlier is preferred where a command has several.
const std::vector<OtherNames>& other_names() {
  static const std::vector<OtherNames> kNames = {
      {"--workload", {"--model", "--model-path", "--model-id", "--network", "--config"}},
      {"--on", {"--system", "--device", "--gpu", "--instance", "--instance-type", "--hardware"}},
      {"--dtype", {"--precision", "--quantization", "--data-type", "--quant"}},
      {"--input-len",
       {"--isl", "--prompt", "--prompt-len", "--prompt-tokens", "--input-length", "--input-tokens",
        "--random-input-len"}},
      {"--output-len",
       {"--osl", "--generate", "--gen-len", "--output-length", "--output-tokens",
        "--max-new-tokens", "--random-output-len", "--decode-len"}},
      {"--batch", {"--batch-size", "--bs"}},
      {"--max-batch",
       {"--max-num-seqs", "--max-running-requests", "--max-batch-size", "--batch-size", "--batch",
        "--bs"}},
      {"--seq", {"--seq-len", "--sequence-length", "--seqlen", "--tokens"}},
      {"--context", {"--max-model-len", "--max-seq-len", "--context-length", "--max-context-len"}},
      {"--tp", {"--tensor-parallel-size", "--tp-size", "--tensor-parallel"}},
      {"--pp", {"--pipeline-parallel-size", "--pp-size", "--pipeline-parallel"}},
      {"--ep", {"--expert-parallel-size", "--ep-size", "--enable-expert-parallel"}},
      {"--dp", {"--data-parallel-size", "--dp-size", "--replicas", "--copies"}},
      {"--cp", {"--context-parallel-size", "--cp-size", "--sequence-parallel-size", "--sp-size"}},
      {"--ring", {"--ring-degree", "--ring-size"}},
      {"--kv-dtype", {"--kv-cache-dtype", "--kv-type"}},
      {"--kv-fraction",
       {"--gpu-memory-utilization", "--mem-fraction-static", "--free-gpu-memory-fraction"}},
      {"--max-tokens",
       {"--max-num-batched-tokens", "--max-num-tokens", "--chunked-prefill-size",
        "--max-prefill-tokens"}},
      {"--rate", {"--request-rate", "--qps", "--rps"}},
      {"--requests", {"--num-prompts", "--num-requests"}},
      {"--concurrency", {"--max-concurrency", "--users", "--clients"}},
      {"--slo", {"--sla", "--goodput", "--promise"}},
      {"--power-limit", {"--tdp", "--power-cap", "--power"}},
      {"--engine", {"--backend", "--framework", "--server"}},
      {"--library", {"--backend", "--framework"}},
      {"--image-size", {"--resolution", "--height"}},
  };
  return kNames;
}

}  // namespace

std::string known_elsewhere(std::string_view name, const std::vector<std::string>& known) {
  for (const OtherNames& one : other_names()) {
    if (std::find(one.elsewhere.begin(), one.elsewhere.end(), name) == one.elsewhere.end()) {
      continue;
    }
    if (std::find(known.begin(), known.end(), one.option) != known.end()) {
      return std::string(one.option);
    }
  }
  return "";
}

}  // namespace foretell

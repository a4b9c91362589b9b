// The lengths that calls of a generation are compiled for, where a compiler fixes shapes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/app/request/resolve/resolved_workload.hpp"

namespace foretell {

// "64,128,512" as ascending lengths, each once. `what` names the option in a UserError.
std::vector<std::int64_t> parse_buckets(std::string_view what, std::string_view list);

// Buckets of NeuronCores: those of the request, or the smallest length of the device and its
// doubles up to the longest context (NxD Inference, configuration of buckets).
class CompiledLengths {
 public:
  // After the context of the request is resolved. UserError for buckets beyond the context, for
  // those that hold no prompt or answer of the request, and for a request that has neither.
  CompiledLengths(const ResolvedWorkload& resolved, std::int64_t smallest);

  // Tokens that the call computes for a prompt of this many. UserError where no bucket holds them.
  std::int64_t prompt(std::int64_t tokens) const;
  // Rows of the KV cache that the call reads for this many positions; likewise.
  std::int64_t cache(std::int64_t positions) const;

 private:
  std::int64_t context_;
  std::int64_t smallest_;
  std::vector<std::int64_t> prompts_;
  std::vector<std::int64_t> caches_;
};

}  // namespace foretell

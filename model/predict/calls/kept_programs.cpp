#include "model/predict/calls/kept_programs.hpp"

#include <algorithm>
#include <tuple>

#include "model/mapping/neuron/map_graph.hpp"
#include "model/mapping/shared/same_graph.hpp"

namespace foretell {
namespace {

constexpr std::size_t kBytesOfOperator = 1024;  // of a graph, with its tensors and names

// All members of a type, so that a new one does not compile until it is compared, too.

auto all_of(const PrecisionPolicy& of) {
  const auto& [name, description, matmul_compute, weight_storage, vector, io, kv_cache,
               multiplied] = of;
  return std::tie(name, description, matmul_compute, weight_storage, vector, io, kv_cache,
                  multiplied);
}

auto all_of(const CoreShape::Array& of) {
  const auto& [rows, columns, max_moving, mixes_fp8] = of;
  return std::tie(rows, columns, max_moving, mixes_fp8);
}

auto all_of(const CoreShape::Lanes& of) {
  const auto& [lanes, min_interval, access_overhead] = of;
  return std::tie(lanes, min_interval, access_overhead);
}

auto all_of(const SbufSpec& of) {
  const auto& [capacity, partitions] = of;
  return std::tie(capacity, partitions);
}

auto all_of(const PsumSpec& of) {
  const auto& [capacity, partitions, banks] = of;
  return std::tie(capacity, partitions, banks);
}

auto all_of(const InstructionLimits& of) {
  const auto& [max_elements, max_statistics] = of;
  return std::tie(max_elements, max_statistics);
}

auto all_of(const SchedulingSpec& of) {
  const auto& [activation_share, softmax_share, resident_share, flash_queries, flash_keys,
               share_cache, stream_row, pass_pixels, eviction_blocks, window_tile, loops_until] =
      of;
  return std::tie(activation_share, softmax_share, resident_share, flash_queries, flash_keys,
                  share_cache, stream_row, pass_pixels, eviction_blocks, window_tile, loops_until);
}

auto all_of(const SchedulingParameters& of) {
  const auto& [prefetch_window, operator_loops] = of;
  return std::tie(prefetch_window, operator_loops);
}

auto all_of(const ProgramLimits& of) {
  const auto& [partitions, contraction_rows, stationary_columns, moving_columns, psum_banks,
               psum_bank_columns, sbuf_free, psum_free, bn_stats, hbm_bytes, threads, ranks] = of;
  return std::tie(partitions, contraction_rows, stationary_columns, moving_columns, psum_banks,
                  psum_bank_columns, sbuf_free, psum_free, bn_stats, hbm_bytes, threads, ranks);
}

template <class Value>
bool equal(const Value& a, const Value& b) {
  return all_of(a) == all_of(b);
}

bool equal(const CoreShape& a, const CoreShape& b) {
  const auto& [tensor, vector, sbuf, psum, instruction, scheduling] = a;
  return equal(tensor, b.tensor) && equal(vector, b.vector) && equal(sbuf, b.sbuf) &&
         equal(psum, b.psum) && equal(instruction, b.instruction) &&
         equal(scheduling, b.scheduling);
}

std::size_t bytes_of(const Program& program) {
  std::size_t bytes = program.waits.size() * sizeof(Wait);
  for (const Stream& stream : program.streams) {
    bytes += std::visit(
        [](const auto& entries) { return entries.size() * sizeof(*entries.data()); }, stream.work);
  }
  return bytes;
}

}  // namespace

std::shared_ptr<const KeptProgram> KeptPrograms::get(const Graph& graph,
                                                     const PrecisionPolicy& precision,
                                                     const CoreShape& core,
                                                     const SchedulingParameters& scheduling,
                                                     const LayerStandIns& stand_ins,
                                                     const ProgramLimits& limits) {
  const auto known = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& one) {
    return equal(one.core, core) && equal(one.scheduling, scheduling) &&
           one.stand_ins == stand_ins && equal(one.precision, precision) &&
           same_graph(one.graph, graph);
  });
  if (known != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, known);
    Kept& found = kept_.front();
    if (!equal(found.limits, limits)) {
      validate(found.program->program, limits);
      found.limits = limits;
    }
    return found.program;
  }
  auto program = std::make_shared<KeptProgram>();
  program->program = map_to_neuron_core(graph, precision, core, scheduling, stand_ins);
  validate(program->program, limits);
  for (OpId id = 0; id < static_cast<OpId>(graph.ops().size()); ++id)
    program->flops.push_back(graph.flops(id));
  const std::size_t bytes = bytes_of(program->program) + graph.ops().size() * kBytesOfOperator;
  kept_.push_front({graph, precision, core, scheduling, stand_ins, limits, program, bytes});
  bytes_ += bytes;
  while (bytes_ > most_bytes_) forget_oldest();
  return program;
}

void KeptPrograms::forget_oldest() {
  bytes_ -= kept_.back().bytes;
  kept_.pop_back();
}

}  // namespace foretell

#include "model/app/request/resolve/gpu_place.hpp"

#include <algorithm>

#include "model/app/request/record/intervals.hpp"

namespace foretell {
namespace {

constexpr double kBitsPerByte = 8;

double at_least_one(std::int64_t count) {
  return static_cast<double>(std::max<std::int64_t>(count, 1));
}

}  // namespace

Place place_on_gpus(std::int64_t tokens, std::int64_t layers, int tp, DType products) {
  return {at_least_one(tokens), at_least_one(layers), at_least_one(tp),
          kBitsPerByte * size_of(products).value()};
}

Place place_on_gpus(const GpuRequest& resolved) {
  const Request& request = resolved.request;
  if (resolved.model.family == Family::kVision) {
    Place place = interval_place(request, resolved.model, IntervalQuantity::kCall);
    place.push_back(kBitsPerByte * size_of(resolved.precision.matmul_compute).value());
    return place;
  }
  const std::int64_t length = request.input_len > 0 ? request.input_len : request.seq_len;
  return place_on_gpus(std::max<std::int64_t>(request.batch, 1) * std::max<std::int64_t>(length, 1),
                       resolved.model.layers, request.tp, resolved.precision.matmul_compute);
}

}  // namespace foretell

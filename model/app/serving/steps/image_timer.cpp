#include "model/app/serving/steps/image_timer.hpp"

#include <algorithm>

#include "model/app/request/resolve/prompt_images.hpp"
#include "model/predict/calls/limited_call.hpp"
#include "model/timing/shared/energy_timing.hpp"

namespace foretell {
namespace {

constexpr GridAxis kImages{8, 8};

PatchedImage image_of(const Request& request, const ModelConfig& model) {
  Request sized = request;
  fill_image_size(sized, model);
  return prompt_image(sized, model);
}

}  // namespace

ImageTimer::ImageTimer(const Request& request, const GpuRequest& resolved,
                       const GpuFactors& factors, const BoardEnergy& energy, bool exact)
    : resolved_(resolved),
      factors_(factors),
      energy_(energy),
      exact_(exact),
      images_(request.images),
      image_(image_of(request, resolved.model)),
      costs_(kImages, kImages, exact,
             [this](std::int64_t images, std::int64_t /*one*/) { return run(images); }) {}

CallCost ImageTimer::run(std::int64_t images) {
  Graph graph =
      build_image_tower(resolved_.model, images, image_, std::max(1, resolved_.request.tp));
  apply_precision(resolved_.precision, &graph);
  GpuCall call = call_of(resolved_, graph, factors_);
  call.exact = exact_;
  const GpuCallResult result = run_within(call, energy_, clock_limits_of(resolved_));
  launches_ = static_cast<double>(result.kernels.size());
  CallCost cost;
  for (const KernelRun& kernel : result.kernels) cost.time += kernel.exposed;
  for (const OperatorMetrics& done : result.metrics.operators)
    cost.energy += added_energy(done.work, done.duration, done.clock, energy_.asked);
  return cost;
}

}  // namespace foretell

// What a worker on GPUs takes to make tokens of the images in prompts.
#pragma once

#include <cstdint>

#include "model/app/request/resolve/gpu_request.hpp"
#include "model/app/serving/steps/lazy_grid.hpp"
#include "workloads/import/hf/vision/image_prompt.hpp"

namespace foretell {

// The tower for images runs before the decoder, on all images of a step together; an engine
// launches it kernel by kernel.
class ImageTimer {
 public:
  // `request` states the images of a prompt. References are kept.
  ImageTimer(const Request& request, const GpuRequest& resolved, const GpuFactors& factors,
             const BoardEnergy& energy, bool exact);

  std::int64_t in_prompt() const { return images_; }
  std::int64_t tokens_of_one() const { return image_.tokens; }
  // Of one GPU, between sizes that are executed; `images` > 0.
  CallCost encode(std::int64_t images) { return costs_.at(images, 1); }
  // Kernels of a call, known after the first one.
  double launches() const { return launches_; }

 private:
  CallCost run(std::int64_t images);

  const GpuRequest& resolved_;
  const GpuFactors& factors_;
  const BoardEnergy& energy_;
  bool exact_;
  std::int64_t images_ = 0;
  PatchedImage image_;
  double launches_ = 0;
  LazyGrid costs_;
};

}  // namespace foretell

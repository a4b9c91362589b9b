// Images in the prompts of decoders that read them.
#pragma once

#include "model/app/request/resolve/resolved_workload.hpp"
#include "workloads/import/hf/vision/image_prompt.hpp"

namespace foretell {

bool reads_images(const ModelConfig& model);

// UserError for options about images that the network does not take so.
void check_prompt_images(const Request& request, const ModelConfig& model);
// The same for a service, whose prompts have lengths of their own.
void check_served_images(const Request& request, const ModelConfig& model);

// Fills in the size where the request states none. False: nothing says which, a usual one is taken.
bool fill_image_size(Request& request, const ModelConfig& model);

// Fills in the size of the images of a request, with a note where it states none. UserError where
// their tokens are more than the prompt has.
void resolve_prompt_images(ResolvedWorkload& resolved);

// One of the images of a resolved request.
PatchedImage prompt_image(const Request& request, const ModelConfig& model);

}  // namespace foretell

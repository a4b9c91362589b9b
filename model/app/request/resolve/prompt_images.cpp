#include "model/app/request/resolve/prompt_images.hpp"

#include <fmt/format.h>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kDefaultSide = 1024;  // pixels, of networks that take any size

}  // namespace

bool reads_images(const ModelConfig& model) { return !model.parts_of_decoder.tower.name.empty(); }

void check_prompt_images(const Request& request, const ModelConfig& model) {
  if (!reads_images(model)) {
    if (request.images == 0) return;
    throw UserError(model.name + ": reads no images beside its prompt; leave --images out");
  }
  if (const std::string& why = model.parts_of_decoder.tower.unreadable; !why.empty()) {
    if (request.images == 0 && request.image_size == 0) return;
    throw UserError(model.name + ": " + why + "; leave --images out");
  }
  if (request.frames > 0) {
    throw UserError(model.name +
                    ": makes no videos; frames that it reads are --images, one for each, or for "
                    "every two where a patch holds two; leave --frames out");
  }
  if (request.steps > 0)
    throw UserError(model.name + ": is one network; --steps is about pipelines, leave it out");
  if (request.images == 0) {
    if (request.image_size == 0 && request.image_width == 0) return;
    throw UserError(model.name +
                    ": say with --images how many images of this size every prompt has, or leave "
                    "their size out");
  }
  if (request.input_len == 0) {
    throw UserError(model.name +
                    ": --images are part of a prompt; give --input-len, their tokens included, and "
                    "--output-len");
  }
  if (request.image_width > 0 && request.image_size == 0)
    throw UserError(model.name + ": --image-width is beside a height: give --image-size, too");
  const std::int64_t side = model.parts_of_decoder.tower.side;
  const auto differs = [side](std::int64_t pixels) { return pixels > 0 && pixels != side; };
  if (side > 0 && (differs(request.image_size) || differs(request.image_width))) {
    throw UserError(fmt::format(
        "{}: reads images of {} x {} pixels; of a larger one each tile of this size is one of "
        "--images; leave --image-size out",
        model.name, side, side));
  }
}

void check_served_images(const Request& request, const ModelConfig& model) {
  if (request.image_size > 0 && !reads_images(model))
    throw UserError(model.name + ": takes tokens, not images; leave --image-size out");
  Request one = request;
  one.input_len = 1;  // lengths are those of the load
  check_prompt_images(one, model);
}

bool fill_image_size(Request& request, const ModelConfig& model) {
  const std::int64_t side = model.parts_of_decoder.tower.side;
  const bool is_stated = request.image_size > 0;
  if (!is_stated) request.image_size = side > 0 ? side : kDefaultSide;
  if (request.image_width == request.image_size) request.image_width = 0;
  return is_stated || side > 0;
}

PatchedImage prompt_image(const Request& request, const ModelConfig& model) {
  const std::int64_t width = request.image_width > 0 ? request.image_width : request.image_size;
  return patched_image(model.parts_of_decoder.tower, request.image_size, width);
}

void resolve_prompt_images(ResolvedWorkload& resolved) {
  Request& request = resolved.request;
  if (request.images == 0) return;
  if (!fill_image_size(request, resolved.model)) {
    resolved.note_unstated(
        fmt::format("image-size not stated: {} x {} pixels taken", kDefaultSide, kDefaultSide));
  }
  const std::int64_t tokens = prompt_image(request, resolved.model).tokens;
  if (request.images <= request.input_len / tokens) return;
  throw UserError(fmt::format(
      "{}: an image of {} x {} pixels is {} tokens, and {} of them are more than the {} of "
      "--input-len; give --input-len {} or more, or fewer or smaller images",
      resolved.model.name, request.image_size,
      request.image_width > 0 ? request.image_width : request.image_size, tokens, request.images,
      request.input_len, tokens * request.images));
}

}  // namespace foretell

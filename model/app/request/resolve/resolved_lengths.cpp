#include "model/app/request/resolve/resolved_lengths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "model/app/request/resolve/prompt_images.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "workloads/import/onnx/onnx_inputs.hpp"

namespace foretell {
namespace {

double sound_seconds(std::int64_t positions) {
  return static_cast<double>(positions) / static_cast<double>(kSoundPositionsPerSecond);
}

std::string longer_input_advice(const ModelConfig& model) {
  if (model.encoder.mel_bins > 0) {
    return fmt::format(
        ", a window of {:.0f} s: a longer recording is several windows, which --batch counts",
        sound_seconds(longest_input(model)));
  }
  return model.position_kind == Positions::kRotary ? "; lower it, or raise --context"
                                                   : "; lower it";
}

// A network with learned positions has no more of them than it was trained with; rotary ones can
// be compiled for longer contexts, which the user has to say.
void resolve_context(ResolvedWorkload& resolved) {
  Request& request = resolved.request;
  ModelConfig& model = resolved.model;
  const bool encodes = model.family == Family::kEncoderDecoder;
  const std::int64_t needed = cached_positions(resolved);
  if (request.context > model.max_seq_len && model.position_kind == Positions::kRotary) {
    resolved.notes.push_back(
        fmt::format("compiled for {} positions, beyond the {} that {} is made for", request.context,
                    model.max_seq_len, model.name));
    model.max_seq_len = request.context;
    if (model.encoder.max_len > 0)
      model.encoder.max_len = std::max(model.encoder.max_len, request.context);
  }
  if (encodes && request.input_len > longest_input(model)) {
    throw UserError(fmt::format("{}: input-len = {} positions, but the longest input is {}{}",
                                model.name, request.input_len, longest_input(model),
                                longer_input_advice(model)));
  }
  const std::int64_t longest =
      request.context > 0 ? std::min(request.context, model.max_seq_len) : model.max_seq_len;
  if (needed > longest) {
    const bool raises = model.position_kind == Positions::kRotary || longest < model.max_seq_len;
    throw UserError(fmt::format("{}: {} = {} positions, but the longest context is {}; {}{}",
                                model.name, encodes ? "output-len" : "input-len + output-len",
                                needed, longest, encodes ? "lower it" : "lower one of them",
                                raises ? ", or raise --context" : ""));
  }
  request.context = longest;
}

// What --dim, --batch and --seq say of one dimension of the file must agree, and what they say must
// be about one that the file leaves open: figures are per sample, as the request counts them.
class OnnxSizes {
 public:
  explicit OnnxSizes(ResolvedWorkload& resolved)
      : request_(resolved.request),
        name_(resolved.model.name),
        inputs_(onnx_inputs(resolved.model.onnx_file)),
        sizes_(request_.dimensions) {
    sizes_.insert(resolved.model.dimensions.begin(), resolved.model.dimensions.end());
  }

  void resolve() {
    const bool is_open = take("--batch", &OnnxDimension::is_batch, request_.batch, 1);
    const std::int64_t batch = std::max(request_.batch, named("batch"));
    if (!is_open && batch > 1 && !has_axis(batch)) {
      throw UserError(name_ + ": its file fixes the size of every input (" + first_input() +
                      "), so --batch cannot change it; export it with an open first dimension");
    }
    std::int64_t tokens = request_.seq_len;  // no figure is per token
    const bool has_tokens = take("--seq", &OnnxDimension::is_sequence, tokens, 0);
    if (!has_tokens && std::max(tokens, named("seq")) > 0)
      throw UserError(name_ + ": its file leaves open no dimension of a sequence; leave --seq out");
  }

 private:
  // Takes a size that is given by the name of the dimension. Is there such a dimension?
  bool take(const char* option, bool OnnxDimension::*kind, std::int64_t& value,
            std::int64_t not_stated) const {
    bool is_open = false;
    for (const OnnxDimension& dimension : inputs_) {
      if (!(dimension.*kind)) continue;
      is_open = true;
      const auto given = sizes_.find(dimension.name);
      if (given == sizes_.end() || given->second == value) continue;
      if (value != not_stated) {
        throw UserError(fmt::format("{}: {} {} and --dim {}={} are about one dimension; give one",
                                    name_, option, value, dimension.name, given->second));
      }
      value = given->second;
    }
    return is_open;
  }

  // Size by that name, or 0. The reader checks the other names, but sees these in every run.
  std::int64_t named(const std::string& name) const {
    const auto given = request_.dimensions.find(name);
    return given == request_.dimensions.end() ? 0 : given->second;
  }

  bool has_axis(std::int64_t size) const {
    return std::any_of(inputs_.begin(), inputs_.end(), [size](const OnnxDimension& dimension) {
      return dimension.axis == 0 && dimension.size == size;
    });
  }

  std::string first_input() const {
    std::vector<std::string> sizes;
    for (const OnnxDimension& dimension : inputs_) {
      if (dimension.input == inputs_.front().input)
        sizes.push_back(std::to_string(dimension.size.value_or(0)));
    }
    return inputs_.empty() ? "it has none" : inputs_.front().input + " is " + join(sizes, "x");
  }

  Request& request_;
  const std::string& name_;
  std::vector<OnnxDimension> inputs_;
  std::map<std::string, std::int64_t> sizes_;
};

}  // namespace

// A network that hears computes a whole window, whatever part of it is filled.
void resolve_sound(ResolvedWorkload& resolved) {
  const ModelConfig& model = resolved.model;
  Request& request = resolved.request;
  if (model.encoder.mel_bins == 0 || request.output_len == 0) return;
  const std::int64_t window = longest_input(model);
  const bool stated = request.input_len > 0;
  if (!stated) request.input_len = window;
  if (!stated) {
    resolved.note_unstated(
        fmt::format("input-len not stated: a window of {} positions ({:.3g} s of sound) taken",
                    window, sound_seconds(window)));
  } else if (request.input_len < window) {
    resolved.notes.push_back(
        fmt::format("input-len {}: {:.3g} s of sound, padded to a window of {:.3g} s",
                    request.input_len, sound_seconds(request.input_len), sound_seconds(window)));
  }
}

void resolve_lengths(ResolvedWorkload& resolved) {
  Request& request = resolved.request;
  if (resolved.model.family == Family::kOnnx) {
    OnnxSizes(resolved).resolve();
    std::string note = onnx_opset_note(resolved.model.onnx_file);
    if (!note.empty()) resolved.notes.push_back(std::move(note));
    return;
  }
  if (resolved.model.family == Family::kVision || resolved.model.family == Family::kPipeline) {
    const VisionConfig& vision = resolved.model.vision;
    if (request.image_size == 0) {
      request.image_size = vision.image_size;
      if (request.image_width == 0) request.image_width = vision.image_width;
    }
    if (request.image_width == request.image_size) request.image_width = 0;
    if (request.frames == 0 && vision.frames > 1) request.frames = vision.frames;
    return;
  }
  if (request.output_len > 0 && request.input_len == 0)
    throw UserError("output-len needs a prompt; add --input-len with the number of its tokens");
  if (request.input_len > 0) {
    resolve_prompt_images(resolved);
    return resolve_context(resolved);
  }
  if (request.seq_len == 0) {
    request.seq_len = default_sequence(resolved.model);
    resolved.note_unstated(
        fmt::format("sequence length not stated: {} tokens taken", request.seq_len));
  }
}

}  // namespace foretell

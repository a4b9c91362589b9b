#include "model/app/request/record/intervals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "hw/spec/neuron/sdk_version.hpp"
#include "model/base/data_root.hpp"
#include "model/base/errors.hpp"
#include "model/config/document.hpp"
#include "model/config/node_number.hpp"

namespace foretell {
namespace {

constexpr double kMaxHigh = 10;

// Zero itself is no bound of a ratio; a prediction a thousand times too high says nothing.
constexpr double kMinLow = 0.001;

Interval read_ratio(const Node& node) {
  node.required("why", "").as_text("why");
  return {required_number(node, "low", kMinLow, 1), required_number(node, "high", 1, kMaxHigh)};
}

constexpr std::array<std::pair<std::string_view, IntervalQuantity>, 3> kQuantities = {
    {{"call", IntervalQuantity::kCall},
     {"ttft", IntervalQuantity::kTtft},
     {"tpot", IntervalQuantity::kTpot}}};

}  // namespace

std::string_view interval_quantity_name(IntervalQuantity quantity) {
  for (const auto& [name, named] : kQuantities) {
    if (named == quantity) return name;
  }
  throw InternalError(__FILE__, __LINE__, "a quantity without a name");
}

namespace {

IntervalQuantity read_quantity(const Node& item) {
  const Node* node = item.find("quantity");
  if (node == nullptr) return IntervalQuantity::kCall;
  const std::string& text = node->as_text("quantity");
  for (const auto& [name, quantity] : kQuantities) {
    if (name == text) return quantity;
  }
  throw UserError(node->where() + ": quantity: '" + text + "' has to be call, ttft or tpot");
}

constexpr double kMaxPerOctave = 1;
constexpr double kMaxPerRelease = 1;
constexpr double kMaxOctaves = 100;
constexpr double kMinSize = 1e-12;  // tokens, layers, parts
constexpr double kMaxSize = 1e12;

std::vector<Place> read_places(const Node& item) {
  std::vector<Place> places;
  const Node* list = item.find("places");
  if (list == nullptr) return places;
  for (const Node& one : list->items) {
    Place place;
    for (const Node& number : one.items) {
      place.push_back(number_at(number, "places: [tokens, layers, parts]", kMinSize, kMaxSize));
    }
    places.push_back(std::move(place));
  }
  return places;
}

std::string read_newest(const Node& item) {
  const Node* newest = item.find("newest");
  if (newest == nullptr) return "";
  const std::string& text = newest->as_text("newest");
  try {
    check_sdk_version(text);
  } catch (const UserError& error) {
    throw UserError(newest->where() + ": newest: " + error.what());
  }
  return text;
}

// Side of a patch where a network takes none: the usual one of vision transformers.
constexpr std::int64_t kUsualPatch = 16;

// Patches of an image.
std::int64_t image_tokens(const Request& request, const VisionConfig& vision) {
  const std::int64_t height = request.image_size > 0 ? request.image_size : vision.image_size;
  std::int64_t width = request.image_size > 0 ? request.image_width : vision.image_width;
  if (width <= 0) width = height;
  const std::int64_t patch = vision.patch > 0 ? vision.patch : kUsualPatch;
  return std::max<std::int64_t>(1, height / patch) * std::max<std::int64_t>(1, width / patch);
}

// Blocks one after the other: those of the stages, where a network has stages.
std::int64_t depth_of(const ModelConfig& model) {
  const std::vector<std::int64_t>& stages = model.vision.depths;
  return std::max(model.layers, std::accumulate(stages.begin(), stages.end(), std::int64_t{0}));
}

// Convolutions and attention are mapped by different rules, whose errors have nothing in common.
std::string_view image_family(const ModelConfig& model) {
  if (model.diffusion.in_channels > 0) return "image generator";
  const bool convolves = !model.vision.depths.empty() && model.vision.window == 0;
  return convolves ? "convolutional network" : "vision transformer";
}

}  // namespace

IntervalTable IntervalTable::parse(const std::string& text, const std::string& shown_as) {
  const Node root = parse_document(text, shown_as);
  root.only_keys({"default", "intervals"}, "");
  IntervalTable table;
  const Node& fallback = root.required("default", "");
  fallback.only_keys({"low", "high", "why"}, "default");
  table.fallback_ = read_ratio(fallback);
  if (const Node* list = root.find("intervals"); list != nullptr) {
    for (const Node& item : list->items) {
      item.only_keys({"device", "family", "matmul", "quantity", "low", "high", "why", "within",
                      "between", "groups", "rows", "left_out", "per_octave", "octaves", "places",
                      "per_release", "newest"},
                     "intervals");
      const bool has_places = item.find("places") != nullptr;
      const bool has_newest = item.find("newest") != nullptr;
      table.entries_.push_back(
          {item.required("device", "").as_text("device"),
           item.required("family", "").as_text("family"),
           item.required("matmul", "").as_text("matmul"), read_quantity(item), read_ratio(item),
           has_places ? required_number(item, "per_octave", 0, kMaxPerOctave) : 0,
           item.find("octaves") != nullptr ? required_number(item, "octaves", 0, kMaxOctaves) : 0,
           read_places(item),
           has_newest ? required_number(item, "per_release", 0, kMaxPerRelease) : 0,
           read_newest(item)});
    }
  }
  return table;
}

IntervalTable IntervalTable::load(const std::filesystem::path& path) {
  return parse(read_text_file(path), path.filename().string());
}

IntervalChoice IntervalTable::choose(std::string_view device, std::string_view family,
                                     std::string_view matmul, IntervalQuantity quantity,
                                     const Place& place, std::string_view sdk) const {
  for (const Entry& entry : entries_) {
    if (entry.device == device && entry.family == family && entry.matmul == matmul &&
        entry.quantity == quantity) {
      const int older = entry.newest.empty() ? 0 : releases_before(sdk, entry.newest);
      return {at_release(at_distance(entry.ratio, entry.per_octave, entry.octaves,
                                     octaves_to(place, entry.places)),
                         entry.per_release, older),
              ""};
    }
  }
  const std::string what = quantity == IntervalQuantity::kCall
                               ? ""
                               : fmt::format("the {} of ", interval_quantity_name(quantity));
  return {
      fallback_,
      fmt::format("no measured interval for {}{} networks with matmuls in {} on {}: the default is "
                  "shown",
                  what, family, matmul, device)};
}

void IntervalTable::append(const IntervalTable& other) {
  entries_.insert(entries_.end(), other.entries_.begin(), other.entries_.end());
}

Interval of_changed_hardware(const Interval& ratio) {
  return {ratio.low * ratio.low, ratio.high * ratio.high};
}

const IntervalTable& default_intervals() {
  static const IntervalTable kTable = [] {
    const std::filesystem::path folder = data_root() / "calib" / "validate";
    IntervalTable table = IntervalTable::load(folder / "intervals.yaml");
    table.append(IntervalTable::load(folder / "next_network.yaml"));
    table.append(IntervalTable::load(folder / "published_intervals.yaml"));
    table.append(IntervalTable::load(folder / "served_intervals.yaml"));
    table.append(IntervalTable::load(folder / "offline_intervals.yaml"));
    return table;
  }();
  return kTable;
}

Place interval_place(const Request& request, const ModelConfig& model, IntervalQuantity quantity) {
  const std::int64_t length = quantity == IntervalQuantity::kTpot   ? 1
                              : quantity == IntervalQuantity::kTtft ? request.input_len
                              : model.family == Family::kVision
                                  ? image_tokens(request, model.vision)
                                  : request.seq_len;
  const auto number = [](std::int64_t count) {
    return static_cast<double>(std::max<std::int64_t>(count, 1));
  };
  return {number(request.batch) * number(length), number(depth_of(model)), number(request.tp)};
}

std::string_view graph_family(const ModelConfig& model) {
  return model.family == Family::kVision ? "network of images" : "network";
}

std::string_view served_device(bool separate_workers) {
  return separate_workers ? "served apart" : "served together";
}

std::string_view served_interval_family(bool has_experts) {
  return has_experts ? "experts" : "dense";
}

std::string_view interval_family(const ModelConfig& model) {
  if (model.family == Family::kDecoder) {
    if (!model.parts_of_decoder.empty()) return "decoder of mixed layers";
    if (model.experts > 0) return "decoder with experts";
  }
  switch (model.family) {
    case Family::kEncoder:
      return "encoder";
    case Family::kDecoder:
      return "decoder";
    case Family::kEncoderDecoder:
      return "encoder-decoder";
    case Family::kVision:
      return image_family(model);
    case Family::kPipeline:
      return "pipeline";
    case Family::kOnnx:
      return "onnx";
  }
  throw InternalError(__FILE__, __LINE__, "a network family without a name");
}

}  // namespace foretell

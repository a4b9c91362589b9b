#include "model/app/request/intervals.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "model/base/data_root.hpp"
#include "model/base/errors.hpp"
#include "model/config/document.hpp"

namespace foretell {
namespace {

constexpr double kMaxHigh = 10;

double number_at(const Node& node, std::string_view key, double low, double high) {
  const Node& value = node.required(key, "");
  const std::string& text = value.as_text(key);
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0' || !(number >= low) || !(number <= high)) {
    throw UserError(fmt::format("{}: {}: '{}' has to be a number from {} to {}", value.where(), key,
                                text, low, high));
  }
  return number;
}

// Zero itself is no bound of a ratio; a prediction a thousand times too high says nothing.
constexpr double kMinLow = 0.001;

Interval read_ratio(const Node& node) {
  node.required("why", "").as_text("why");
  return {number_at(node, "low", kMinLow, 1), number_at(node, "high", 1, kMaxHigh)};
}

constexpr std::array<std::pair<std::string_view, IntervalQuantity>, 3> kQuantities = {
    {{"call", IntervalQuantity::kCall},
     {"ttft", IntervalQuantity::kTtft},
     {"tpot", IntervalQuantity::kTpot}}};

std::string_view name_of(IntervalQuantity wanted) {
  for (const auto& [name, quantity] : kQuantities) {
    if (quantity == wanted) return name;
  }
  throw InternalError(__FILE__, __LINE__, "a quantity without a name");
}

IntervalQuantity read_quantity(const Node& item) {
  const Node* node = item.find("quantity");
  if (node == nullptr) return IntervalQuantity::kCall;
  const std::string& text = node->as_text("quantity");
  for (const auto& [name, quantity] : kQuantities) {
    if (name == text) return quantity;
  }
  throw UserError(node->where() + ": quantity: '" + text + "' has to be call, ttft or tpot");
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
      item.only_keys({"device", "family", "matmul", "quantity", "low", "high", "why"}, "intervals");
      table.entries_.push_back({item.required("device", "").as_text("device"),
                                item.required("family", "").as_text("family"),
                                item.required("matmul", "").as_text("matmul"), read_quantity(item),
                                read_ratio(item)});
    }
  }
  return table;
}

IntervalTable IntervalTable::load(const std::filesystem::path& path) {
  return parse(read_text_file(path), path.filename().string());
}

IntervalChoice IntervalTable::choose(std::string_view device, std::string_view family,
                                     std::string_view matmul, IntervalQuantity quantity) const {
  for (const Entry& entry : entries_) {
    if (entry.device == device && entry.family == family && entry.matmul == matmul &&
        entry.quantity == quantity)
      return {entry.ratio, ""};
  }
  const std::string what =
      quantity == IntervalQuantity::kCall ? "" : fmt::format("the {} of ", name_of(quantity));
  return {
      fallback_,
      fmt::format("no measured interval for {}{} networks with matmuls in {} on {}: the default is "
                  "shown",
                  what, family, matmul, device)};
}

const IntervalTable& default_intervals() {
  static const IntervalTable kTable =
      IntervalTable::load(data_root() / "calib" / "validate" / "intervals.yaml");
  return kTable;
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
      return "vision";
    case Family::kPipeline:
      return "pipeline";
    case Family::kOnnx:
      return "onnx";
  }
  throw InternalError(__FILE__, __LINE__, "a network family without a name");
}

}  // namespace foretell

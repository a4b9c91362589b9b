#include "calib/fitted/shared/fit_evidence.hpp"

#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

std::vector<std::string> texts_of(const Node& node, const char* key) {
  std::vector<std::string> texts;
  const Node* list = node.find(key);
  if (list == nullptr) return texts;
  for (const Node& item : list->items) texts.push_back(item.as_text(key));
  return texts;
}

void add_list(std::string& text, const std::string& indent, const char* key,
              const std::vector<std::string>& items) {
  text += indent + key + (items.empty() ? ": []\n" : ":\n");
  for (const std::string& item : items) text += indent + "  - " + quoted_yaml(item) + "\n";
}

}  // namespace

std::string quoted_yaml(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return '"' + escaped + '"';
}

FitEvidence read_fit_evidence(const Node& node) {
  node.only_keys({"provenance", "prior", "interval80", "not_identified", "trade_offs",
                  "interval_from", "residuals"},
                 "evidence");
  FitEvidence evidence;
  const auto text = [&node](const char* key) {
    const Node* value = node.find(key);
    return value == nullptr ? std::string() : value->as_text(key);
  };
  evidence.provenance = text("provenance");
  evidence.prior = text("prior");
  for (const MapEntry& entry : node.required("interval80", "evidence").entries) {
    if (!entry.value.is_list() || entry.value.items.size() != 2) {
      throw UserError(entry.value.where() + ": " + entry.key +
                      ": expected two values: [low, high]");
    }
    evidence.interval80.push_back({entry.key, entry.value.items[0].as_text(entry.key),
                                   entry.value.items[1].as_text(entry.key)});
  }
  evidence.not_identified = texts_of(node, "not_identified");
  evidence.trade_offs = texts_of(node, "trade_offs");
  evidence.interval_from = text("interval_from");
  evidence.residuals = texts_of(node, "residuals");
  return evidence;
}

std::string fit_evidence_text(const FitEvidence& evidence, const std::string& indent) {
  if (evidence.empty()) return "";
  const std::string inner = indent + "  ";
  std::string text = indent + "evidence:\n";
  if (!evidence.provenance.empty()) {
    text += inner + "provenance: " + quoted_yaml(evidence.provenance) + "\n";
  }
  if (!evidence.prior.empty()) text += inner + "prior: " + quoted_yaml(evidence.prior) + "\n";
  text += inner + "interval80:\n";
  for (const FactorInterval& interval : evidence.interval80) {
    text += inner + "  " + interval.factor + ": [" + interval.low + ", " + interval.high + "]\n";
  }
  text += inner + "not_identified: [" + join(evidence.not_identified, ", ") + "]\n";
  add_list(text, inner, "trade_offs", evidence.trade_offs);
  if (!evidence.interval_from.empty()) {
    text += inner + "interval_from: " + quoted_yaml(evidence.interval_from) + "\n";
  }
  add_list(text, inner, "residuals", evidence.residuals);
  return text;
}

}  // namespace foretell

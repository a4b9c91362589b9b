// Names of modules as files of checkpoints state them: names, parts of names, globs, expressions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace re2 {
class RE2;
}

namespace foretell {

// As FormatRule::pattern (decoder_parts.hpp).
class ModulePattern {
 public:
  explicit ModulePattern(const std::string& text);

  bool is_readable() const { return readable_; }    // an expression that can be matched
  bool is_elsewhere() const { return elsewhere_; }  // of a part beside the decoder
  bool is_class() const { return is_class_; }
  bool ignores_numbers() const { return !has_digits_; }         // the same for all layers
  std::optional<std::int64_t> layer() const { return layer_; }  // the only one that it is about

  // Whether a class has matrices of layers among its members.
  bool is_of_class(bool routed_experts) const;
  // Whether it is about the module `name` ("self_attn.q_proj") of a layer, before which its names
  // have `place` ("layers.3.").
  bool is_about(const std::string& place, const std::string& name) const;
  // Whether it says that it is not about that module, under whichever name it matches: "(?!…)".
  bool refuses(const std::string& place, const std::string& name) const;

 private:
  void read_expression(const std::string& text);
  void read_layer();
  bool is_at_start(const std::string& name) const;

  std::string text_;
  std::string prefix_ = "model.";
  std::shared_ptr<const re2::RE2> expression_;
  std::vector<std::shared_ptr<const re2::RE2>> refused_;  // names that begin with these
  std::optional<std::int64_t> layer_;
  bool is_class_ = false;
  bool is_glob_ = false;
  bool readable_ = true;
  bool elsewhere_ = false;
  bool has_digits_ = false;
  bool begins_with_layers_ = false;
};

}  // namespace foretell

// libFuzzer: any bytes are a config.json, or an architecture.yaml beside one, that becomes a graph
// or is refused with a UserError; never a crash, a leak or a hang. The first byte chooses between
// JSON, YAML (#) and an architecture (@).
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "model/base/errors.hpp"
#include "model/config/document.hpp"
#include "workloads/import/hf/config/architecture.hpp"
#include "workloads/import/workload.hpp"

namespace {

foretell::ModelConfig read(const std::string& text) {
  using foretell::parse_model_config;
  if (text.empty() || text.front() != '@') {
    return parse_model_config(text, "net",
                              !text.empty() && text.front() == '#' ? "net.yaml" : "net.json");
  }
  constexpr const char* kConfig = R"({"model_type": "foo", "hidden_size": 8, "vocab_size": 8,
    "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 8, "num_experts": 4,
    "num_experts_per_tok": 2, "moe_intermediate_size": 4})";
  const foretell::Node root = foretell::parse_document(text.substr(1), "architecture.yaml");
  return parse_model_config(
      kConfig, "net", "net.json",
      std::make_shared<const foretell::Architecture>(foretell::read_architecture(root)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const foretell::ModelConfig config = read(text);
    if (config.family == foretell::Family::kOnnx) return 0;  // another reader
    foretell::Binding binding;
    binding.seq_len = 2;
    foretell::build_graph(config, binding);
  } catch (const foretell::UserError&) {
    // what the file is refused with
  }
  return 0;
}

// libFuzzer: any bytes are a config.json that becomes a graph or is refused with a UserError; never
// a crash, a leak or a hang. The first byte chooses between JSON and YAML.
#include <cstddef>
#include <cstdint>
#include <string>

#include "model/base/errors.hpp"
#include "workloads/import/workload.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const bool is_yaml = !text.empty() && text.front() == '#';
  try {
    const foretell::ModelConfig config =
        foretell::parse_model_config(text, "net", is_yaml ? "net.yaml" : "net.json");
    if (config.family == foretell::Family::kOnnx) return 0;  // another reader
    foretell::Binding binding;
    binding.seq_len = 2;
    foretell::build_graph(config, binding);
  } catch (const foretell::UserError&) {
    // what the file is refused with
  }
  return 0;
}

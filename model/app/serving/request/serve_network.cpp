// What the record of a service says of its network and how copies of it are divided.
#include "model/app/serving/request/serve_parts.hpp"

namespace foretell {

void add_network_fields(const Request& machine, ServeContext& context) {
  const auto add = [&context](const char* name, const std::string& value) {
    if (!value.empty() && value != "0") context.scenario.emplace_back(name, value);
  };
  if (machine.ep > 1) add("ep", std::to_string(machine.ep));
  if (machine.moe_tp > 0) add("moe_tp", std::to_string(machine.moe_tp));
  if (machine.cp > 1) add("cp", std::to_string(machine.cp));
  add("redundant_experts", std::to_string(machine.redundant_experts));
  if (machine.two_batch) add("two_batch", "yes");
  add("experts", machine.experts);
  add("library", machine.library);
  add("library_release", machine.library_release);
  add("context", std::to_string(machine.context));
  add("images", std::to_string(machine.images));
  add("image_size", std::to_string(machine.image_size));
  add("image_width", std::to_string(machine.image_width));
}

}  // namespace foretell

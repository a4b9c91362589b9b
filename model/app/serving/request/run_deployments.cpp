#include "model/app/serving/request/run_deployments.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/app/request/resolve/request_fields.hpp"
#include "model/app/serving/request/length_shares.hpp"
#include "model/base/errors.hpp"
#include "model/config/entry_reader.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kMostRequests = 10'000'000;
constexpr std::int64_t kMostGpus = 4096;
constexpr double kLongest = 1e6;

std::string read_lengths(const Node& load, const char* what) {
  const Node& node = load.required(what, "loads");
  node.only_keys({"tokens", "shares", "source", "kind", "why"}, what);
  return lengths_around(required_number(node, "tokens", 1, kLongest),
                        read_shares(node.required("shares", what), what));
}

}  // namespace

RunDeployments RunDeployments::read(const Node& root) {
  RunDeployments all;
  for (const Node& node : root.required("loads", "").items) {
    node.only_keys({"dataset", "prompts", "answers", "requests"}, "loads");
    all.loads_.push_back(
        {node.required("dataset", "loads").as_text("dataset"), read_lengths(node, "prompts"),
         read_lengths(node, "answers"),
         node.required("requests", "loads").as_integer("requests", 1, kMostRequests)});
  }
  for (const Node& node : root.required("deployments", "").items) {
    Deployment& one = all.deployments_.emplace_back();
    EntryReader reader(node, "deployments", {"source", "kind", "why"});
    reader.texts("models", one.models);
    reader.texts("gpus", one.gpus);
    reader.text("load", one.load);
    reader.text("dtype", one.dtype);
    reader.text("kv_dtype", one.kv_dtype);
    reader.whole("tp", one.tp, 1, kMostGpus);
    reader.whole("pp", one.pp, 1, kMostGpus);
    reader.whole("max_sequences", one.max_sequences, 1, kMostRequests);
    reader.whole("max_tokens", one.max_tokens, 1, kMostRequests);
    reader.texts("set", one.set);
    reader.finish();
  }
  return all;
}

const RunDeployments::Load* RunDeployments::load_of(const ServedCells& cells) const {
  const std::string dataset = served_cell(cells, "dataset");
  if (!served_cell(cells, "isl").empty()) return nullptr;
  const auto found = std::find_if(loads_.begin(), loads_.end(), [&dataset](const Load& load) {
    return dataset.find(load.dataset) != std::string::npos;
  });
  return found == loads_.end() ? nullptr : &*found;
}

bool RunDeployments::knows(const ServedCells& cells) const { return load_of(cells) != nullptr; }

void RunDeployments::deploy(const ServedCells& cells, ServeRequest& request) const {
  const Load& load = *load_of(cells);
  request.input_len = load.prompts;
  request.output_len = load.answers;
  request.requests = load.requests;
  const std::string model = served_cell(cells, "model");
  const std::string gpu = served_cell(cells, "gpu");
  const std::string kind = served_cell(cells, "load_kind");
  const auto found =
      std::find_if(deployments_.begin(), deployments_.end(), [&](const Deployment& one) {
        return is_one_of(one.models, model) && is_one_of(one.gpus, gpu) &&
               (one.load.empty() || one.load == kind);
      });
  if (found == deployments_.end()) {
    throw UserError(
        fmt::format("{} on {}: how GPUs divide a copy is not known; a row of `deployments` in "
                    "hw/{} says it",
                    model, gpu, kRunsFile));
  }
  const std::int64_t gpus = parse_count("n_gpus", served_cell(cells, "n_gpus"), 1, kMostGpus);
  const std::int64_t of_a_copy = std::int64_t{found->tp} * found->pp;
  if (gpus % of_a_copy != 0) {
    throw UserError(fmt::format("n_gpus: {} are no multiple of the {} of a copy", gpus, of_a_copy));
  }
  request.machine.tp = found->tp;
  request.machine.pp = found->pp;
  request.dp = static_cast<int>(gpus / of_a_copy);
  request.machine.dtype = found->dtype;
  if (!found->kv_dtype.empty()) request.machine.kv_dtype = found->kv_dtype;
  if (request.max_batch == 0) request.max_batch = found->max_sequences;
  if (request.max_tokens == 0) request.max_tokens = found->max_tokens;
  request.machine.set.insert(request.machine.set.end(), found->set.begin(), found->set.end());
}

}  // namespace foretell

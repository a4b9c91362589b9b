#include "hw/spec/gpu/gpu_architecture.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "hw/spec/shared/catalog.hpp"
#include "hw/spec/shared/data_folder.hpp"
#include "hw/spec/shared/provenance.hpp"
#include "model/base/errors.hpp"
#include "model/config/document.hpp"
#include "model/config/node_text.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

constexpr double kBeyond = 1000;  // further than any place in a list

GpuArchitecture read_architecture_file(const fs::path& path, const Bibliography& bibliography) {
  const Node root = load_document(path, path.string());
  GpuArchitecture architecture;
  Problems problems;
  problems.collect([&] { check_id(root, path); });
  architecture.id = path.stem().string();
  architecture.kernels = architecture.id;
  problems.collect([&] { architecture.name = text_of(root, "name"); });
  if (const Node* kernels = root.find("kernels")) {
    problems.collect([&] { architecture.kernels = kernels->as_text("kernels"); });
  }
  if (const Node* nearest = root.find("nearest")) {
    problems.collect([&] { architecture.nearest = texts_at(*nearest, "nearest"); });
  }
  FieldList list;
  fields(list, architecture);
  std::map<std::string, Provenance> provenance;
  load_fields(root, list, {"id", "name", "kernels", "nearest"},
              SourcedReader(bibliography, provenance), problems);
  problems.throw_if_any();
  return architecture;
}

void check_names(const std::map<std::string, GpuArchitecture>& all) {
  std::vector<std::string> known;
  for (const auto& entry : all) known.push_back(entry.first);
  Problems problems;
  for (const auto& [id, architecture] : all) {
    std::vector<std::string> named = architecture.nearest;
    named.push_back(architecture.kernels);
    for (const std::string& name : named) {
      if (all.count(name) > 0) continue;
      problems.add("hw/cores/gpu/" + id + ".yaml", "",
                   unknown_name("architecture", name, known).what());
    }
  }
  problems.throw_if_any();
}

const std::map<std::string, GpuArchitecture>& all_architectures() {
  static const std::map<std::string, GpuArchitecture> kAll = [] {
    const fs::path hw = hw_folder();
    const Bibliography bibliography = Bibliography::of(hw);
    const fs::path folder = hw / "cores" / "gpu";
    std::map<std::string, GpuArchitecture> all;
    for (const std::string& id : ids_in(folder)) {
      all.emplace(id, read_architecture_file(file_of(folder, id), bibliography));
    }
    check_names(all);
    return all;
  }();
  return kAll;
}

}  // namespace

void fields(FieldList& list, GpuArchitecture& architecture) {
  const Range<int> one{0, 1};
  list.value("generation", architecture.generation, {1, 1000}, "Compute capability.");
  list.count("tensor_memory_accelerator", architecture.tensor_memory_accelerator, one,
             "1: a unit copies tiles into shared memory.");
  list.count("tensor_memory", architecture.tensor_memory, one,
             "1: sums of the matrix pipe have a memory of their own.");
  list.count(
      "asynchronous_products", architecture.asynchronous_products, one,
      "1: the matrix pipe reads operands from shared memory itself, and threads do not wait.");
  list.value("register_products", architecture.register_products, {0.001, 1},
             "Share of the dense rate that products whose operands threads load into registers "
             "(mma.sync) can reach.");
  list.count("scales_blocks", architecture.scales_blocks, one,
             "1: the matrix pipe applies the scales of blocks.");
  list.count("narrow_along_depth", architecture.narrow_along_depth, one,
             "1: operands of 8 bits are multiplied along the depth only.");
  list.value("l2_port", architecture.l2_port, {1, 65536},
             "Bytes that an SM takes from L2 in a cycle.");
  list.value("shared_port", architecture.shared_port, {1, 65536},
             "Bytes that an SM takes from shared memory in a cycle.");
  list.value("exponentials", architecture.exponentials, {1, 65536},
             "Exponentials of an SM in a cycle.");
}

std::vector<std::string> gpu_architectures() {
  std::vector<std::string> ids;
  for (const auto& entry : all_architectures()) ids.push_back(entry.first);
  return ids;
}

const GpuArchitecture& gpu_architecture(const std::string& id) {
  const auto found = all_architectures().find(id);
  if (found == all_architectures().end())
    throw unknown_name("architecture", id, gpu_architectures());
  return found->second;
}

double architecture_distance(const std::string& to, const std::string& from) {
  const GpuArchitecture& target = gpu_architecture(to);
  const auto place = std::find(target.nearest.begin(), target.nearest.end(), from);
  if (place != target.nearest.end()) return static_cast<double>(place - target.nearest.begin());
  if (from == to) return -1;
  return kBeyond + std::abs(target.generation - gpu_architecture(from).generation);
}

}  // namespace foretell

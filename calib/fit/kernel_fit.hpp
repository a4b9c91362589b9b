// The search for the factors of GPU kernels, whatever their kind: which factors are free, where the
// search starts, and a descent on the mean relative error of a closed form.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/config/fields.hpp"

namespace foretell {

struct Node;

// Rows of products with the same columns and depth (n, k) are one family. A quarter of the
// families, chosen by this hash of n and k, is held out: no factor is fitted to any of their rows,
// on any device.
bool is_held_out_family(std::int64_t n, std::int64_t k);

// Head counts and widths that are held out: 3 of 11 residues of a sum of the three. No factor is
// fitted to a row of such a configuration, on any device, in any phase.
bool is_held_out_heads(std::int64_t heads, std::int64_t key_heads, std::int64_t head_dim);

// Intervals are made from one half of the families held out and judged on the other. Which half, by
// a hash of what shapes of a family share; the same for every device.
bool makes_interval(std::int64_t a, std::int64_t b, std::int64_t c = 0);

// Whether an entry of a plan is for it: patterns as file names have them ("trtllm context*",
// "* bf16"). An entry without the list is for all.
bool plan_names(const Node* list, const std::string& text);

// The first entry of calib/fit/gpu_<kind>_plan.yaml whose `architectures` and `tables` fit: starts:
// [{architectures: […], tables: […], fixed: […], factors: {…}}]. Writes its factors into `fields`
// and returns the names of those that stay as they are. UserError with file:line.
std::vector<std::string> load_kernel_start(const std::string& path, const std::string& architecture,
                                           const std::string& table, FieldList& fields);

struct KernelFit {
  std::vector<std::string> free;  // what was fitted
  double loss = 0;
};

// Moves the factors of `fields` that are not zero and not `fixed` to where `loss` is least.
KernelFit fit_kernel(FieldList& fields, const std::vector<std::string>& fixed, int evaluations,
                     int starts, const std::function<double()>& loss);

// `wanted` of `size` places, drawn without repetition, in the order of the draw.
std::vector<std::size_t> draw_rows(std::size_t size, std::size_t wanted, std::uint64_t seed);

}  // namespace foretell

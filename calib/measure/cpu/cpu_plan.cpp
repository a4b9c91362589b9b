#include "calib/measure/cpu/cpu_plan.hpp"

#include <algorithm>
#include <set>

namespace foretell {
namespace {

using Sizes = std::vector<std::int64_t>;

constexpr double kMaxFlops = 1.5e9;  // of one call; more takes long and tells nothing new

// Columns and depth of products, with the rows at which each is measured: layers of encoders and
// decoders, classifiers, and odd sizes that fill no vector.
struct ProductFamily {
  std::int64_t n, k;
  Sizes rows;
};

const std::vector<ProductFamily>& product_families() {
  static const std::vector<ProductFamily> kAll = {
      {768, 768, {1, 4, 16, 64, 128, 384}},
      {3072, 768, {1, 8, 32, 128, 256}},
      {768, 3072, {1, 8, 32, 128, 256}},
      {2304, 768, {2, 16, 64, 128, 384}},
      {1024, 1024, {1, 4, 32, 128, 512}},
      {4096, 1024, {1, 8, 64, 128}},
      {1024, 4096, {1, 8, 64, 128}},
      {4096, 4096, {1, 4, 16, 64}},
      {512, 512, {1, 8, 64, 128, 512}},
      {256, 256, {4, 32, 128, 1024}},
      {128, 512, {8, 64, 256, 1024}},
      {64, 64, {8, 64, 512, 4096}},
      {32, 32, {16, 32, 256, 2048}},
      {100, 100, {10, 100, 1000}},
      {77, 1000, {7, 37, 300}},
      {48, 512, {16, 512}},
      {16, 500, {32, 1000}},
      {1000, 2048, {1, 8, 32}},
      {320, 640, {5, 50, 500}},
      {1536, 384, {3, 49, 197}},
      {384, 1536, {3, 49, 197}},
  };
  return kAll;
}

// Channels, height and width, filters, kernel, stride, padding.
const std::vector<Sizes>& convolutions() {
  static const std::vector<Sizes> kAll = {
      {64, 56, 64, 3, 1, 1},   {64, 56, 256, 1, 1, 0},   {256, 56, 64, 1, 1, 0},
      {128, 28, 128, 3, 1, 1}, {512, 28, 128, 1, 1, 0},  {128, 28, 512, 1, 1, 0},
      {256, 14, 256, 3, 1, 1}, {1024, 14, 256, 1, 1, 0}, {512, 7, 512, 3, 1, 1},
      {512, 7, 2048, 1, 1, 0}, {128, 56, 128, 3, 2, 1},  {256, 56, 512, 1, 2, 0},
      {3, 224, 64, 7, 2, 3},   {32, 112, 64, 3, 1, 1},   {96, 28, 192, 3, 1, 1},
  };
  return kAll;
}

const std::vector<Sizes>& batched_products() {  // b m n k
  static const std::vector<Sizes> kAll = {
      {12, 128, 128, 64}, {12, 128, 64, 128}, {12, 64, 64, 64},   {12, 384, 384, 64},
      {12, 384, 64, 384}, {16, 256, 256, 64}, {16, 256, 64, 256}, {96, 32, 32, 64},
      {48, 128, 128, 64}, {48, 128, 64, 128}, {8, 200, 200, 32},  {4, 512, 512, 128},
  };
  return kAll;
}

// Products with bias and an epilogue, as linear layers have them: columns, depth, rows.
const std::vector<Sizes>& linear_layers() {
  static const std::vector<Sizes> kAll = {{3072, 768, 128}, {768, 3072, 128}, {1024, 1024, 64},
                                          {512, 512, 8},    {512, 512, 256},  {256, 1024, 100},
                                          {2048, 512, 32},  {768, 768, 384}};
  return kAll;
}

// The two products of attention on the common result of queries, keys and values: batch, heads,
// positions, values of a head.
const std::vector<Sizes>& attentions() {
  static const std::vector<Sizes> kAll = {{1, 12, 128, 64}, {1, 12, 384, 64}, {2, 12, 64, 64},
                                          {1, 16, 256, 64}, {4, 8, 100, 32},  {1, 8, 512, 96}};
  return kAll;
}

// Convolutions that add what is in their result already.
const std::vector<Sizes>& residual_convolutions() {
  static const std::vector<Sizes> kAll = {{64, 56, 256, 1, 1, 0},   {128, 28, 512, 1, 1, 0},
                                          {256, 14, 1024, 1, 1, 0}, {512, 7, 2048, 1, 1, 0},
                                          {64, 56, 64, 3, 1, 1},    {96, 28, 192, 3, 1, 1}};
  return kAll;
}

const std::vector<Sizes>& row_shapes() {  // rows cols
  static const std::vector<Sizes> kAll = {
      {16, 128},   {64, 64},     {128, 768},  {128, 1024}, {384, 384},  {1536, 128},
      {4608, 384}, {512, 768},   {200, 1000}, {64, 32},    {8192, 64},  {256, 3072},
      {100, 100},  {2048, 1024}, {48, 2000},  {1000, 500}, {32, 16384}, {4096, 4096}};
  return kAll;
}

std::int64_t value_bytes(const std::string& dtype) {
  if (dtype == "int8") return 1;
  return dtype == "fp32" ? 4 : 2;
}

class Plan {
 public:
  explicit Plan(const CpuPlanOptions& options) : options_(options) {}

  std::vector<MeasureTask> run() {
    for (const int threads : std::set<int>{1, options_.threads}) {
      if (threads > 1) add("fork_join", "fp32", {{"count", threads}}, threads, false);
    }
    for (const std::string& dtype : cpu_dtypes()) products(dtype);
    for (const std::string& dtype : cpu_dtypes()) batched(dtype);
    for (const std::string& dtype : {std::string("fp32"), std::string("bf16")}) row_wise(dtype);
    for (const std::string& dtype : cpu_dtypes()) {
      convolve("conv", convolutions(), dtype);
      convolve("conv_add", residual_convolutions(), dtype);
      linear(dtype);
      attend(dtype);
    }
    streams();
    for (const std::string& dtype : cpu_dtypes()) blocks(dtype);
    return std::move(tasks_);
  }

 private:
  bool wanted(const std::vector<std::string>& list, const std::string& name) const {
    return list.empty() || std::find(list.begin(), list.end(), name) != list.end();
  }

  void add(const std::string& op, const std::string& dtype, const TaskShape& shape, int threads,
           bool cold) {
    if (!wanted(options_.ops, op) || !wanted(options_.dtypes, dtype)) return;
    MeasureTask task{op, dtype, shape, {}};
    task.states = {{"launch", "call"},
                   {"weights", cold ? "rotating" : "warm"},
                   {"cache", cold ? "cold" : "warm"},
                   {"threads", std::to_string(threads)}};
    if (task_flops(task) > kMaxFlops) return;
    tasks_.push_back(std::move(task));
  }

  // With one thread and with all.
  void add_both(const std::string& op, const std::string& dtype, const TaskShape& shape) {
    for (const int threads : std::set<int>{1, options_.threads}) {
      add(op, dtype, shape, threads, false);
    }
  }

  bool skipped(std::size_t index) const { return options_.quick && index % 5 != 0; }

  void products(const std::string& dtype) {
    std::size_t index = 0;
    for (const ProductFamily& family : product_families()) {
      for (const std::int64_t m : family.rows) {
        if (skipped(index++)) continue;
        const TaskShape shape = {{"m", m}, {"n", family.n}, {"k", family.k}};
        add_both("gemm", dtype, shape);
        if (m <= 128 && family.n * family.k >= 1000000) {
          add("gemm", dtype, shape, options_.threads, true);
        }
      }
    }
  }

  void batched(const std::string& dtype) {
    if (dtype == "int8") return;  // attention stays in the type of the activations
    std::size_t index = 0;
    for (const Sizes& s : batched_products()) {
      if (skipped(index++)) continue;
      add_both("batched_gemm", dtype, {{"b", s[0]}, {"m", s[1]}, {"n", s[2]}, {"k", s[3]}});
    }
  }

  void row_wise(const std::string& dtype) {
    for (const char* op : {"softmax", "layer_norm", "reduce", "add", "gelu", "copy"}) {
      std::size_t index = 0;
      for (const Sizes& s : row_shapes()) {
        if (skipped(index++)) continue;
        add_both(op, dtype, {{"rows", s[0]}, {"cols", s[1]}});
      }
    }
    std::size_t index = 0;
    for (const Sizes& s : row_shapes()) {
      if (skipped(index++)) continue;
      if (dtype == "bf16") {
        for (const char* narrow : {"bf16", "int8"}) {
          add_both("convert", narrow, {{"rows", s[0]}, {"cols", s[1]}});
        }
      }
    }
  }

  void linear(const std::string& dtype) {
    for (const char* op : {"gemm_gelu", "gemm_add"}) {
      std::size_t index = 0;
      for (const Sizes& s : linear_layers()) {
        if (skipped(index++)) continue;
        add_both(op, dtype, {{"m", s[2]}, {"n", s[0]}, {"k", s[1]}});
      }
    }
  }

  void attend(const std::string& dtype) {
    if (dtype == "int8") return;
    for (const char* op : {"attention_scores", "attention_context"}) {
      std::size_t index = 0;
      for (const Sizes& s : attentions()) {
        if (skipped(index++)) continue;
        add_both(op, dtype, {{"b", s[0]}, {"heads", s[1]}, {"seq", s[2]}, {"head_dim", s[3]}});
      }
    }
  }

  void convolve(const std::string& op, const std::vector<Sizes>& shapes, const std::string& dtype) {
    std::size_t index = 0;
    for (const Sizes& s : shapes) {
      if (skipped(index++)) continue;
      add_both(op, dtype,
               {{"b", 1},
                {"channels", s[0]},
                {"height", s[1]},
                {"width", s[1]},
                {"filters", s[2]},
                {"kernel", s[3]},
                {"stride", s[4]},
                {"padding", s[5]},
                {"groups", 1}});
    }
  }

  void streams() {
    for (const char* op : {"stream_read", "stream_write", "stream_copy", "stream_triad"}) {
      for (const std::int64_t kib : {16, 256, 768, 4096, 12288, 65536, 262144}) {
        if (options_.quick && kib == 768) continue;
        add_both(op, "fp32", {{"bytes", kib * 1024}});
      }
    }
  }

  void blocks(const std::string& dtype) {
    for (const Sizes& s : {Sizes{1, 128}, Sizes{1, 384}, Sizes{2, 64}}) {
      if (options_.quick && s[1] != 128) continue;
      add_both("bert_layer", dtype, {{"b", s[0]}, {"seq", s[1]}});
    }
    for (const Sizes& s : {Sizes{256, 64, 56}, Sizes{512, 128, 28}, Sizes{1024, 256, 14}}) {
      if (options_.quick && s[2] != 56) continue;
      add_both(
          "resnet_block", dtype,
          {{"b", 1}, {"channels", s[0]}, {"filters", s[1]}, {"height", s[2]}, {"width", s[2]}});
    }
  }

  const CpuPlanOptions& options_;
  std::vector<MeasureTask> tasks_;
};

MeasureTask small(const MeasureTask& task) {
  MeasureTask check = task;
  check.states["threads"] = "1";
  check.states["weights"] = check.states["cache"] = "warm";
  for (auto& [name, size] : check.shape) {
    if (name == "m" || name == "rows" || name == "b") size = 3;
    if (name == "n" || name == "cols" || name == "filters") size = 19;
    if (name == "k" || name == "channels") size = 21;
    if (name == "height" || name == "width") size = 9;
    if (name == "kernel") size = 3;
    if (name == "padding" || name == "stride") size = 1;
    if (name == "heads") size = 2;
    if (name == "seq") size = 17;
    if (name == "head_dim") size = 32;
  }
  return check;
}

}  // namespace

const std::vector<std::string>& cpu_ops() {
  static const std::vector<std::string> kOps = {
      "gemm",        "gemm_gelu",    "gemm_add",    "batched_gemm", "attention_scores",
      "conv",        "conv_add",     "softmax",     "layer_norm",   "attention_context",
      "reduce",      "add",          "gelu",        "copy",         "convert",
      "stream_read", "stream_write", "stream_copy", "stream_triad", "fork_join",
      "bert_layer",  "resnet_block"};
  return kOps;
}

const std::vector<std::string>& cpu_dtypes() {
  static const std::vector<std::string> kDtypes = {"fp32", "bf16", "int8"};
  return kDtypes;
}

std::vector<MeasureTask> cpu_plan(const CpuPlanOptions& options) {
  CpuPlanOptions quick = options;
  quick.quick = true;
  std::vector<MeasureTask> tasks = Plan(quick).run();
  if (options.quick) return tasks;
  std::set<std::string> first;
  for (const MeasureTask& task : tasks) first.insert(task_text(task));
  for (MeasureTask& task : Plan(options).run()) {
    if (first.count(task_text(task)) == 0) tasks.push_back(std::move(task));
  }
  return tasks;
}

std::vector<MeasureTask> cpu_checks(const std::vector<MeasureTask>& plan) {
  std::vector<MeasureTask> checks;
  std::set<std::pair<std::string, std::string>> seen;
  for (const MeasureTask& task : plan) {
    if (seen.insert({task.op, task.dtype}).second) checks.push_back(small(task));
  }
  return checks;
}

double task_flops(const MeasureTask& task) {
  const auto size = [&task](const char* name) { return static_cast<double>(task.size(name)); };
  if (task.op == "gemm" || task.op == "gemm_gelu" || task.op == "gemm_add") {
    return 2 * size("m") * size("n") * size("k");
  }
  if (task.op == "attention_scores" || task.op == "attention_context") {
    return 2 * size("b") * size("heads") * size("seq") * size("seq") * size("head_dim");
  }
  if (task.op == "batched_gemm") return 2 * size("b") * size("m") * size("n") * size("k");
  if (task.op != "conv" && task.op != "conv_add") return 0;
  const std::int64_t side =
      (task.size("height") + 2 * task.size("padding") - task.size("kernel")) / task.size("stride") +
      1;
  const auto out = static_cast<double>(side);
  return 2 * size("b") * out * out * size("filters") * size("channels") * size("kernel") *
         size("kernel");
}

double task_bytes(const MeasureTask& task) {
  const auto size = [&task](const char* name) { return static_cast<double>(task.size(name)); };
  const auto each = static_cast<double>(value_bytes(task.dtype));
  if (task.op == "gemm") {
    return each * (size("m") * size("k") + size("k") * size("n") + size("m") * size("n"));
  }
  if (task.op == "softmax" || task.op == "layer_norm" || task.op == "gelu" || task.op == "copy") {
    return 2 * each * size("rows") * size("cols");
  }
  if (task.op == "add") return 3 * each * size("rows") * size("cols");
  if (task.op == "convert") return (4 + each) * size("rows") * size("cols");
  if (task.op == "reduce") return each * size("rows") * (size("cols") + 1);
  return task.op.rfind("stream_", 0) == 0 ? size("bytes") : 0;
}

}  // namespace foretell

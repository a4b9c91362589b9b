#include "calib/measure/cuda/shape_plan.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "calib/measure/cuda/element.hpp"
#include "calib/measure/cuda/reference.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

using States = std::map<std::string, std::string>;
using Sizes = std::vector<std::int64_t>;

const States kCold = {{"launch", "graph"}, {"weights", "rotating"}, {"load", "burst"}};
const States kWarm = {{"launch", "graph"}, {"weights", "warm"}, {"load", "burst"}};
const States kStream = {{"launch", "stream"}, {"weights", "rotating"}, {"load", "burst"}};
const States kSustained = {{"launch", "graph"}, {"weights", "rotating"}, {"load", "sustained"}};

const std::vector<std::string> kGemmTypes = {"int8", "fp8", "fp16", "bf16", "tf32", "fp32"};
const std::vector<std::string> kConvTypes = {"int8", "fp16", "bf16", "tf32", "fp32"};
const std::vector<std::string> kVectorTypes = {"fp16", "bf16", "fp32"};

// Columns and depth of weights: square ones, those of encoders and of language models, whole and
// sharded, and some that are round in nothing but 16.
constexpr std::int64_t kWeights[][2] = {
    {768, 768},    {3072, 768},  {768, 3072},    {1024, 1024},  {4096, 1024},  {1024, 4096},
    {2048, 2048},  {4096, 4096}, {6144, 4096},   {11008, 4096}, {4096, 11008}, {14336, 4096},
    {4096, 14336}, {5120, 5120}, {13824, 5120},  {8192, 8192},  {28672, 8192}, {8192, 28672},
    {1280, 8192},  {8192, 1024}, {16384, 16384}, {32000, 4096}, {128, 4096},   {256, 256},
    {1504, 1504},  {2576, 3408}, {1008, 8208},   {3328, 656},   {496, 12304},  {7056, 2032}};
const Sizes kRows = {1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096, 8192};
const Sizes kFewRows = {1, 16, 128, 1024, 4096};

constexpr std::int64_t kBatched[][4] = {
    {96, 128, 128, 64},    {96, 128, 64, 128},    {128, 384, 384, 64},   {128, 512, 64, 512},
    {32, 1024, 1024, 128}, {32, 1024, 128, 1024}, {64, 2048, 2048, 128}, {8, 4096, 4096, 128},
    {256, 64, 64, 64},     {16, 512, 512, 512},   {512, 16, 1024, 128},  {512, 16, 128, 1024}};

// batch, channels, side, filters, kernel, stride, padding, groups: layers of ResNet and VGG.
constexpr std::int64_t kConvolutions[][8] = {
    {1, 64, 56, 64, 1, 1, 0, 1},     {8, 64, 56, 64, 1, 1, 0, 1},    {64, 64, 56, 64, 1, 1, 0, 1},
    {1, 64, 56, 64, 3, 1, 1, 1},     {8, 64, 56, 64, 3, 1, 1, 1},    {64, 64, 56, 64, 3, 1, 1, 1},
    {8, 64, 56, 256, 1, 1, 0, 1},    {64, 256, 56, 128, 1, 1, 0, 1}, {8, 128, 56, 128, 3, 2, 1, 1},
    {1, 128, 28, 128, 3, 1, 1, 1},   {64, 128, 28, 128, 3, 1, 1, 1}, {8, 128, 28, 512, 1, 1, 0, 1},
    {8, 512, 28, 256, 1, 1, 0, 1},   {64, 256, 28, 256, 3, 2, 1, 1}, {8, 256, 14, 256, 3, 1, 1, 1},
    {64, 256, 14, 1024, 1, 1, 0, 1}, {8, 1024, 14, 512, 1, 1, 0, 1}, {64, 512, 7, 512, 3, 1, 1, 1},
    {1, 512, 7, 2048, 1, 1, 0, 1},   {64, 2048, 7, 512, 1, 1, 0, 1}, {16, 64, 112, 128, 3, 1, 1, 1},
    {16, 256, 56, 256, 3, 1, 1, 1},  {16, 512, 28, 512, 3, 1, 1, 1}, {32, 32, 112, 64, 5, 1, 2, 1}};

const Sizes kManyRows = {1, 16, 128, 1024, 4096, 16384};
const Sizes kColumns = {64, 256, 768, 1024, 4096, 8192, 12288};
const Sizes kStreamBytes = {64LL << 10,  256LL << 10, 1LL << 20,  4LL << 20,
                            16LL << 20,  32LL << 20,  64LL << 20, 128LL << 20,
                            256LL << 20, 512LL << 20, 1LL << 30};
const Sizes kLaunches = {1, 10, 100};

// A point and the op, type and condition that it belongs to.
class Points {
 public:
  void add(const std::string& op, const std::string& dtype, TaskShape shape, const States& states) {
    all_.push_back({op, dtype, std::move(shape), states});
  }
  std::vector<MeasureTask> take() { return std::move(all_); }

 private:
  std::vector<MeasureTask> all_;
};

TaskShape gemm_shape(std::int64_t m, std::int64_t n, std::int64_t k) {
  return {{"m", m}, {"n", n}, {"k", k}};
}

TaskShape batched_shape(std::int64_t b, std::int64_t m, std::int64_t n, std::int64_t k) {
  return {{"b", b}, {"m", m}, {"n", n}, {"k", k}};
}

TaskShape conv_sizes(const std::int64_t (&c)[8]) {
  return {{"batch", c[0]},  {"channels", c[1]}, {"height", c[2]},
          {"width", c[2]},  {"filters", c[3]},  {"kernel", c[4]},
          {"stride", c[5]}, {"padding", c[6]},  {"groups", c[7]}};
}

TaskShape matrix_shape(std::int64_t rows, std::int64_t cols) {
  return {{"rows", rows}, {"cols", cols}};
}

bool contains(const Sizes& sizes, std::int64_t size) {
  return std::find(sizes.begin(), sizes.end(), size) != sizes.end();
}

// More than some 30 ms on the vector pipes of a large chip.
bool takes_too_long(const std::string& dtype, std::int64_t m, std::int64_t n, std::int64_t k) {
  constexpr std::int64_t kMaxProducts = 500'000'000'000;
  return dtype == "fp32" && m * n * k > kMaxProducts;
}

void add_gemms(Points& points) {
  for (const std::string& dtype : kGemmTypes) {
    int family = 0;
    for (const auto& [n, k] : kWeights) {
      const bool every_third = family++ % 3 == 0;
      for (const std::int64_t m : kRows) {
        if (takes_too_long(dtype, m, n, k)) continue;
        points.add("gemm", dtype, gemm_shape(m, n, k), kCold);
        if (!every_third || !contains(kFewRows, m)) continue;
        points.add("gemm", dtype, gemm_shape(m, n, k), kWarm);
        points.add("gemm", dtype, gemm_shape(m, n, k), kStream);
        if (m == 1024 || m == 4096) points.add("gemm", dtype, gemm_shape(m, n, k), kSustained);
      }
    }
    for (const auto& [b, m, n, k] : kBatched) {
      points.add("batched_gemm", dtype, batched_shape(b, m, n, k), kCold);
      points.add("batched_gemm", dtype, batched_shape(b, m, n, k), kWarm);
    }
  }
}

void add_convolutions(Points& points) {
  for (const std::string& dtype : kConvTypes) {
    for (const auto& convolution : kConvolutions) {
      points.add("conv", dtype, conv_sizes(convolution), kCold);
      points.add("conv", dtype, conv_sizes(convolution), kWarm);
    }
  }
}

void add_vector_operators(Points& points) {
  for (const std::string& dtype : kVectorTypes) {
    for (const char* op : {"copy", "add", "gelu", "softmax", "layer_norm", "reduce", "transpose"}) {
      for (const std::int64_t rows : kManyRows) {
        for (const std::int64_t cols : kColumns) {
          points.add(op, dtype, matrix_shape(rows, cols), kCold);
          if (rows == 1024) points.add(op, dtype, matrix_shape(rows, cols), kWarm);
          if (rows == 1024) points.add(op, dtype, matrix_shape(rows, cols), kStream);
        }
      }
    }
    for (const std::int64_t rows : kManyRows) {
      for (const std::int64_t cols : {64, 768, 4096, 8192}) {
        for (const std::int64_t table_rows : {1000, 32000}) {
          TaskShape shape = matrix_shape(rows, cols);
          shape.emplace_back("table_rows", table_rows);
          points.add("gather", dtype, std::move(shape), kCold);
        }
      }
    }
  }
}

void add_streams(Points& points) {
  for (const char* op : {"stream_read", "stream_write", "stream_copy", "stream_triad"}) {
    for (const std::int64_t bytes : kStreamBytes) {
      points.add(op, "fp32", {{"bytes", bytes}}, kCold);
      points.add(op, "fp32", {{"bytes", bytes}}, kWarm);
    }
  }
  for (const std::int64_t count : kLaunches) {
    points.add("empty_kernel", "fp32", {{"count", count}}, kWarm);
    States stream = kWarm;
    stream["launch"] = "stream";
    points.add("empty_kernel", "fp32", {{"count", count}}, stream);
  }
}

std::uint64_t mixed(std::uint64_t bits) {
  bits ^= bits >> 30U;
  bits *= 0xBF58476D1CE4E5B9ULL;
  bits ^= bits >> 27U;
  bits *= 0x94D049BB133111EBULL;
  return bits ^ (bits >> 31U);
}

// Fisher and Yates with fixed draws.
void shuffle(std::vector<MeasureTask>& tasks) {
  for (std::size_t i = tasks.size(); i > 1; --i) {
    std::swap(tasks[i - 1], tasks[mixed(i * 0x9E3779B97F4A7C15ULL) % i]);
  }
}

std::string group_of(const MeasureTask& task) {
  std::string group = task.op + " " + task.dtype;
  for (const auto& [name, state] : task.states) group += " " + name + "=" + state;
  return group;
}

// A tenth of every group, at least three.
std::vector<MeasureTask> quick_part(const std::vector<MeasureTask>& tasks) {
  std::map<std::string, std::size_t> sizes;
  for (const MeasureTask& task : tasks) ++sizes[group_of(task)];
  std::map<std::string, std::size_t> taken;
  std::vector<MeasureTask> part;
  for (const MeasureTask& task : tasks) {
    const std::string group = group_of(task);
    if (taken[group]++ < std::max<std::size_t>(3, sizes[group] / 10)) part.push_back(task);
  }
  return part;
}

void require_known(const char* kind, const std::vector<std::string>& names,
                   const std::vector<std::string>& known) {
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw unknown_name(kind, name, known);
    }
  }
}

bool wanted(const std::vector<std::string>& names, const std::string& name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

double as_double(std::int64_t size) { return static_cast<double>(size); }

}  // namespace

const std::vector<std::string>& measured_ops() {
  static const std::vector<std::string> kOps = {
      "gemm",         "batched_gemm", "conv",         "copy",        "add",    "gelu",
      "softmax",      "layer_norm",   "reduce",       "transpose",   "gather", "stream_read",
      "stream_write", "stream_copy",  "stream_triad", "empty_kernel"};
  return kOps;
}

const std::vector<std::string>& measured_dtypes() { return kGemmTypes; }

std::vector<MeasureTask> make_plan(const PlanOptions& options) {
  require_known("operator", options.ops, measured_ops());
  require_known("data type", options.dtypes, measured_dtypes());
  Points points;
  add_gemms(points);
  add_convolutions(points);
  add_vector_operators(points);
  add_streams(points);
  std::vector<MeasureTask> tasks = points.take();
  shuffle(tasks);
  if (options.quick) tasks = quick_part(tasks);
  const auto unwanted = [&](const MeasureTask& task) {
    return !wanted(options.ops, task.op) || !wanted(options.dtypes, task.dtype);
  };
  tasks.erase(std::remove_if(tasks.begin(), tasks.end(), unwanted), tasks.end());
  return tasks;
}

std::vector<MeasureTask> make_checks() {
  Points points;
  for (const std::string& dtype : kGemmTypes) {
    points.add("gemm", dtype, gemm_shape(64, 128, 256), kWarm);
    points.add("gemm", dtype, gemm_shape(48, 80, 1040), kWarm);
    points.add("gemm", dtype, gemm_shape(1, 256, 512), kWarm);
    points.add("batched_gemm", dtype, batched_shape(3, 32, 48, 64), kWarm);
    points.add("batched_gemm", dtype, batched_shape(2, 16, 128, 256), kWarm);
  }
  for (const std::string& dtype : kConvTypes) {
    points.add("conv", dtype, conv_sizes({2, 16, 9, 32, 3, 1, 1, 1}), kWarm);
    points.add("conv", dtype, conv_sizes({1, 32, 8, 16, 1, 2, 0, 1}), kWarm);
  }
  for (const std::string& dtype : kVectorTypes) {
    for (const char* op : {"copy", "add", "gelu", "softmax", "layer_norm", "reduce", "transpose"}) {
      points.add(op, dtype, matrix_shape(5, 768), kWarm);
      points.add(op, dtype, matrix_shape(33, 37), kWarm);
      points.add(op, dtype, matrix_shape(3, 12288), kWarm);
    }
    points.add("gather", dtype, {{"rows", 17}, {"cols", 64}, {"table_rows", 100}}, kWarm);
    points.add("gather", dtype, {{"rows", 5}, {"cols", 37}, {"table_rows", 7}}, kWarm);
  }
  for (const char* op : {"stream_read", "stream_write", "stream_copy", "stream_triad"}) {
    points.add(op, "fp32", {{"bytes", 48 << 10}}, kWarm);
    points.add(op, "fp32", {{"bytes", 1 << 20}}, kWarm);
  }
  points.add("empty_kernel", "fp32", {{"count", 1}}, kWarm);
  points.add("empty_kernel", "fp32", {{"count", 3}}, kWarm);
  return points.take();
}

double task_flops(const MeasureTask& task) {
  if (task.op == "gemm" || task.op == "batched_gemm") {
    const double batch = task.op == "gemm" ? 1 : as_double(task.size("b"));
    return 2 * batch * as_double(task.size("m")) * as_double(task.size("n")) *
           as_double(task.size("k"));
  }
  if (task.op == "conv") {
    const ConvShape shape = conv_shape(task);
    const std::size_t depth = shape.channels / shape.groups;
    return 2.0 * static_cast<double>(shape.batch * shape.out_height() * shape.out_width() *
                                     shape.filters * shape.kernel * shape.kernel * depth);
  }
  return 0;
}

double task_bytes(const MeasureTask& task) {
  const auto element = static_cast<double>(element_bytes(input_element(task.dtype)));
  if (task.op == "empty_kernel") return 0;
  if (task.op.rfind("stream_", 0) == 0) return as_double(task.size("bytes"));
  if (task.op == "gemm" || task.op == "batched_gemm") {
    const double batch = task.op == "gemm" ? 1 : as_double(task.size("b"));
    const double m = as_double(task.size("m"));
    const double n = as_double(task.size("n"));
    return batch * (m + n) * as_double(task.size("k")) * element + batch * m * n * element;
  }
  if (task.op == "conv") {
    const ConvShape shape = conv_shape(task);
    const auto pixels = static_cast<double>(shape.batch * shape.height * shape.width);
    const auto out = static_cast<double>(shape.batch * shape.out_height() * shape.out_width());
    const std::size_t depth = shape.channels / shape.groups;
    const auto weights = static_cast<double>(shape.filters * shape.kernel * shape.kernel * depth);
    return element * (pixels * static_cast<double>(shape.channels) + weights +
                      out * static_cast<double>(shape.filters));
  }
  const double elements = as_double(task.size("rows")) * as_double(task.size("cols"));
  if (task.op == "add") return 3 * elements * element;
  if (task.op == "reduce") return (elements + as_double(task.size("rows"))) * element;
  return 2 * elements * element;
}

}  // namespace foretell

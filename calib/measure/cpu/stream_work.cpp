// Streams through memory and the fork and join of threads, as loops of our own.
#include <omp.h>

#include <cstdint>
#include <vector>

#include "calib/measure/cpu/cpu_work.hpp"

namespace foretell {
namespace {

// Every thread works on the part of the buffers that it has touched first.
class Stream : public CpuWork {
 public:
  // `arrays` of `values` numbers together hold all bytes that move.
  Stream(std::string op, std::int64_t bytes) : op_(std::move(op)) {
    const std::int64_t arrays = op_ == "stream_copy" ? 2 : op_ == "stream_triad" ? 3 : 1;
    const auto values = static_cast<std::size_t>(bytes / 4 / arrays);
    a_.resize(values);
    if (arrays > 1) b_.resize(values);
    if (arrays > 2) c_.resize(values);
    run();
  }

  void run() override {
    const auto size = static_cast<std::int64_t>(a_.size());
    float* a = a_.data();
    const float* b = b_.data();
    const float* c = c_.data();
    if (op_ == "stream_read") {
      float sum = 0;
#pragma omp parallel for simd reduction(+ : sum) schedule(static)
      for (std::int64_t i = 0; i < size; ++i) sum += a[i];
      sink_ = sum;
    } else if (op_ == "stream_write") {
#pragma omp parallel for simd schedule(static)
      for (std::int64_t i = 0; i < size; ++i) a[i] = 1.5F;
    } else if (op_ == "stream_copy") {
#pragma omp parallel for simd schedule(static)
      for (std::int64_t i = 0; i < size; ++i) a[i] = b[i];
    } else {
#pragma omp parallel for simd schedule(static)
      for (std::int64_t i = 0; i < size; ++i) a[i] = b[i] + 0.5F * c[i];
    }
  }

 private:
  std::string op_;
  std::vector<float> a_, b_, c_;
  volatile float sink_ = 0;
};

class ForkJoin : public CpuWork {
 public:
  void run() override {
#pragma omp parallel
    {
      __asm__ volatile("" ::: "memory");  // so that the region is not left out
    }
  }
};

}  // namespace

std::unique_ptr<CpuWork> prepare_stream(const MeasureTask& task) {
  if (task.op == "fork_join") return std::make_unique<ForkJoin>();
  return std::make_unique<Stream>(task.op, task.size("bytes"));
}

std::unique_ptr<CpuWork> prepare_work(const MeasureTask& task) {
  if (task.op == "fork_join" || task.op.rfind("stream_", 0) == 0) return prepare_stream(task);
  if (task.op == "bert_layer" || task.op == "resnet_block") return prepare_block(task);
  return prepare_primitive(task);
}

}  // namespace foretell

#include "calib/measure/cuda/cuda_machine.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <thread>

#include "calib/measure/cuda/board.hpp"
#include "calib/measure/cuda/device_memory.hpp"
#include "calib/measure/cuda/device_op.hpp"
#include "calib/measure/cuda/kernels.hpp"
#include "calib/measure/cuda/measure_options.hpp"
#include "calib/measure/harness/benchmark_timer.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr double kMicro = 1e-6;
constexpr double kMilli = 1e-3;
constexpr double kMemoryShare = 0.6;         // of what is free, for the copies of one operator
constexpr int kLaunches = 8;                 // wanted in one graph or one burst of a stream
constexpr double kBurstSeconds = 2e-3;       // of the repeats of a burst
constexpr double kSustainedSeconds = 20e-3;  // of the repeats under sustained load
constexpr double kHeatingSeconds = 1;        // of work before sustained repeats
constexpr auto kRest = std::chrono::milliseconds(5);  // before a burst

class Stream {
 public:
  Stream() { check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "a stream"); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const { return stream_; }
  void wait() const { check_cuda(cudaStreamSynchronize(stream_), "running the kernel"); }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  Event() { check_cuda(cudaEventCreate(&event_), "an event"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(const Stream& stream) const {
    check_cuda(cudaEventRecord(event_, stream.get()), "an event");
  }
  double seconds_since(const Event& before) const {
    float milliseconds = 0;
    check_cuda(cudaEventElapsedTime(&milliseconds, before.event_, event_), "an event");
    return static_cast<double>(milliseconds) * kMilli;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

// All copies of an operator one after another, `rounds` times over.
class Batch {
 public:
  Batch(DeviceOp& op, int copies, int rounds) : op_(op), copies_(copies), rounds_(rounds) {}
  ~Batch() {
    if (graph_ != nullptr) cudaGraphExecDestroy(graph_);
  }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  void start(const Stream& stream) const {
    if (graph_ != nullptr) {
      check_cuda(cudaGraphLaunch(graph_, stream.get()), "launching the graph");
    } else {
      launch_all(stream);
      check_cuda(cudaGetLastError(), "launching the kernel");
    }
  }

  // From now on as one graph, made on a stream that has nothing to do and that lives as long as the
  // handles of the libraries, which remember it.
  void capture(const Stream& stream) {
    op_.launch(0, stream.get());  // libraries allocate at their first call
    stream.wait();
    check_cuda(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal), "a graph");
    cudaGraph_t graph = nullptr;
    try {
      launch_all(stream);
    } catch (...) {  // the stream would go on recording
      if (cudaStreamEndCapture(stream.get(), &graph) == cudaSuccess) cudaGraphDestroy(graph);
      cudaGetLastError();
      throw;
    }
    check_cuda(cudaStreamEndCapture(stream.get(), &graph), "a graph");
    const cudaError_t status = cudaGraphInstantiateWithFlags(&graph_, graph, 0);
    cudaGraphDestroy(graph);
    check_cuda(status, "a graph");
  }

  bool is_graph() const { return graph_ != nullptr; }
  int operators() const { return copies_ * rounds_ * op_.operators_per_launch(); }

 private:
  void launch_all(const Stream& stream) const {
    for (int round = 0; round < rounds_; ++round) {
      for (int copy = 0; copy < copies_; ++copy) op_.launch(copy, stream.get());
    }
  }

  DeviceOp& op_;
  int copies_;
  int rounds_;
  cudaGraphExec_t graph_ = nullptr;
};

class CudaMachine : public MeasuredMachine {
 public:
  CudaMachine(int gpu, const std::string& device_name, int repeats) : repeats_(repeats) {
    check_cuda(cudaGetDeviceProperties(&properties_, gpu), "cudaGetDeviceProperties");
    char bus[32] = {};
    check_cuda(cudaDeviceGetPCIBusId(bus, sizeof bus, gpu), "cudaDeviceGetPCIBusId");
    board_ = open_board(bus);
    int runtime = 0;
    check_cuda(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
    const std::string chip = properties_.name;
    const std::string driver = board_->driver();
    facts_.device = device_name.empty()
                        ? device_id_of(chip, static_cast<double>(properties_.totalGlobalMem))
                        : device_name;
    facts_.machine = chip + (driver.empty() ? "" : ", driver " + driver);
    facts_.software = gemm_software() + ", " + conv_software() + ", CUDA " +
                      std::to_string(runtime / 1000) + "." + std::to_string(runtime / 10 % 100);
  }

  MachineFacts facts() const override { return facts_; }

  CheckOutcome check(const MeasureTask& task) override { return make_device_op(task, 1)->check(); }

  TimedTask time(const MeasureTask& task) override {
    std::size_t free_bytes = 0;
    std::size_t all_bytes = 0;
    check_cuda(cudaMemGetInfo(&free_bytes, &all_bytes), "cudaMemGetInfo");
    const int copies =
        copies_for(task, properties_.l2CacheSize, kMemoryShare * static_cast<double>(free_bytes));
    const std::unique_ptr<DeviceOp> op = make_device_op(task, copies);
    Batch batch(*op, copies, rounds_for(*op, copies));
    if (task.state("launch") == "graph") batch.capture(stream_);
    const bool sustained = task.state("load") == "sustained";
    // Launches by the host are measured with what the host takes, and heat is not let out.
    const bool held = batch.is_graph() && !sustained;
    if (held) once(batch, held);  // loads the kernel that holds
    warm_up(batch, sustained ? kHeatingSeconds : kBurstSeconds);
    RepeatOptions options;
    options.repeats = repeats_;
    options.least_seconds = sustained ? kSustainedSeconds : kBurstSeconds;
    if (!sustained) options.before_each = [] { std::this_thread::sleep_for(kRest); };
    TimedTask timed;
    timed.samples_us = repeat_timed(
        task.op, [&] { return once(batch, held); }, options);
    for (double& sample : timed.samples_us) sample /= kMicro * batch.operators();
    timed.readings = readings_under_load(batch);
    timed.readings["copies"] = copies;
    return timed;
  }

 private:
  // Few copies are used several times over, unless that would take longer than a burst.
  int rounds_for(DeviceOp& op, int copies) const {
    const Batch single(op, copies, 1);
    once(single, false);  // the first call loads the kernel
    const double seconds = std::max(once(single, false), kMicro);
    const double wanted = std::ceil(1.0 * kLaunches / copies);
    return static_cast<int>(std::clamp(kBurstSeconds / seconds, 1.0, wanted));
  }

  // With a hold the first event is recorded when all of the batch is queued after it, so that the
  // time between the events is the GPU's alone.
  double once(const Batch& batch, bool held) const {
    if (held) launch_hold(stream_.get());
    begin_.record(stream_);
    batch.start(stream_);
    end_.record(stream_);
    stream_.wait();
    return end_.seconds_since(begin_);
  }

  void warm_up(const Batch& batch, double seconds) const {
    const auto start = std::chrono::steady_clock::now();
    do {
      once(batch, false);
    } while (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() <
             seconds);
  }

  // Read while the same work goes on, so that they are those of the work.
  std::map<std::string, std::optional<double>> readings_under_load(const Batch& batch) const {
    const double seconds = std::max(once(batch, false), kMicro);
    const int batches = static_cast<int>(std::clamp(kSustainedSeconds / seconds, 1.0, 1000.0));
    const std::optional<double> energy = energy_of_one(batch, seconds);
    for (int i = 0; i < batches; ++i) batch.start(stream_);
    // nvidia-smi takes longer than the work that is queued: there is more until it has answered.
    auto reading = std::async(std::launch::async, [this] { return board_->read(); });
    while (reading.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      batch.start(stream_);
      batch.start(stream_);
      stream_.wait();
    }
    const BoardReadings board = reading.get();
    stream_.wait();
    return {{"clock_mhz", board.clock_mhz},
            {"power_w", board.power_w},
            {"temperature_c", board.temperature_c},
            {"energy_j", energy}};
  }

  // The energy of one operator, by the board's counter over half a second of work; idle power is
  // part of it.
  std::optional<double> energy_of_one(const Batch& batch, double seconds) const {
    constexpr double kCountedSeconds = 0.5;  // many updates of the counter
    const auto batches = static_cast<int>(std::clamp(kCountedSeconds / seconds, 1.0, 1e5));
    const std::optional<double> before = board_->energy_j();
    if (!before) return std::nullopt;
    for (int i = 0; i < batches; ++i) {
      batch.start(stream_);
      constexpr int kQueued = 64;  // launches that wait at the same time
      if (i % kQueued == kQueued - 1) stream_.wait();
    }
    stream_.wait();
    const std::optional<double> after = board_->energy_j();
    if (!after || *after <= *before) return std::nullopt;
    return (*after - *before) / (static_cast<double>(batches) * batch.operators());
  }

  int repeats_;
  cudaDeviceProp properties_{};
  std::unique_ptr<Board> board_;
  MachineFacts facts_;
  Stream stream_;
  Event begin_;
  Event end_;
};

}  // namespace

std::unique_ptr<MeasuredMachine> open_cuda_machine(int gpu, const std::string& device_name,
                                                   int repeats) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || count == 0) {
    const std::string reason = status == cudaSuccess ? "none is there" : cudaGetErrorString(status);
    throw UserError(
        "no NVIDIA GPU can be used here: " + reason +
        "\nWanted are a GPU, its driver (nvidia-smi has to list it) and, in a container, access to "
        "both.");
  }
  if (gpu >= count) {
    throw UserError("--gpu: there are " + std::to_string(count) + " GPUs, the first is 0");
  }
  check_cuda(cudaSetDevice(gpu), "cudaSetDevice");  // before its streams and events are made
  return std::make_unique<CudaMachine>(gpu, device_name, repeats);
}

}  // namespace foretell

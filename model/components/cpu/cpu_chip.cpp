#include "model/components/cpu/cpu_chip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hw/spec/shared/kernel_shapes.hpp"
#include "model/base/errors.hpp"
#include "model/components/shared/memory_server.hpp"
#include "model/components/shared/stream_registry.hpp"
#include "model/timing/shared/closed_network.hpp"

namespace foretell {
namespace {

constexpr const char* kMemoryKey = "device.dram.model";

// The bank model knows the timings of stacked memories alone.
const std::string& without_banks(const std::string& memory_model) {
  if (memory_model != kBankModel) return memory_model;
  throw UserError(
      fmt::format("{}: the bank model has timings of stacked memories (HBM), none of DIMMs; leave "
                  "it at '{}'",
                  kMemoryKey, kRateModel));
}

// A few of each run, so that cores take turns at the memory.
std::vector<CpuChunkRun> in_pieces(const std::vector<CpuChunkRun>& runs) {
  const std::int64_t most = kernel_shapes().loops.memory_turns;
  std::vector<CpuChunkRun> pieces;
  for (const CpuChunkRun& run : runs) {
    const std::int64_t wanted = std::min(most, run.count);
    for (std::int64_t i = 0; i < wanted; ++i) {
      CpuChunkRun piece = run;
      piece.count = run.count * (i + 1) / wanted - run.count * i / wanted;
      pieces.push_back(piece);
    }
  }
  return pieces;
}

// Everything that the time of a loop depends on.
KnownTimes::Key key_of_loop(const Loop& loop) {
  KnownTimes::Key key = {static_cast<double>(loop.threads),
                         loop.stages_ahead,
                         loop.core_dram.value(),
                         loop.dram.value(),
                         loop.call.value(),
                         loop.fork_join.value()};
  for (const CpuChunkRun& run : loop.chunks) {
    key.insert(key.end(), {static_cast<double>(run.count), run.compute.value(), run.feed.value(),
                           run.dram.value()});
  }
  return key;
}

}  // namespace

CpuCore::CpuCore(const sc_core::sc_module_name& name, BytesPerSecond peak)
    : sc_module(name), memory("memory"), peak_(peak) {
  memory.register_nb_transport_bw(this, &CpuCore::nb_transport_bw);
  payload_.set_mm(this);
  payload_.acquire();
  payload_.set_extension(&occupied_);
  SC_METHOD(step);
  sensitive << step_;
  dont_initialize();
  SC_METHOD(answered);
  sensitive << answer_;
  dont_initialize();
}

CpuCore::~CpuCore() { payload_.clear_extension(&occupied_); }

void CpuCore::start(const Loop& loop, int thread, const Speaker& speaker) {
  loop_ = &loop;
  speaker_ = speaker;
  pieces_ = in_pieces(part_of(loop, thread));
  next_ = 0;
  step_.notify(sc_core::SC_ZERO_TIME);
}

void CpuCore::step() {
  if (next_ == pieces_.size()) {
    done.notify(sc_core::SC_ZERO_TIME);
    return;
  }
  piece_begin_ = now_ticks();
  const Bytes bytes = static_cast<double>(piece().count) * piece().dram;
  left_ = 0;
  if (bytes > Bytes(0)) {
    left_ = static_cast<std::uint64_t>(std::max(1LL, std::llround(bytes.value())));
    // The memory serves at its peak, so a loop that reaches less of it occupies it longer.
    const double all = std::max(1.0, std::round(bytes.value() * (peak_ / loop_->dram)));
    per_byte_ = all / static_cast<double>(left_);
  }
  if (left_ > 0) {
    request();
  } else {
    end_piece();
  }
}

void CpuCore::request() {
  const std::uint64_t now = std::min(left_, kPayloadBytes);
  fill_payload(payload_, tlm::TLM_READ_COMMAND, address_, now);
  occupied_.bytes = per_byte_ * static_cast<double>(now);
  left_ -= now;
  address_ += now;
  asked_ = true;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  const tlm::tlm_sync_enum sync = memory->nb_transport_fw(payload_, phase, delay);
  const bool over =
      sync == tlm::TLM_COMPLETED || (sync == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP);
  if (over) answer_.notify(delay);
}

tlm::tlm_sync_enum CpuCore::nb_transport_bw(tlm::tlm_generic_payload& /*payload*/,
                                            tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  if (delay > sc_core::SC_ZERO_TIME) {
    answer_.notify(delay);
  } else {
    answered();
  }
  return tlm::TLM_COMPLETED;
}

void CpuCore::answered() {
  asked_ = false;
  require_answer(payload_, memory.name(), speaker_);
  if (left_ > 0) {
    request();
  } else {
    end_piece();
  }
}

void CpuCore::end_piece() {
  const auto count = static_cast<double>(piece().count);
  Ticks moving = now_ticks() - piece_begin_;
  if (moving > 0) moving = std::max(moving, to_ticks(count * piece().dram / loop_->core_dram));
  moving += to_ticks(count * piece().feed);
  const Ticks compute = to_ticks(count * piece().compute);
  const Ticks time = std::llround(closed_network_time(
      static_cast<double>(compute), static_cast<double>(moving), loop_->stages_ahead));
  busy_ += time;
  ++next_;
  step_.notify(to_sc_time(std::max<Ticks>(0, piece_begin_ + time - now_ticks())));
}

CpuChip::CpuChip(const sc_core::sc_module_name& name, int cores, BytesPerSecond bandwidth,
                 const std::string& memory_model, const Program& program, bool exact)
    : Executor(name, program, 0),
      memory_(make_memory("memory",
                          {Bytes(0), bandwidth, Seconds(0), without_banks(memory_model), "", 0},
                          kMemoryKey)),
      exact_(exact) {
  for (int i = 0; i < cores; ++i) {
    const std::string core = "core" + std::to_string(i);
    cores_.push_back(std::make_unique<CpuCore>(core.c_str(), bandwidth));
    cores_.back()->memory.bind(memory_->target());
  }
  attach_modules(*this);
}

std::unique_ptr<StreamModule> CpuChip::make_loops(std::size_t stream) {
  const std::string name = "stream" + std::to_string(stream);
  return std::make_unique<LoopStream>(name.c_str(), stream, shared(), cores_, exact_);
}

void CpuChip::add_activity(const std::string& prefix, std::vector<ModuleActivity>& modules) const {
  UnitTimes busy;
  Bytes dram;
  for (const OperatorActivity& op : execution().operators) {
    busy += op.busy;
    dram += op.dram;
  }
  for (const WorkUnit unit : {WorkUnit::kDram, WorkUnit::kArithmetic, WorkUnit::kCaches,
                              WorkUnit::kCalls, WorkUnit::kForkJoin}) {
    if (unit == WorkUnit::kDram && !(dram > Bytes(0))) continue;
    std::string path = prefix + std::string(to_string(unit));
    std::replace(path.begin(), path.end(), ' ', '_');
    const bool memory = unit == WorkUnit::kDram;
    modules.push_back({std::move(path), busy[unit], Seconds(0), memory ? dram.value() : 0});
  }
}

LoopStream::LoopStream(const sc_core::sc_module_name& name, std::size_t stream,
                       ProgramShared& shared, std::vector<std::unique_ptr<CpuCore>>& cores,
                       bool exact)
    : InOrderStream(name, stream, shared),
      queue_(shared.program.entries<Loop>(stream)),
      cores_(cores),
      known_(!exact) {
  SC_METHOD(fork);
  sensitive << fork_;
  dont_initialize();
  SC_METHOD(finish);
  sensitive << joined_;
  dont_initialize();
  for (const auto& core : cores_) {
    sc_core::sc_spawn_options options;
    options.spawn_method();
    options.dont_initialize();
    options.set_sensitivity(&core->done);
    sc_core::sc_spawn([this] { join(); }, sc_core::sc_gen_unique_name("join"), &options);
  }
}

void LoopStream::begin_entry(std::size_t /*index*/) {
  FORETELL_CHECK(loop().threads <= static_cast<int>(cores_.size()), "more threads than cores");
  if (known_.enabled()) {
    key_ = key_of_loop(loop());
    if (const KnownTimes::Known* const known = known_.find(key_)) {
      joined_.notify(to_sc_time(known->time));
      return;
    }
  }
  fork_.notify(to_sc_time(to_ticks(loop().call)));
}

void LoopStream::fork() {
  working_ = loop().threads;
  for (int thread = 0; thread < loop().threads; ++thread) {
    cores_[static_cast<std::size_t>(thread)]->start(
        loop(), thread,
        {[this] { return shared().program.place(stream(), position()); }, kMemoryKey});
  }
}

std::string LoopStream::waits_for() const {
  for (const auto& core : cores_) {
    if (!core->waits_for_memory()) continue;
    return std::string("the memory at ") + core->memory.name() + " (" + kMemoryKey +
           "), which does not answer";
  }
  return "";
}

void LoopStream::join() {
  if (--working_ == 0) joined_.notify(to_sc_time(to_ticks(loop().fork_join)));
}

void LoopStream::finish() {
  known_.add(std::move(key_), {now_ticks() - began(), 0});
  if (OperatorActivity* const counted = activity()) {
    counted->busy += busy_of(loop());
    counted->dram += dram_of(loop());
    counted->work += loop().work;
    counted->work.dram += dram_of(loop());
    counted->work.busy += to_seconds(now_ticks() - began()) * loop().threads;
  }
  end_entry();
}

}  // namespace foretell

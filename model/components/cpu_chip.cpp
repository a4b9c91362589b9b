#include "model/components/cpu_chip.hpp"

#include <algorithm>
#include <cmath>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kPieces = 8;          // of a run of equal chunks on one core
constexpr double kLargestPayload = 1 << 30;  // a payload counts its bytes in 32 bits

HbmSpec server_of(BytesPerSecond bandwidth) {
  HbmSpec server;
  server.bandwidth = bandwidth;
  return server;
}

double overlapped(double a, double b, double exponent) {
  const double longer = std::max(a, b);
  if (!(longer > 0)) return 0;
  return longer * std::pow(1 + std::pow(std::min(a, b) / longer, exponent), 1 / exponent);
}

// At most kPieces of each run, so that cores take turns at the memory.
std::vector<CpuChunkRun> in_pieces(const std::vector<CpuChunkRun>& runs) {
  std::vector<CpuChunkRun> pieces;
  for (const CpuChunkRun& run : runs) {
    const std::int64_t wanted = std::min(kPieces, run.count);
    for (std::int64_t i = 0; i < wanted; ++i) {
      CpuChunkRun piece = run;
      piece.count = run.count * (i + 1) / wanted - run.count * i / wanted;
      pieces.push_back(piece);
    }
  }
  return pieces;
}

}  // namespace

CpuCore::CpuCore(const sc_core::sc_module_name& name, BytesPerSecond peak)
    : sc_module(name), memory("memory"), peak_(peak) {
  SC_METHOD(step);
  sensitive << step_;
  dont_initialize();
}

void CpuCore::start(const CpuLoop& loop, int thread) {
  loop_ = &loop;
  pieces_ = in_pieces(part_of(loop, thread));
  next_ = 0;
  step_.notify(sc_core::SC_ZERO_TIME);
}

void CpuCore::step() {
  if (next_ == pieces_.size()) {
    done.notify(sc_core::SC_ZERO_TIME);
    return;
  }
  const CpuChunkRun& piece = pieces_[next_++];
  const auto count = static_cast<double>(piece.count);
  const Ticks moving = to_ticks(count * piece.feed) + fetch(count * piece.dram);
  const Ticks compute = to_ticks(count * piece.compute);
  const Ticks time = std::llround(
      overlapped(static_cast<double>(compute), static_cast<double>(moving), loop_->overlap));
  busy_ += time;
  step_.notify(to_sc_time(time));
}

Ticks CpuCore::fetch(Bytes bytes) {
  if (!(bytes > Bytes(0))) return 0;
  FORETELL_CHECK(loop_->core_dram > BytesPerSecond(0), "bytes without a rate");
  // The server takes bytes at its peak, so a loop that reaches less of it occupies it longer.
  double left = std::max(1.0, std::round(bytes.value() * (peak_ / loop_->dram)));
  Ticks delay = 0;
  tlm::tlm_generic_payload payload;
  payload.set_command(tlm::TLM_READ_COMMAND);
  while (left > 0) {
    const double piece = std::min(left, kLargestPayload);
    payload.set_data_length(static_cast<unsigned>(piece));
    sc_core::sc_time until = sc_core::SC_ZERO_TIME;
    memory->b_transport(payload, until);
    delay = to_ticks(until);
    left -= piece;
  }
  return std::max(delay, to_ticks(bytes / loop_->core_dram));
}

CpuChip::CpuChip(const sc_core::sc_module_name& name, int cores, BytesPerSecond bandwidth)
    : sc_module(name), memory_spec_(server_of(bandwidth)), memory_("memory", memory_spec_) {
  for (int i = 0; i < cores; ++i) {
    const std::string core = "core" + std::to_string(i);
    cores_.push_back(std::make_unique<CpuCore>(core.c_str(), bandwidth));
    cores_.back()->memory.bind(memory_.socket);
  }
  SC_METHOD(fork);
  sensitive << fork_;
  dont_initialize();
  SC_METHOD(next);
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

Ticks CpuChip::busy() const {
  Ticks sum = 0;
  for (const auto& core : cores_) sum += core->busy();
  return sum;
}

void CpuChip::run(const std::vector<CpuProgram>& programs) {
  programs_ = &programs;
  program_ = loop_ = 0;
  executions_.assign(programs.size(), {});
  if (!programs.empty()) begin_loop();
}

void CpuChip::begin_loop() {
  FORETELL_CHECK(!(*programs_)[program_].loops.empty(), "a program without loops");
  FORETELL_CHECK(loop().threads <= static_cast<int>(cores_.size()), "more threads than cores");
  if (loop_ == 0) executions_[program_].begin = now_ticks();
  fork_.notify(to_sc_time(to_ticks(loop().call)));
}

void CpuChip::fork() {
  working_ = loop().threads;
  for (int thread = 0; thread < loop().threads; ++thread) {
    cores_[static_cast<std::size_t>(thread)]->start(loop(), thread);
  }
}

void CpuChip::join() {
  if (--working_ == 0) joined_.notify(to_sc_time(to_ticks(loop().fork_join)));
}

void CpuChip::next() {
  if (++loop_ == (*programs_)[program_].loops.size()) {
    executions_[program_].end = now_ticks();
    loop_ = 0;
    ++program_;
  }
  if (program_ < programs_->size()) begin_loop();
}

}  // namespace foretell

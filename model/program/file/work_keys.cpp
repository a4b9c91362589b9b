#include "model/program/file/work_keys.hpp"

#include <fmt/format.h>

#include <functional>
#include <tuple>
#include <utility>

#include "model/base/errors.hpp"
#include "model/config/problems.hpp"
#include "model/config/unit_text.hpp"

namespace foretell {
namespace {

// The keys of one statement, read one after another.
class WorkReader {
 public:
  WorkReader(const Node& node, const std::string& path, const ExpressionNames& names)
      : node_(node), path_(path), names_(names) {}

  // The first key, which names the work.
  void name(const char* key, std::string& value) {
    keys_.emplace_back(key);
    const Node& text = node_.required(key, path_);
    value = text.as_text(path_ + "." + key);
    if (value.empty()) throw problem_at(text, path_ + "." + key, "a name is missing");
  }

  template <class Q>
  void quantity(const char* key, Q& value) {
    read(key, [&](const std::string& text) { value = parse_quantity<Q>(text); });
    if (value < Q(0)) throw problem_at(*node_.find(key), path_ + "." + key, "is below 0");
  }

  void count(const char* key, std::int64_t& value, std::int64_t least = 1) {
    read(key, [&](const std::string& text) { value = Expression::parse(text, names_).value({}); });
    if (value < least) {
      throw problem_at(*node_.find(key), path_ + "." + key,
                       fmt::format("is {}; the least is {}", value, least));
    }
  }

  // Without a unit, `least` or more.
  void number(const char* key, double least, double& value) {
    read(key, [&](const std::string& text) { value = parse_quantity(text, Dimension{}); });
    if (!(value >= least)) {
      throw problem_at(*node_.find(key), path_ + "." + key,
                       fmt::format("is {}; the least is {}", value, least));
    }
  }

  void done(const std::vector<std::string>& common) {
    keys_.insert(keys_.end(), common.begin(), common.end());
    node_.only_keys(keys_, path_);
  }

 private:
  void read(const char* key, const std::function<void(const std::string&)>& take) {
    keys_.emplace_back(key);
    const Node* value = node_.find(key);
    if (value == nullptr) return;
    const std::string path = path_ + "." + key;
    const std::string& text = value->as_text(path);
    try {
      take(text);
    } catch (const UserError& error) {
      throw problem_at(*value, path, error.what());
    }
  }

  const Node& node_;
  const std::string& path_;
  const ExpressionNames& names_;
  std::vector<std::string> keys_;
};

}  // namespace

UserError problem_at(const Node& node, const std::string& path, const std::string& message) {
  Problems problem;
  problem.add(node, path, message);
  return UserError(problem.lines().front());
}

// What a thread block holds of its SM; whoever states a part of it states its threads.
void read_needs(const Node& node, const std::string& path, std::int64_t threads,
                std::int64_t registers, BlockNeeds& needs) {
  constexpr std::int64_t kMaxThreads = 1024;  // of a thread block of CUDA and HIP
  constexpr std::int64_t kMaxRegisters = 1'000'000;
  for (const auto& [key, value, most] : {std::tuple{"threads", threads, kMaxThreads},
                                         std::tuple{"registers", registers, kMaxRegisters}}) {
    if (value > most) {
      throw problem_at(*node.find(key), path + "." + key,
                       fmt::format("is {}; no thread block has more than {}", value, most));
    }
  }
  if (threads == 0 && (registers > 0 || needs.shared_memory > Bytes(0))) {
    throw problem_at(node, path + ".threads",
                     "is missing: a grid that states what its thread blocks hold of an SM states "
                     "their threads, too");
  }
  needs.threads = static_cast<int>(threads);
  needs.registers = static_cast<int>(registers);
}

Grid read_grid(const Node& node, const std::string& path, const ExpressionNames& names,
               const std::vector<std::string>& common) {
  Grid grid;
  CtaRun blocks;
  std::int64_t per_sm = 1;
  WorkReader reader(node, path, names);
  blocks.count = 1;
  reader.name("grid", grid.name);
  reader.count("blocks", blocks.count);
  reader.quantity("block_time", blocks.duration);
  reader.count("per_sm", per_sm);
  std::int64_t threads = 0;
  std::int64_t registers = 0;
  reader.count("threads", threads, 0);
  reader.count("registers", registers, 0);
  reader.quantity("shared_memory", grid.needs.shared_memory);
  reader.quantity("launch", grid.launch);
  reader.quantity("early_launch", grid.early_launch);
  reader.quantity("latency", grid.memory_latency);
  reader.quantity("tail", grid.tail);
  reader.quantity("dram", grid.dram_bytes);
  reader.quantity("dram_rate", grid.dram_rate);
  reader.quantity("l2", grid.l2_bytes);
  reader.quantity("l2_rate", grid.l2_rate);
  reader.number("stages_ahead", 0, grid.stages_ahead);
  reader.quantity("tensor", grid.busy[WorkUnit::kTensorPipe]);
  reader.quantity("vector", grid.busy[WorkUnit::kVectorPipe]);
  reader.done(common);
  constexpr std::int64_t kMaxPerSm = 64;
  if (per_sm > kMaxPerSm) {
    throw problem_at(*node.find("per_sm"), path + ".per_sm",
                     fmt::format("is {}; an SM holds {} thread blocks at most", per_sm, kMaxPerSm));
  }
  grid.ctas_per_sm = static_cast<int>(per_sm);
  read_needs(node, path, threads, registers, grid.needs);
  if (blocks.duration > Seconds(0)) grid.ctas = {blocks};
  grid.moved = grid.dram_bytes;
  grid.busy[WorkUnit::kLaunch] = grid.launch + grid.memory_latency;
  grid.busy[WorkUnit::kReduction] = grid.tail;
  if (grid.dram_rate > BytesPerSecond(0)) {
    grid.busy[WorkUnit::kDram] = grid.dram_bytes / grid.dram_rate;
  }
  if (grid.l2_rate > BytesPerSecond(0)) grid.busy[WorkUnit::kL2] = grid.l2_bytes / grid.l2_rate;
  const bool tensor = grid.busy[WorkUnit::kTensorPipe] > Seconds(0);
  const bool vector = grid.busy[WorkUnit::kVectorPipe] > Seconds(0);
  grid.unit = tensor ? "tensor" : vector ? "vector" : "memory";
  return grid;
}

Collective read_exchange(const Node& node, const std::string& path, const ExpressionNames& names,
                         const std::vector<std::string>& common) {
  constexpr std::int64_t kMost = 1'000'000;
  Collective collective;
  LinkRound round;
  std::int64_t ranks = 2;
  std::int64_t rounds = 1;
  std::int64_t peers = 1;
  std::int64_t sms = 0;
  BytesPerSecond links;
  WorkReader reader(node, path, names);
  reader.name("exchange", collective.name);
  reader.count("ranks", ranks);
  reader.count("rounds", rounds);
  reader.count("peers", peers);
  reader.quantity("launch", collective.launch);
  reader.quantity("latency", round.latency);
  reader.quantity("message", round.links.each);
  reader.quantity("rate", round.links.rate);
  reader.quantity("links", links);
  reader.quantity("local", round.local);
  reader.quantity("local_rate", round.local_rate);
  reader.count("sms", sms, 0);
  reader.done(common);
  for (const auto& [key, count] : {std::pair("ranks", ranks), std::pair("rounds", rounds),
                                   std::pair("peers", peers), std::pair("sms", sms)}) {
    if (count <= kMost) continue;
    throw problem_at(*node.find(key), path + "." + key,
                     fmt::format("is {}; the most is {}", count, kMost));
  }
  if (links > BytesPerSecond(0) && round.links.rate > links) {
    throw problem_at(*node.find("rate"), path + ".rate", "messages are faster than the links");
  }
  round.times = static_cast<int>(rounds);
  round.links.peers = static_cast<int>(peers);
  collective.exchange.ranks = static_cast<int>(ranks);
  collective.exchange.peak = links;
  collective.exchange.rounds = {round};
  collective.exchange.sms = static_cast<int>(sms);
  const auto times = static_cast<double>(rounds);
  collective.busy[WorkUnit::kLaunch] = collective.launch + times * round.latency;
  if (round.links.rate > BytesPerSecond(0)) {
    collective.busy[WorkUnit::kLink] = sent_bytes(collective.exchange) / round.links.rate;
  }
  return collective;
}

Loop read_parallel_loop(const Node& node, const std::string& path, const ExpressionNames& names,
                        const std::vector<std::string>& common) {
  Loop loop;
  CpuChunkRun chunks;
  std::int64_t threads = 1;
  chunks.count = 1;
  WorkReader reader(node, path, names);
  reader.name("loop", loop.name);
  reader.count("threads", threads);
  reader.count("chunks", chunks.count);
  reader.quantity("compute", chunks.compute);
  reader.quantity("feed", chunks.feed);
  reader.quantity("dram", chunks.dram);
  reader.quantity("core_rate", loop.core_dram);
  reader.quantity("dram_rate", loop.dram);
  reader.number("stages_ahead", 0, loop.stages_ahead);
  reader.quantity("call", loop.call);
  reader.quantity("fork_join", loop.fork_join);
  reader.done(common);
  constexpr std::int64_t kMaxThreads = 4096;
  if (threads > kMaxThreads) {
    throw problem_at(*node.find("threads"), path + ".threads",
                     fmt::format("is {}; the most is {}", threads, kMaxThreads));
  }
  loop.threads = static_cast<int>(threads);
  loop.chunks = {chunks};
  loop.op_class = loop.name;
  loop.unit = chunks.compute > Seconds(0) ? "cores" : "memory";
  return loop;
}

HostCall read_host_call(const Node& node, const std::string& path, const ExpressionNames& names,
                        const std::vector<std::string>& common) {
  HostCall call;
  WorkReader reader(node, path, names);
  reader.name("call", call.name);
  reader.quantity("time", call.time);
  reader.done(common);
  return call;
}

}  // namespace foretell

#include "model/program/file/unroll.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr std::size_t kMaxEntries = 10'000'000;

std::string_view name_of(const Statement& statement) {
  switch (statement.kind) {
    case Statement::Kind::kTransfer:
      return to_string(statement.transfer.direction);
    case Statement::Kind::kGrid:
      return statement.grid.name;
    case Statement::Kind::kExchange:
      return statement.exchange.name;
    case Statement::Kind::kThreads:
      return statement.threads.name;
    case Statement::Kind::kHostCall:
      return statement.call.name;
    case Statement::Kind::kInstruction:
    case Statement::Kind::kLoop:
      break;
  }
  return to_string(statement.instruction.opcode);
}

Work no_work(StreamKind kind) {
  if (kind == StreamKind::kGrids) return std::vector<Grid>{};
  if (kind == StreamKind::kCollectives) return std::vector<Collective>{};
  if (kind == StreamKind::kLoops) return std::vector<Loop>{};
  return std::vector<HostCall>{};
}

}  // namespace

Unroller::Unroller(const ProgramDraft& draft)
    : draft_(draft), semaphores_(draft.semaphores.size()) {
  const auto add = [this](const std::string& name, const FileQueue& queue) {
    queues_.push_back({name, {}, {}, &queue.statements});
  };
  if (draft.has_engines) {
    for (const FileQueue& engine : draft.engines) add(engine.name, engine);
    for (const FileQueue& ring : draft.rings) add("dma " + ring.name, ring);
  }
  for (const FileQueue& other : draft.others) add(other.name, other);
}

Program Unroller::unroll() {
  program_.name = draft_.name;
  program_.operators = draft_.operators;
  if (draft_.has_engines) program_.engine(std::size_t{0});  // makes those of the engines
  for (const FileQueue& ring : draft_.rings) program_.add_ring(ring.name, {});
  for (const FileQueue& other : draft_.others) {
    program_.streams.push_back({other.name, no_work(other.kind)});
  }
  for (current_ = 0; current_ < queues_.size(); ++current_) {
    unroll_list(*queues_[current_].statements);
  }
  check_used();
  connect();
  return std::move(program_);
}

void Unroller::unroll_list(const std::vector<Statement>& statements) {
  for (const Statement& statement : statements) {
    if (statement.kind == Statement::Kind::kLoop) {
      unroll_loop(statement);
    } else {
      unroll_entry(statement);
    }
  }
}

void Unroller::unroll_loop(const Statement& loop) {
  const Node* at = loop.count.node;
  std::int64_t count = 0;
  try {
    count = loop.count.expression.value(indices_);
  } catch (const UserError& error) {
    throw UserError(fmt::format("{}: repeat: {}", at->where(), error.what()));
  }
  if (count < 1) {
    throw UserError(
        fmt::format("{}: repeat: {} times is no loop; state 1 or more", at->where(), count));
  }
  if (count > static_cast<std::int64_t>(kMaxEntries)) {
    throw UserError(
        fmt::format("{}: repeat: {} times; a program has at most {} instructions and transfers",
                    at->where(), count, kMaxEntries));
  }
  const Statement* first = &loop;
  while (first->kind == Statement::Kind::kLoop) first = &first->body.front();
  take(loop.takes, *first);
  if (loop.has_index) indices_.push_back(0);
  for (std::int64_t i = 0; i < count; ++i) {
    if (loop.has_index) indices_.back() = i;
    unroll_list(loop.body);
  }
  if (loop.has_index) indices_.pop_back();
  give(loop.gives, *queues_[current_].entries.back().origin);
}

void Unroller::unroll_entry(const Statement& statement) {
  Queue& queue = queues_[current_];
  if (++total_ > kMaxEntries) {
    throw problem(
        statement, statement.node,
        fmt::format("the program has more than {} instructions and transfers", kMaxEntries));
  }
  take(statement.takes, statement);
  Instruction instruction = statement.instruction;
  Transfer transfer = statement.transfer;
  for (const FieldNumber& field : statement.fields) {
    const std::int64_t value = value_of(field.number, statement, to_string(field.field));
    try {
      set_field(field.field, value, instruction, transfer);
    } catch (const UserError& error) {
      throw problem(statement, field.number.node,
                    fmt::format("{} {}", to_string(field.field), error.what()));
    }
  }
  if (statement.kind == Statement::Kind::kTransfer) check_tensor(statement, transfer);
  append(statement, instruction, transfer);
  queue.entries.push_back({&statement, 0});
  give(statement.gives, statement);
}

void Unroller::append(const Statement& statement, const Instruction& instruction,
                      const Transfer& transfer) {
  switch (statement.kind) {
    case Statement::Kind::kInstruction:
      program_.engine(current_).push_back(instruction);
      return;
    case Statement::Kind::kTransfer:
      program_.entries<Transfer>(current_).push_back(transfer);
      return;
    case Statement::Kind::kGrid:
      program_.entries<Grid>(current_).push_back(statement.grid);
      return;
    case Statement::Kind::kExchange:
      program_.entries<Collective>(current_).push_back(statement.exchange);
      return;
    case Statement::Kind::kThreads:
      program_.entries<Loop>(current_).push_back(statement.threads);
      return;
    case Statement::Kind::kHostCall:
      program_.entries<HostCall>(current_).push_back(statement.call);
      return;
    case Statement::Kind::kLoop:
      break;
  }
  throw InternalError(__FILE__, __LINE__, "a loop is no entry");
}

void Unroller::check_tensor(const Statement& statement, const Transfer& transfer) const {
  if (transfer.direction == TransferDirection::kOnChip) return;
  const FileTensor& tensor = draft_.tensors[statement.tensor];
  const std::uint64_t offset = transfer.hbm_address - tensor.address;
  if (offset <= tensor.bytes && transfer.bytes() <= tensor.bytes - offset) return;
  throw problem(statement, statement.node,
                fmt::format("{} bytes from offset {} leave '{}', which has {} bytes",
                            transfer.bytes(), offset, tensor.name, tensor.bytes));
}

void Unroller::take(const std::vector<SemaphoreUse>& uses, const Statement& statement) {
  for (const SemaphoreUse& use : uses) {
    Semaphore& semaphore = semaphores_[use.semaphore];
    const std::string& name = draft_.semaphores[use.semaphore].name;
    const std::int64_t count = value_of(use.count, statement, "take");
    if (count < 0)
      throw problem(statement, use.count.node, fmt::format("takes {} of '{}'", count, name));
    if (count == 0) continue;
    const auto queue = static_cast<int>(current_);
    if (semaphore.consumer >= 0 && semaphore.consumer != queue) {
      const auto other = static_cast<std::size_t>(semaphore.consumer);
      throw problem(
          statement, use.count.node,
          fmt::format("takes semaphore '{}', which {} takes too; give each consumer a semaphore "
                      "of its own",
                      name, queues_[other].name));
    }
    semaphore.consumer = queue;
    if (__builtin_add_overflow(semaphore.taken, count, &semaphore.taken)) {
      throw problem(statement, use.count.node, fmt::format("takes too many of '{}'", name));
    }
    queues_[current_].takes.push_back({static_cast<std::uint32_t>(size()),
                                       static_cast<std::uint32_t>(use.semaphore), semaphore.taken});
  }
}

// Gives belong to the entry that was unrolled last.
void Unroller::give(const std::vector<SemaphoreUse>& uses, const Statement& statement) {
  if (uses.empty()) return;
  Queue& queue = queues_[current_];
  const auto entry = static_cast<std::uint32_t>(queue.entries.size() - 1);
  for (const SemaphoreUse& use : uses) {
    Semaphore& semaphore = semaphores_[use.semaphore];
    const std::string& name = draft_.semaphores[use.semaphore].name;
    const std::int64_t count = value_of(use.count, statement, "give");
    if (count < 1 || count > static_cast<std::int64_t>(kMaxEntries)) {
      throw problem(current_, entry, statement, use.count.node,
                    fmt::format("gives {} of '{}'", count, name));
    }
    const auto producer = static_cast<int>(current_);
    if (semaphore.producer >= 0 && semaphore.producer != producer) {
      const auto other = static_cast<std::size_t>(semaphore.producer);
      throw problem(
          current_, entry, statement, use.count.node,
          fmt::format("gives semaphore '{}', which {} gives too; give each producer a semaphore "
                      "of its own",
                      name, queues_[other].name));
    }
    semaphore.producer = producer;
    semaphore.givers.insert(semaphore.givers.end(), static_cast<std::size_t>(count), entry);
  }
  queue.entries.back().set = set_with(queue.entries.back().set, uses);
}

std::uint32_t Unroller::set_with(std::uint32_t set, const std::vector<SemaphoreUse>& uses) {
  SemaphoreSet joined = sets_[set];
  for (const SemaphoreUse& use : uses) joined.push_back(use.semaphore);
  std::sort(joined.begin(), joined.end());
  joined.erase(std::unique(joined.begin(), joined.end()), joined.end());
  const auto [found, is_new] =
      set_numbers_.emplace(joined, static_cast<std::uint32_t>(sets_.size()));
  if (is_new) {
    if (sets_.size() >= kNoSemaphore)
      throw UserError(draft_.name + ": more than 65,534 semaphores");
    sets_.push_back(std::move(joined));
  }
  return found->second;
}

std::int64_t Unroller::value_of(const FileNumber& number, const Statement& statement,
                                const std::string& what) const {
  try {
    return number.expression.value(indices_);
  } catch (const UserError& error) {
    throw problem(statement, number.node, fmt::format("{}: {}", what, error.what()));
  }
}

UserError Unroller::problem(std::size_t queue, std::size_t index, const Statement& statement,
                            const Node* node, const std::string& message) const {
  return UserError(fmt::format("{}: {}[{}] {}: {}", node->where(), queues_[queue].name, index,
                               name_of(statement), message));
}

void Unroller::check_used() const {
  for (std::size_t s = 0; s < semaphores_.size(); ++s) {
    if (semaphores_[s].consumer >= 0) continue;
    const FileSemaphore& semaphore = draft_.semaphores[s];
    throw UserError(fmt::format("{}: semaphores.{}: no entry takes it; take it or remove it",
                                semaphore.node->where(), semaphore.name));
  }
}

std::vector<std::vector<std::uint32_t>> Unroller::count_sets() const {
  std::vector<std::vector<std::uint32_t>> counts;
  for (const Queue& queue : queues_) {
    std::vector<std::uint32_t> so_far(sets_.size(), 0);
    std::vector<std::uint32_t>& of_queue = counts.emplace_back();
    of_queue.reserve(queue.entries.size());
    for (const Entry& entry : queue.entries) of_queue.push_back(++so_far[entry.set]);
  }
  return counts;
}

Wait Unroller::resolve(std::size_t queue, const Take& take,
                       const std::vector<std::vector<std::uint32_t>>& counts) const {
  const Semaphore& semaphore = semaphores_[take.semaphore];
  const FileSemaphore& declared = draft_.semaphores[take.semaphore];
  const std::int64_t needed = take.sum - declared.initial;
  if (needed <= 0) return {0, 0};
  if (needed > static_cast<std::int64_t>(semaphore.givers.size())) {
    const Statement& statement = *queues_[queue].entries[take.entry].origin;
    const std::string given =
        semaphore.givers.empty()
            ? fmt::format("no entry gives it (initially {})", declared.initial)
            : fmt::format("{} gives only {} (and initially {})",
                          queues_[static_cast<std::size_t>(semaphore.producer)].name,
                          semaphore.givers.size(), declared.initial);
    throw problem(
        queue, take.entry, statement, statement.node,
        fmt::format("waits for ever (deadlock): it needs {} of semaphore '{}' in all, and {}",
                    take.sum, declared.name, given));
  }
  const auto producer = static_cast<std::size_t>(semaphore.producer);
  const std::uint32_t entry = semaphore.givers[static_cast<std::size_t>(needed - 1)];
  const std::uint32_t set = queues_[producer].entries[entry].set;
  return {static_cast<std::uint16_t>(set - 1), counts[producer][entry]};
}

void Unroller::connect() {
  for (std::size_t s = 1; s < sets_.size(); ++s) {
    std::string name;
    for (const std::size_t semaphore : sets_[s])
      name += (name.empty() ? "" : "+") + draft_.semaphores[semaphore].name;
    program_.semaphores.push_back(std::move(name));
  }
  const auto counts = count_sets();
  for (std::size_t q = 0; q < queues_.size(); ++q) {
    const Queue& queue = queues_[q];
    std::size_t next = 0;
    for (std::uint32_t e = 0; e < queue.entries.size(); ++e) {
      const auto first = static_cast<std::uint32_t>(program_.waits.size());
      for (; next < queue.takes.size() && queue.takes[next].entry == e; ++next) {
        const Wait wait = resolve(q, queue.takes[next], counts);
        if (wait.threshold > 0) program_.waits.push_back(wait);
      }
      const auto waits = static_cast<std::uint16_t>(program_.waits.size() - first);
      const std::uint32_t set = queue.entries[e].set;
      const std::uint16_t signal = set == 0 ? kNoSemaphore : static_cast<std::uint16_t>(set - 1);
      const auto attach = [&](auto& entry) {
        entry.first_wait = first;
        entry.wait_count = waits;
        entry.signal = signal;
      };
      std::visit([&](auto& entries) { attach(entries[e]); }, program_.streams[q].work);
    }
  }
}

}  // namespace foretell

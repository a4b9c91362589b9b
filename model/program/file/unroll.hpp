// Unrolls the loops of a ProgramDraft and turns its counting semaphores into those of a Program.
//
// In a file a semaphore is a counter with one producer and one consumer: `give` adds to it, `take`
// waits until there is enough and subtracts. Both queues are in order, so the n-th unit is always
// given by the same entry, and whoever takes it waits for that entry. A Program's semaphores only
// count up and an entry raises at most one; so each set of semaphores that some entry gives
// together becomes one semaphore of the Program ("a+b"), and a take becomes a threshold of it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/program/file/statement.hpp"

namespace foretell {

class Unroller {
 public:
  explicit Unroller(const ProgramDraft& draft);

  // UserErrors carry file and line and name the entry: "x.yaml:12: tensor[3] multiply_moving: …".
  Program unroll();  // once

  // The statement that an entry comes from; queues are numbered as the streams of the program.
  const Statement& origin(std::size_t queue, std::size_t index) const {
    return *queues_[queue].entries[index].origin;
  }

 private:
  struct Entry {
    const Statement* origin;
    std::uint32_t set = 0;  // of semaphores that it gives, into sets_
  };
  struct Take {
    std::uint32_t entry;
    std::uint32_t semaphore;
    std::int64_t sum;  // taken by this consumer so far, this time included
  };
  struct Queue {
    std::string name;
    std::vector<Entry> entries;
    std::vector<Take> takes;  // in the order of the entries
    const std::vector<Statement>* statements = nullptr;
  };
  struct Semaphore {
    int producer = -1;  // queue
    int consumer = -1;
    std::int64_t taken = 0;
    std::vector<std::uint32_t> givers;  // entry of the producer that gives the n-th unit
  };
  using SemaphoreSet = std::vector<std::size_t>;  // sorted

  void unroll_list(const std::vector<Statement>& statements);
  void unroll_loop(const Statement& loop);
  void unroll_entry(const Statement& statement);
  void append(const Statement& statement, const Instruction& instruction, const Transfer& transfer);
  void check_tensor(const Statement& statement, const Transfer& transfer) const;
  void take(const std::vector<SemaphoreUse>& uses, const Statement& statement);
  void give(const std::vector<SemaphoreUse>& uses, const Statement& statement);
  std::uint32_t set_with(std::uint32_t set, const std::vector<SemaphoreUse>& uses);
  std::int64_t value_of(const FileNumber& number, const Statement& statement,
                        const std::string& what) const;
  std::size_t size() const { return queues_[current_].entries.size(); }
  // "x.yaml:12: tensor[3] multiply_moving: <message>"
  UserError problem(std::size_t queue, std::size_t index, const Statement& statement,
                    const Node* node, const std::string& message) const;
  UserError problem(const Statement& statement, const Node* node,
                    const std::string& message) const {
    return problem(current_, size(), statement, node, message);
  }

  void connect();
  void check_used() const;
  // How often each entry's set has been given up to and including it.
  std::vector<std::vector<std::uint32_t>> count_sets() const;
  Wait resolve(std::size_t queue, const Take& take,
               const std::vector<std::vector<std::uint32_t>>& counts) const;

  const ProgramDraft& draft_;
  Program program_;
  std::vector<Queue> queues_;  // as the streams of the program
  std::vector<Semaphore> semaphores_;
  std::vector<SemaphoreSet> sets_ = {{}};  // set 0 is empty: the entry gives nothing
  std::map<SemaphoreSet, std::uint32_t> set_numbers_ = {{{}, 0}};
  std::vector<std::int64_t> indices_;
  std::size_t current_ = 0;  // queue being unrolled
  std::size_t total_ = 0;
};

}  // namespace foretell

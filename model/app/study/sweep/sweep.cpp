#include "model/app/study/sweep/sweep.hpp"

#include <chrono>
#include <deque>
#include <string>
#include <thread>

#include "model/app/study/sweep/sweep_message.hpp"

namespace foretell {
namespace {

constexpr int kPatienceMs = 200;  // without other ranks, between looks at `stop`
// With them, messages cannot be waited for together with the workers: they are looked for with
// every answer of a worker, and so often while it works, or has nothing to do.
constexpr int kBusyPatienceMs = 5;
constexpr int kIdlePatienceMs = 1;
constexpr std::size_t kReserve = 3;  // tasks on their way to a rank per worker of its own

using Kind = SweepMessage::Kind;

constexpr double kFarewell = 2;  // s that rank 0 waits for the others at the end

int patience(const WorkerGroup& workers) {
  return workers.in_work() > 0 ? kBusyPatienceMs : kIdlePatienceMs;
}

std::string bytes_of(Kind kind) {
  SweepMessage message;
  message.kind = kind;
  return to_bytes(message);
}

}  // namespace

// What rank 0 knows of the others.
class OtherRanks {
 public:
  explicit OtherRanks(Cluster* cluster) : cluster_(cluster) {
    if (cluster_ != nullptr) room_.resize(static_cast<std::size_t>(cluster_->size()));
  }
  ~OtherRanks() {
    try {
      release();
    } catch (const std::exception&) {  // a rank that is gone needs no release
    }
  }
  OtherRanks(const OtherRanks&) = delete;
  OtherRanks& operator=(const OtherRanks&) = delete;

  bool there() const { return room_.size() > 1; }
  std::size_t in_work() const { return in_work_; }

  void give_from(const TaskSource& source) {
    for (std::size_t rank = 1; rank < room_.size(); ++rank) {
      if (room_[rank] == 0) continue;
      SweepMessage tasks;
      tasks.kind = Kind::kTasks;
      tasks.numbers = source(room_[rank]);
      if (tasks.numbers.empty()) return;
      cluster_->send(static_cast<int>(rank), to_bytes(tasks));
      room_[rank] -= tasks.numbers.size();
      in_work_ += tasks.numbers.size();
    }
  }

  void receive(std::vector<TaskAnswer>& answers) {
    if (!there()) return;
    while (std::optional<ClusterMessage> message = cluster_->receive()) {
      const auto rank = static_cast<std::size_t>(message->from);
      SweepMessage said = message_from(message->text);
      room_[rank] += said.room;
      for (TaskAnswer& answer : said.answers) {
        answers.push_back(std::move(answer));
        ++room_[rank];
        --in_work_;
      }
    }
  }

 private:
  // What the others still send is received, or they could not end.
  void release() {
    for (std::size_t rank = 1; rank < room_.size(); ++rank)
      cluster_->send(static_cast<int>(rank), bytes_of(Kind::kDone));
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    for (std::size_t there = room_.empty() ? 0 : room_.size() - 1; there > 0;) {
      if (std::chrono::duration<double>(Clock::now() - start).count() > kFarewell) return;
      while (const std::optional<ClusterMessage> message = cluster_->receive()) {
        if (message_from(message->text).kind == Kind::kBye) --there;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(kIdlePatienceMs));
    }
  }

  Cluster* cluster_;
  std::vector<std::size_t> room_;  // by rank
  std::size_t in_work_ = 0;
};

SweepRunner::SweepRunner(WorkerGroup& workers, Cluster* cluster)
    : workers_(workers), others_(std::make_unique<OtherRanks>(cluster)) {}

SweepRunner::~SweepRunner() = default;

void SweepRunner::run(const TaskSource& source, const AnswerSink& sink,
                      const std::function<bool()>& stop) {
  while (!stop()) {
    if (const std::size_t room = workers_.room(); room > 0) {
      for (const std::uint64_t number : source(room)) workers_.give(number);
    }
    others_->give_from(source);
    if (workers_.in_work() + others_->in_work() == 0) return;
    std::vector<TaskAnswer> answers =
        workers_.answers(others_->there() ? patience(workers_) : kPatienceMs);
    others_->receive(answers);
    if (!answers.empty()) sink(std::move(answers));
  }
}

void serve_sweep(WorkerGroup& workers, Cluster& cluster) {
  SweepMessage ready;
  ready.kind = Kind::kReady;
  ready.room = workers.room() * kReserve;
  cluster.send(0, to_bytes(ready));
  std::deque<std::uint64_t> waiting;
  while (true) {
    while (const std::optional<ClusterMessage> message = cluster.receive()) {
      const SweepMessage said = message_from(message->text);
      if (said.kind == Kind::kDone) return cluster.send(0, bytes_of(Kind::kBye));
      waiting.insert(waiting.end(), said.numbers.begin(), said.numbers.end());
    }
    for (; !waiting.empty() && workers.room() > 0; waiting.pop_front())
      workers.give(waiting.front());
    SweepMessage answered;
    answered.kind = Kind::kAnswers;
    answered.answers = workers.answers(patience(workers));
    if (!answered.answers.empty()) cluster.send(0, to_bytes(answered));
  }
}

}  // namespace foretell

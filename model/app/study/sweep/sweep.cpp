#include "model/app/study/sweep/sweep.hpp"

#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr int kPatienceMs = 200;  // without other ranks, between looks at `stop`
// With them, messages cannot be waited for together with the workers: they are looked for with
// every answer of a worker, and so often while it works, or has nothing to do.
constexpr int kBusyPatienceMs = 5;
constexpr int kIdlePatienceMs = 1;
constexpr std::size_t kReserve = 3;  // tasks on their way to a rank per worker of its own

// Messages begin with what they are.
constexpr char kReady = 'R';    // to rank 0: room for this many tasks
constexpr char kTasks = 'T';    // from rank 0: numbers
constexpr char kAnswers = 'A';  // to rank 0
constexpr char kDone = 'D';     // from rank 0: no more
constexpr char kBye = 'B';      // to rank 0: the last message

constexpr double kFarewell = 2;  // s that rank 0 waits for the others at the end

int patience(const WorkerGroup& workers) {
  return workers.in_work() > 0 ? kBusyPatienceMs : kIdlePatienceMs;
}

void put(std::string& text, std::uint64_t number) {
  text.append(reinterpret_cast<const char*>(&number), sizeof number);
}

class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}

  bool more() const { return at_ < text_.size(); }
  std::uint64_t number() {
    std::uint64_t value = 0;
    FORETELL_CHECK(text_.size() - at_ >= sizeof value, "a message that ends too early");
    std::memcpy(&value, text_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::string bytes(std::uint64_t size) {
    FORETELL_CHECK(text_.size() - at_ >= size, "a message that ends too early");
    const std::size_t begin = at_;
    at_ += size;
    return text_.substr(begin, size);
  }

 private:
  const std::string& text_;
  std::size_t at_ = 1;  // behind the kind of the message
};

std::string answers_message(const std::vector<SweepAnswer>& answers) {
  std::string text(1, kAnswers);
  for (const SweepAnswer& answer : answers) {
    put(text, answer.number);
    put(text, static_cast<std::uint64_t>(answer.kind));
    put(text, answer.text.size());
    text += answer.text;
  }
  return text;
}

std::vector<SweepAnswer> read_answers(const std::string& text) {
  std::vector<SweepAnswer> answers;
  for (Reader reader(text); reader.more();) {
    SweepAnswer answer;
    answer.number = reader.number();
    answer.kind = static_cast<SweepAnswer::Kind>(reader.number());
    answer.text = reader.bytes(reader.number());
    answers.push_back(std::move(answer));
  }
  return answers;
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
      const std::vector<std::uint64_t> numbers = source(room_[rank]);
      if (numbers.empty()) return;
      std::string text(1, kTasks);
      for (const std::uint64_t number : numbers) put(text, number);
      cluster_->send(static_cast<int>(rank), text);
      room_[rank] -= numbers.size();
      in_work_ += numbers.size();
    }
  }

  void receive(std::vector<SweepAnswer>& answers) {
    if (!there()) return;
    while (std::optional<ClusterMessage> message = cluster_->receive()) {
      const auto rank = static_cast<std::size_t>(message->from);
      if (message->text.front() == kReady) {
        room_[rank] += Reader(message->text).number();
        continue;
      }
      for (SweepAnswer& answer : read_answers(message->text)) {
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
      cluster_->send(static_cast<int>(rank), std::string(1, kDone));
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    for (std::size_t there = room_.empty() ? 0 : room_.size() - 1; there > 0;) {
      if (std::chrono::duration<double>(Clock::now() - start).count() > kFarewell) return;
      while (const std::optional<ClusterMessage> message = cluster_->receive()) {
        if (message->text.front() == kBye) --there;
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
    std::vector<SweepAnswer> answers =
        workers_.answers(others_->there() ? patience(workers_) : kPatienceMs);
    others_->receive(answers);
    if (!answers.empty()) sink(std::move(answers));
  }
}

void serve_sweep(WorkerGroup& workers, Cluster& cluster) {
  std::string ready(1, kReady);
  put(ready, workers.room() * kReserve);
  cluster.send(0, ready);
  std::deque<std::uint64_t> waiting;
  while (true) {
    while (const std::optional<ClusterMessage> message = cluster.receive()) {
      if (message->text.front() == kDone) return cluster.send(0, std::string(1, kBye));
      for (Reader reader(message->text); reader.more();) waiting.push_back(reader.number());
    }
    for (; !waiting.empty() && workers.room() > 0; waiting.pop_front())
      workers.give(waiting.front());
    const std::vector<SweepAnswer> answers = workers.answers(patience(workers));
    if (!answers.empty()) cluster.send(0, answers_message(answers));
  }
}

}  // namespace foretell

// Several processes as ranks that talk through sockets: what MPI does, without it.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <map>
#include <memory>

#include "model/app/study/sweep/sweep.hpp"

namespace foretell {
namespace {

constexpr std::size_t kMaxMessage = 100'000;

// Rank 0 has a datagram socket to every other rank, which has one to rank 0.
class SocketCluster : public Cluster {
 public:
  SocketCluster(int rank, int size, std::vector<int> sockets)
      : rank_(rank), size_(size), sockets_(std::move(sockets)) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void send(int to, const std::string& text) override {
    ::send(sockets_[static_cast<std::size_t>(to)], text.data(), text.size(), 0);
  }
  std::optional<ClusterMessage> receive() override {
    std::string text(kMaxMessage, '\0');
    for (int from = 0; from < size_; ++from) {
      const int socket = sockets_[static_cast<std::size_t>(from)];
      if (socket < 0) continue;
      const ssize_t count = recv(socket, text.data(), text.size(), MSG_DONTWAIT);
      if (count <= 0) continue;
      text.resize(static_cast<std::size_t>(count));
      return ClusterMessage{from, text};
    }
    return std::nullopt;
  }

 private:
  int rank_;
  int size_;
  std::vector<int> sockets_;  // by rank; -1: none
};

std::string answer(std::uint64_t number) {
  return std::to_string(getpid()) + " " + std::to_string(number * 3);
}

TEST(Cluster, RanksShareTheTasks) {
  constexpr int kRanks = 4;
  constexpr std::uint64_t kTasks = 200;
  std::vector<int> to_others = {-1};
  std::vector<pid_t> processes;
  for (int rank = 1; rank < kRanks; ++rank) {
    std::array<int, 2> ends{};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends.data()), 0);
    const pid_t process = fork();
    if (process == 0) {
      SocketCluster cluster(rank, 1, {ends[1]});
      {
        WorkerGroup workers(answer, 1, 0);
        serve_sweep(workers, cluster);
      }
      _exit(0);
    }
    processes.push_back(process);
    to_others.push_back(ends[0]);
  }
  std::map<std::uint64_t, std::string> answers;
  {
    SocketCluster cluster(0, kRanks, to_others);
    WorkerGroup workers(answer, 1, 0);
    SweepRunner runner(workers, &cluster);
    // Twice: a search comes back with more.
    for (const std::uint64_t first : {std::uint64_t{0}, kTasks / 2}) {
      std::uint64_t next = first;
      runner.run(
          [&](std::size_t most) {
            std::vector<std::uint64_t> numbers;
            while (numbers.size() < most && next < first + kTasks / 2) numbers.push_back(next++);
            return numbers;
          },
          [&](const std::vector<TaskAnswer>& some) {
            for (const TaskAnswer& one : some) answers[one.number] = one.text;
          },
          [] { return false; });
    }
  }
  std::map<std::string, int> by_process;
  ASSERT_EQ(answers.size(), kTasks);
  for (const auto& [number, text] : answers) {
    const std::size_t space = text.find(' ');
    ++by_process[text.substr(0, space)];
    EXPECT_EQ(text.substr(space + 1), std::to_string(number * 3));
  }
  EXPECT_GE(by_process.size(), 2U);
  for (const pid_t process : processes) {
    int status = -1;
    waitpid(process, &status, 0);  // released
    EXPECT_EQ(status, 0);
  }
}

}  // namespace
}  // namespace foretell

// `foretell` for several ranks: the same program, joined by MPI when a sweep asks for it.
#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <boost/mpi/request.hpp>
#include <chrono>
#include <cstdlib>
#include <list>
#include <string>
#include <thread>
#include <vector>

#include "model/app/command/program.hpp"

namespace {

namespace mpi = boost::mpi;

constexpr int kTag = 1;
constexpr std::chrono::seconds kFarewell(2);  // for what is on its way at the end

// Bytes on their way; they stay where they are until MPI has done with them.
struct Transfer {
  int from = 0;
  std::string text;
  mpi::request request;
};

// Nothing here waits: MPI waits by asking over and over, also for a short message that the other
// side has not looked for yet, and takes the processor from the worker beside it.
class MpiCluster : public foretell::Cluster {
 public:
  ~MpiCluster() override {
    using Clock = std::chrono::steady_clock;
    for (const auto start = Clock::now(); !sent_.empty() && Clock::now() - start < kFarewell;) {
      forget_what_is_sent();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  int rank() const override { return world_.rank(); }
  int size() const override { return world_.size(); }

  void send(int to, const std::string& text) override {
    forget_what_is_sent();
    Transfer& transfer = sent_.emplace_back();
    transfer.text = text;
    transfer.request = world_.isend(to, kTag, transfer.text.data(), length(text));
  }

  std::optional<foretell::ClusterMessage> receive() override {
    forget_what_is_sent();
    while (const boost::optional<mpi::status> arrived = world_.iprobe(mpi::any_source, kTag)) {
      Transfer& transfer = arriving_.emplace_back();
      transfer.from = arrived->source();
      transfer.text.resize(static_cast<std::size_t>(arrived->count<char>().value()));
      transfer.request =
          world_.irecv(transfer.from, kTag, transfer.text.data(), length(transfer.text));
    }
    // In the order in which they began, so that none overtakes another one of its rank.
    if (arriving_.empty() || !arriving_.front().request.test()) return std::nullopt;
    foretell::ClusterMessage message{arriving_.front().from, std::move(arriving_.front().text)};
    arriving_.pop_front();
    return message;
  }

 private:
  static int length(const std::string& text) { return static_cast<int>(text.size()); }

  void forget_what_is_sent() {
    sent_.remove_if([](Transfer& transfer) { return transfer.request.test().has_value(); });
  }

  mpi::environment environment_{/*abort_on_exception=*/false};
  mpi::communicator world_;
  std::list<Transfer> sent_;
  std::list<Transfer> arriving_;
};

constexpr std::chrono::seconds kTimeToSayIt{1};

// Known before MPI is: workers are forked first, and mistakes are reported once.
bool is_first_rank() {
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) {
    if (const char* rank = std::getenv(variable)) return std::string(rank) == "0";
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const bool is_quiet = !is_first_rank();
  const int code = foretell::run_program(
      arguments, [] { return std::make_unique<MpiCluster>(); }, is_quiet);
  // The launcher ends all ranks when one fails: the first has time to say what is wrong.
  if (is_quiet && code != EXIT_SUCCESS) std::this_thread::sleep_for(kTimeToSayIt);
  return code;
}

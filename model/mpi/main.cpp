// `foretell` for several ranks: the same program, joined by MPI when a sweep asks for it.
#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <boost/serialization/string.hpp>
#include <cstdlib>
#include <string>
#include <vector>

#include "model/cli/program.hpp"

namespace {

namespace mpi = boost::mpi;

constexpr int kTag = 1;

class MpiCluster : public foretell::Cluster {
 public:
  int rank() const override { return world_.rank(); }
  int size() const override { return world_.size(); }

  void send(int to, const std::string& text) override { world_.send(to, kTag, text); }

  std::optional<foretell::ClusterMessage> receive() override {
    const boost::optional<mpi::status> arrived = world_.iprobe(mpi::any_source, kTag);
    if (!arrived) return std::nullopt;
    foretell::ClusterMessage message;
    message.from = arrived->source();
    world_.recv(message.from, kTag, message.text);
    return message;
  }

 private:
  mpi::environment environment_{/*abort_on_exception=*/false};
  mpi::communicator world_;
};

// Known before MPI is: workers are forked first, and mistakes are told once.
bool is_first_rank() {
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) {
    if (const char* rank = std::getenv(variable)) return std::string(rank) == "0";
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return foretell::run_program(
      arguments, [] { return std::make_unique<MpiCluster>(); }, !is_first_rank());
}

#include "model/app/workers/stop_signals.hpp"

namespace foretell {
namespace {

volatile std::sig_atomic_t received_signal = 0;
void note_received(int number) { received_signal = number; }

}  // namespace

StopSignals::StopSignals() {
  received_signal = 0;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction action = {};
    action.sa_handler = note_received;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(kSignals.at(i), &action, &before_.at(i));
  }
}

StopSignals::~StopSignals() {
  received_signal = 0;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals.at(i), &before_.at(i), nullptr);
  }
}

int StopSignals::received() { return received_signal; }

}  // namespace foretell

#include "model/components/neuron/collective_queue.hpp"

#include "model/base/errors.hpp"
#include "model/timing/neuron/instruction_work.hpp"

namespace foretell {

CollectiveQueue::CollectiveQueue(const sc_core::sc_module_name& name, const CollectiveSeat& seat,
                                 std::size_t stream, ProgramShared& shared)
    : InOrderStream(name, stream, shared),
      seat_(seat),
      queue_(shared.program.entries<Collective>(stream)),
      launched_("launched") {
  FORETELL_CHECK(seat_.network != nullptr || queue_.empty(),
                 "a core with collectives needs a network");
  SC_METHOD(join);
  sensitive << launched_;
  dont_initialize();
}

std::string CollectiveQueue::waits_for() const {
  return running() ? "the other cores to join" : "";
}

void CollectiveQueue::begin_entry(std::size_t /*index*/) {
  if (head().launch > Seconds(0)) {
    launched_.notify(to_sc_time(to_ticks(head().launch)));
  } else {
    join();
  }
}

void CollectiveQueue::join() {
  seat_.network->join(seat_.rank, static_cast<std::uint32_t>(position()), head(), *this);
}

void CollectiveQueue::collective_done() {
  if (OperatorActivity* const counted = activity()) {
    counted->busy += head().busy;
    counted->link += sent_bytes(head().exchange);
    count_collective(head(), counted->work);
  }
  end_entry();
}

}  // namespace foretell

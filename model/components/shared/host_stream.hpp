// The host of a device as far as a program asks for it: calls that follow one another.
#pragma once

#include <systemc>

#include "model/components/shared/in_order_stream.hpp"

namespace foretell {

class HostStream final : public InOrderStream {
 public:
  SC_HAS_PROCESS(HostStream);
  HostStream(const sc_core::sc_module_name& name, std::size_t stream, ProgramShared& shared)
      : InOrderStream(name, stream, shared),
        queue_(shared.program.entries<HostCall>(stream)),
        over_("over") {
    SC_METHOD(finish);
    sensitive << over_;
    dont_initialize();
  }

 private:
  void begin_entry(std::size_t index) override {
    over_.notify(to_sc_time(to_ticks(queue_[index].time)));
  }
  void finish() { end_entry(); }  // SC_METHOD: the call is over

  const std::vector<HostCall>& queue_;
  sc_core::sc_event over_;
};

}  // namespace foretell

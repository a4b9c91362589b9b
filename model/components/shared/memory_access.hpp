// How initiators speak to a memory: valid payloads of the TLM-2.0 base protocol, and what becomes
// of answers that are errors or that never come.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <systemc>
#include <tlm>

#include "model/components/shared/ticks.hpp"

namespace foretell {

// The most that one payload moves: its length is 32 bits wide, and its buffer costs real memory.
inline constexpr std::uint64_t kPayloadBytes = std::uint64_t{1} << 22U;

// Bytes at the peak rate of the memory that a transaction occupies it for, where its initiator
// takes them more slowly. Memories that do not know it serve the payload as it is.
struct OccupiedBytes : tlm::tlm_extension<OccupiedBytes> {
  double bytes = 0;

  tlm_extension_base* clone() const override { return new OccupiedBytes(*this); }
  void copy_from(const tlm_extension_base& other) override {
    *this = static_cast<const OccupiedBytes&>(other);
  }
};

struct MemoryAccess {
  tlm::tlm_command command = tlm::TLM_READ_COMMAND;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  double occupied = 0;  // see OccupiedBytes; 0: its bytes
};

// Who speaks, for messages: the entry of the program, and the key that names the memory.
struct Speaker {
  std::function<std::string()> entry;  // "dma weights[3]"
  const char* key = "device.hbm.model";
};

// A payload of at most kPayloadBytes. Its contents mean nothing.
void fill_payload(tlm::tlm_generic_payload& payload, tlm::tlm_command command,
                  std::uint64_t address, std::uint64_t bytes);

// Ends the simulation with a UserError unless the answer is TLM_OK_RESPONSE.
void require_answer(const tlm::tlm_generic_payload& payload, const char* socket,
                    const Speaker& speaker);

// An initiator's way to a memory: by b_transport, in one payload that is used again and again.
class MemoryPath {
 public:
  // From now until the last byte has passed; all payloads begin `delay` from now. `socket` names
  // the initiator's. Ends the simulation with a UserError for an answer that is an error or does
  // not come.
  Ticks pass(tlm::tlm_fw_transport_if<>& memory, const char* socket, const MemoryAccess& access,
             Ticks delay, const Speaker& speaker);

 private:
  tlm::tlm_generic_payload payload_;
  OccupiedBytes occupied_;
};

}  // namespace foretell

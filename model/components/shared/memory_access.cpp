#include "model/components/shared/memory_access.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/components/shared/simulation_context.hpp"

namespace foretell {
namespace {

constexpr Ticks kNever = 1'000 * static_cast<Ticks>(kTicksPerSecond);

// What a payload reads into and writes from; no page of it is used until a memory touches it.
unsigned char* payload_data() {
  static unsigned char data[kPayloadBytes];
  return data;
}

std::string described(const tlm::tlm_generic_payload& payload, const char* socket,
                      const Speaker& speaker) {
  return fmt::format("{}: the memory at {} ({}), asked to {} {} B at {:#x}, ", speaker.entry(),
                     socket, speaker.key, payload.is_write() ? "write" : "read",
                     payload.get_data_length(), payload.get_address());
}

}  // namespace

void fill_payload(tlm::tlm_generic_payload& payload, tlm::tlm_command command,
                  std::uint64_t address, std::uint64_t bytes) {
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(payload_data());
  payload.set_data_length(static_cast<unsigned>(bytes));
  payload.set_streaming_width(static_cast<unsigned>(bytes));
  payload.set_byte_enable_ptr(nullptr);
  payload.set_dmi_allowed(false);
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
}

void require_answer(const tlm::tlm_generic_payload& payload, const char* socket,
                    const Speaker& speaker) {
  if (payload.is_response_ok()) return;
  fail_simulation(described(payload, socket, speaker) + "answers " + payload.get_response_string() +
                  "; name another memory there, or leave it out for ours");
}

Ticks MemoryPath::pass(tlm::tlm_fw_transport_if<>& memory, const char* socket,
                       const MemoryAccess& access, Ticks delay, const Speaker& speaker) {
  Ticks end = delay;
  for (std::uint64_t offset = 0; offset < access.bytes; offset += kPayloadBytes) {
    const std::uint64_t length = std::min(kPayloadBytes, access.bytes - offset);
    fill_payload(payload_, access.command, access.address + offset, length);
    if (access.occupied > 0) {
      occupied_.bytes =
          access.occupied * (static_cast<double>(length) / static_cast<double>(access.bytes));
      payload_.set_extension(&occupied_);
    }
    sc_core::sc_time until = to_sc_time(delay);
    try {
      memory.b_transport(payload_, until);
    } catch (const sc_core::sc_report& report) {
      payload_.clear_extension(&occupied_);
      fail_simulation(described(payload_, socket, speaker) +
                      "does not answer with an annotated delay: " + report.get_msg());
    }
    payload_.clear_extension(&occupied_);
    require_answer(payload_, socket, speaker);
    const Ticks passed = to_ticks(until);
    if (passed > kNever) fail_simulation(described(payload_, socket, speaker) + "never answers");
    end = std::max(end, passed);
  }
  return end;
}

}  // namespace foretell

#include "model/app/study/sweep/sweep_message.hpp"

#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <sstream>

#include "model/base/errors.hpp"

namespace boost::serialization {

template <class Archive>
void serialize(Archive& archive, foretell::TaskAnswer& answer, unsigned /*version*/) {
  archive& answer.number& answer.kind& answer.text;
}

template <class Archive>
void serialize(Archive& archive, foretell::SweepMessage& message, unsigned /*version*/) {
  archive& message.kind& message.room& message.numbers& message.answers;
}

}  // namespace boost::serialization

namespace foretell {

std::string to_bytes(const SweepMessage& message) {
  std::ostringstream bytes;
  boost::archive::binary_oarchive(bytes, boost::archive::no_header) << message;
  return bytes.str();
}

SweepMessage message_from(const std::string& bytes) {
  std::istringstream stream(bytes);
  SweepMessage message;
  try {
    boost::archive::binary_iarchive(stream, boost::archive::no_header) >> message;
  } catch (const std::exception& error) {
    FORETELL_CHECK(false, std::string("a damaged message of a rank: ") + error.what());
  }
  return message;
}

}  // namespace foretell

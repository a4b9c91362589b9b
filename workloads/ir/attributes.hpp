// Values of the attributes of an operator that is in a graph, which has checked their types
// (Graph::add_op). With `otherwise`: that where the attribute is not stated; without, one that is
// missing is a bug (std::out_of_range), as is one of another type (std::bad_variant_access).
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "workloads/ir/graph.hpp"

namespace foretell {

inline bool has_attribute(const Op& op, const std::string& attribute) {
  return op.attributes.count(attribute) > 0;
}

inline std::int64_t integer_of(const Op& op, const std::string& attribute) {
  return std::get<std::int64_t>(op.attributes.at(attribute));
}
inline std::int64_t integer_of(const Op& op, const std::string& attribute, std::int64_t otherwise) {
  return has_attribute(op, attribute) ? integer_of(op, attribute) : otherwise;
}

inline const std::vector<std::int64_t>& integers_of(const Op& op, const std::string& attribute) {
  return std::get<std::vector<std::int64_t>>(op.attributes.at(attribute));
}
inline std::vector<std::int64_t> integers_of(const Op& op, const std::string& attribute,
                                             const std::vector<std::int64_t>& otherwise) {
  return has_attribute(op, attribute) ? integers_of(op, attribute) : otherwise;
}

inline const std::string& text_of(const Op& op, const std::string& attribute) {
  return std::get<std::string>(op.attributes.at(attribute));
}
inline std::string text_of(const Op& op, const std::string& attribute,
                           const std::string& otherwise) {
  return has_attribute(op, attribute) ? text_of(op, attribute) : otherwise;
}

}  // namespace foretell

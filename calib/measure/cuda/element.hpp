// Element types as they lie in memory, on the side of the CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace foretell {

enum class Element { kFloat32, kFloat16, kBfloat16, kFloat8, kInt8, kInt32 };

std::size_t element_bytes(Element element);

// That inputs of a compute type ("tf32", "fp8", …) are stored as. UserError for an unknown name.
Element input_element(const std::string& dtype);

// A value that the type holds exactly, as bits; of int8 and int32 the value itself.
std::uint32_t to_bits(double value, Element element);

// What `count` elements in memory are worth.
std::vector<double> to_values(const std::vector<std::uint8_t>& bytes, Element element);

// Half the distance to the next number of the type above 1: how far a correct rounding may be off.
double rounding_of(Element element);

}  // namespace foretell

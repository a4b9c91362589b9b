#include "calib/measure/cuda/element.hpp"

#include <cmath>
#include <cstring>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

struct Format {
  int exponent_bits;
  int mantissa_bits;
};

Format format_of(Element element) {
  switch (element) {
    case Element::kFloat32:
      return {8, 23};
    case Element::kFloat16:
      return {5, 10};
    case Element::kBfloat16:
      return {8, 7};
    case Element::kFloat8:
      return {4, 3};
    case Element::kInt8:
    case Element::kInt32:
      break;
  }
  throw InternalError(__FILE__, __LINE__, "no floating point");
}

bool is_integer(Element element) { return element == Element::kInt8 || element == Element::kInt32; }

double value_of(std::uint32_t bits, Element element) {
  if (element == Element::kInt8) return static_cast<std::int8_t>(bits);
  if (element == Element::kInt32) return static_cast<std::int32_t>(bits);
  const Format format = format_of(element);
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const auto mantissa_mask = (std::uint32_t{1} << format.mantissa_bits) - 1;
  const auto exponent_mask = (std::uint32_t{1} << format.exponent_bits) - 1;
  const auto mantissa = static_cast<double>(bits & mantissa_mask);
  const auto exponent = static_cast<int>((bits >> format.mantissa_bits) & exponent_mask);
  const double sign = ((bits >> (format.mantissa_bits + format.exponent_bits)) & 1U) != 0 ? -1 : 1;
  // FP8 E4M3 has no infinity; what is one elsewhere is recognised by the exponent.
  if (element != Element::kFloat8 && exponent == static_cast<int>(exponent_mask)) {
    return mantissa != 0 ? std::nan("") : sign * HUGE_VAL;
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - format.mantissa_bits);
  return sign * std::ldexp(1 + std::ldexp(mantissa, -format.mantissa_bits), exponent - bias);
}

}  // namespace

std::size_t element_bytes(Element element) {
  switch (element) {
    case Element::kFloat32:
    case Element::kInt32:
      return 4;
    case Element::kFloat16:
    case Element::kBfloat16:
      return 2;
    case Element::kFloat8:
    case Element::kInt8:
      return 1;
  }
  throw InternalError(__FILE__, __LINE__, "no such element");
}

Element input_element(const std::string& dtype) {
  if (dtype == "fp32" || dtype == "tf32") return Element::kFloat32;
  if (dtype == "fp16") return Element::kFloat16;
  if (dtype == "bf16") return Element::kBfloat16;
  if (dtype == "fp8") return Element::kFloat8;
  if (dtype == "int8") return Element::kInt8;
  throw unknown_name("data type", dtype, {"int8", "fp8", "fp16", "bf16", "tf32", "fp32"});
}

std::uint32_t to_bits(double value, Element element) {
  if (is_integer(element)) {
    const auto whole = static_cast<std::uint32_t>(static_cast<std::int32_t>(value));
    return element == Element::kInt8 ? whole & 0xFFU : whole;
  }
  const Format format = format_of(element);
  const std::uint32_t sign = std::signbit(value) ? 1 : 0;
  std::uint32_t bits = sign << (format.exponent_bits + format.mantissa_bits);
  if (value == 0) return bits;
  int exponent = 0;
  const double fraction = std::frexp(std::abs(value), &exponent);  // in [1/2, 1)
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  bits |= static_cast<std::uint32_t>(exponent - 1 + bias) << format.mantissa_bits;
  bits |= static_cast<std::uint32_t>(std::ldexp(fraction * 2 - 1, format.mantissa_bits));
  FORETELL_CHECK(value_of(bits, element) == value, "the type does not hold the value exactly");
  return bits;
}

std::vector<double> to_values(const std::vector<std::uint8_t>& bytes, Element element) {
  const std::size_t size = element_bytes(element);
  FORETELL_CHECK(bytes.size() % size == 0, "part of an element");
  std::vector<double> values;
  values.reserve(bytes.size() / size);
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, bytes.data() + at, size);  // little-endian, as GPUs and their hosts are
    values.push_back(value_of(bits, element));
  }
  return values;
}

double rounding_of(Element element) {
  return is_integer(element) ? 0 : std::ldexp(1.0, -format_of(element).mantissa_bits - 1);
}

}  // namespace foretell

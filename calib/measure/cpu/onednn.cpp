#include "calib/measure/cpu/onednn.hpp"

#include <numeric>

#include "calib/measure/cpu/cpu_work.hpp"

namespace foretell {
namespace {

using dnnl::memory;

std::int64_t element_count(const memory::dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
}

std::string isa_name() {
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::avx2:
      return "avx2";
    case dnnl::cpu_isa::avx512_core:
      return "avx512_core";
    case dnnl::cpu_isa::avx512_core_vnni:
      return "avx512_core_vnni";
    case dnnl::cpu_isa::avx512_core_bf16:
      return "avx512_core_bf16";
    case dnnl::cpu_isa::avx512_core_amx:
      return "avx512_core_amx";
    default:
      return "other instructions";
  }
}

}  // namespace

dnnl::engine& cpu_engine() {
  static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

dnnl::stream& cpu_stream() {
  static dnnl::stream stream(cpu_engine());
  return stream;
}

memory::data_type onednn_type(const std::string& dtype) {
  if (dtype == "fp32") return memory::data_type::f32;
  if (dtype == "bf16") return memory::data_type::bf16;
  if (dtype == "int8") return memory::data_type::s8;
  throw Unavailable("no such type");
}

memory::desc plain(const memory::dims& dims, memory::data_type type) {
  memory::dims strides(dims.size(), 1);
  for (std::size_t i = dims.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * dims[i];
  return {dims, type, strides};
}

memory::desc any_layout(const memory::dims& dims, memory::data_type type) {
  return {dims, type, memory::format_tag::any};
}

memory filled(const memory::desc& desc, int seed) {
  const memory::dims dims = desc.dims();
  memory values(plain(dims, memory::data_type::f32), cpu_engine());
  auto* data = static_cast<float*>(values.get_data_handle());
  const bool whole =
      desc.data_type() == memory::data_type::s8 || desc.data_type() == memory::data_type::u8;
  const bool is_signed = desc.data_type() != memory::data_type::u8;
  const std::int64_t count = element_count(dims);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto step = static_cast<float>((i * 7919 + seed * 104729) % 13);
    const float value = is_signed ? step - 6 : step;
    data[i] = whole ? value : value / 8;
  }
  memory result(desc, cpu_engine());
  dnnl::reorder(values, result).execute(cpu_stream(), values, result);
  cpu_stream().wait();
  return result;
}

std::vector<float> values_of(const memory& source) {
  memory from = source;
  memory values(plain(source.get_desc().dims(), memory::data_type::f32), cpu_engine());
  dnnl::reorder(from, values).execute(cpu_stream(), from, values);
  cpu_stream().wait();
  const auto* data = static_cast<const float*>(values.get_data_handle());
  return {data, data + element_count(source.get_desc().dims())};
}

std::string library_version() {
  const dnnl_version_t* version = dnnl::version();
  return "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
         std::to_string(version->patch) + " (" + isa_name() + ", OpenMP)";
}

}  // namespace foretell

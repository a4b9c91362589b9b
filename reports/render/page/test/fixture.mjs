// Records that are made up, so that pictures of them change with the page and not with the model.

const kSystems = [
  {system: 'small', device: 'Made-up chip', part: 'NeuronCore', speed: 1, price: 0.8},
  {system: 'large', device: 'Made-up chip', part: 'NeuronCore', speed: 12, price: 13},
  {system: 'graphics', device: 'Made-up GPU', part: 'GPU', speed: 0.7, price: 0.9},
];
const kTypes = [['int8', 1.6], ['fp8', 1.5], ['bf16', 1], ['fp32', 0.3]];

const kLayer = [
  ['attention.query', 'MatMul', 'tensor', 0, 8e-5, 2.1e9, 1e6], ['attention.softmax', 'Softmax', 'vector', 6e-5, 9e-5, 1e7, 0],
  ['attention.context', 'MatMul', 'tensor', 1.2e-4, 6e-5, 1.1e9, 0], ['ffn.intermediate', 'MatMul', 'tensor', 1.8e-4, 1.6e-4, 8.6e9, 4e6],
  ['ffn.activation', 'Gelu', 'scalar', 2.2e-4, 1.4e-4, 2e7, 0], ['ffn.output', 'MatMul', 'tensor', 3.4e-4, 1.3e-4, 8.6e9, 4e6],
];
const kPeriod = 4.7e-4;

const operators = Array.from({length: 4}, (_, layer) => kLayer.map(([name, op, engine, start, time, flops, bytes]) => ({
  name: `encoder.${layer}.${name}`, op, engine, start_s: layer * kPeriod + start, duration_s: time, flops, bytes,
  critical: engine === 'tensor' ? 'tensor engine' : 'vector engine',
}))).flat();

const resources = [['tensor', 0.7, 0.25], ['vector', 0.45, 0.4], ['scalar', 0.2, 0.7], ['dma', 0.1, 0]].map(([name, busy, stalled]) =>
  ({path: `chip0.core0.${name}`, busy, stalled, bytes: name === 'dma' ? 4e8 : 0}));

const values = [
  {path: 'system.price.on_demand', value: '0.8 USD/h', kind: 'datasheet', source: 'EC2INF2', why: ''},
  {path: 'device.hbm.latency', value: '150 ns', kind: 'assumed', source: 'PROJECT', why: 'not published'},
  {path: 'factors.call_overhead', value: '220 us', kind: 'fitted', source: 'made-up@1', why: '12 rows'},
];

function record({system, device, part, speed, price}, [dtype, rate], batch) {
  const throughput = 900 * speed * rate * batch / (batch + 0.5);
  const latency = batch / throughput * speed * 2;
  const usd = price / throughput / 3600 * 1e6;
  return {
    schema: 'foretell.run/1',
    context: {version: '1', commit: 'c', system, workload: 'network', dtype, scenario: {batch, seq_len: 128, dp: 2}, set: [],
      factors: 'made-up@1', assumed_values: 1, seed: 0, notes: []},
    machine: {device, devices: speed > 1 ? 12 : 1, part, parts: 2,
      compute: [{name: `tensor engine, ${dtype}`, per_s: 9e13 * rate, source: 'A2:64'}],
      bandwidths: [{name: 'HBM', per_s: 8.2e11, source: 'A2:21'}]},
    values,
    summary: {latency_s: latency, throughput, throughput_unit: 'inferences/s', call_s: latency, ttft_s: null, tpot_s: null,
      interval80: {latency_s: [0.9 * latency, 1.15 * latency], throughput: [throughput / 1.15, throughput / 0.9]},
      cost_usd_per_million: usd, costs_usd_per_million: {on_demand: usd, reserved_1y: 0.6 * usd},
      memory_used_bytes: 1.5e9, memory_capacity_bytes: 3.4e10,
      memory: {weights_bytes: 1.2e9, kv_cache_bytes: 0, activations_bytes: 1e8 * batch / 8, inputs_outputs_bytes: 4e6,
        runtime_bytes: 1.96e8}, bottleneck: 'tensor engine'},
    operators, resources,
  };
}

export const fixture = kSystems.flatMap((system) => kTypes
  .filter(([dtype]) => system.part !== 'GPU' || dtype !== 'fp8')
  .flatMap((type) => [1, 8].map((batch) => record(system, type, batch))));

import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';

/** An OTLP collector that remembers what was counted, which it is sent by gRPC. */
export interface OtlpCollector {
  /** Its address. */
  endpoint: string;
  /** The last value of a counter with these labels, or how many figures a histogram has with them. */
  countOf: (metric: string, labels: Readonly<Record<string, string>>) => number | undefined;
  stop: () => void;
}

/** A message of Protocol Buffers: the values of each field, by its number. */
type Message = ReadonlyMap<number, readonly Buffer[]>;

/** A prefix of each message in gRPC: whether it is compressed, and its length. */
const GRPC_PREFIX_BYTES = 5;
/** Wire types of fields. */
const VARINT = 0;
const LENGTH_DELIMITED = 2;
const FIXED_BYTES: Readonly<Record<number, number>> = { 1: 8, 5: 4 };

/** Starts a collector on a free port. */
export async function startOtlpCollector(): Promise<OtlpCollector> {
  const counts = new Map<string, number>();
  const server = createServer();
  server.on('stream', (stream, headers) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      if (String(headers[':path']).includes('MetricsService')) {
        const request = Buffer.concat(chunks).subarray(GRPC_PREFIX_BYTES);
        for (const [name, value] of countersIn(request)) {
          counts.set(name, value);
        }
      }
      stream.respond({ 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end(Buffer.alloc(GRPC_PREFIX_BYTES));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    countOf: (metric, labels) => counts.get(nameOf(metric, Object.entries(labels))),
    stop: () => server.close(),
  };
}

function nameOf(metric: string, labels: readonly (readonly [string, string])[]): string {
  return JSON.stringify([metric, ...labels.map(([key, value]) => `${key}=${value}`).sort()]);
}

/** Of a metric the number of its data, and of a point those of its count and its attributes (opentelemetry-proto). */
const KINDS = [
  { data: 7, count: 6, attributes: 7 },
  { data: 9, count: 4, attributes: 9 },
];

/**
 * The sums and histograms of an ExportMetricsServiceRequest: resource_metrics 1, scope_metrics 2, metrics 2; of a metric name 1, sum 7
 * and histogram 9, and of these data_points 1.
 */
function* countersIn(request: Buffer): Iterable<readonly [string, number]> {
  for (const metric of below(request, 1, 2, 2)) {
    const name = String(read(metric).get(1)?.[0] ?? '');
    for (const { data, count, attributes } of KINDS) {
      for (const point of below(metric, data, 1)) {
        const fields = read(point);
        const value = fields.get(count)?.[0];
        if (value) {
          yield [
            nameOf(name, (fields.get(attributes) ?? []).map(labelIn)),
            Number(value.readBigInt64LE()),
          ];
        }
      }
    }
  }
}

/** A KeyValue: key 1, value 2, of which string_value is 1. */
function labelIn(attribute: Buffer): [string, string] {
  const [key] = below(attribute, 1);
  const [value] = below(attribute, 2, 1);
  return [String(key ?? ''), String(value ?? '')];
}

/** What stands below a message by these fields. */
function below(message: Buffer, ...fields: readonly number[]): readonly Buffer[] {
  return fields.reduce<readonly Buffer[]>(
    (found, field) => found.flatMap(each => read(each).get(field) ?? []),
    [message],
  );
}

/** Reads a message (https://protobuf.dev/programming-guides/encoding). Of varints nothing is kept: none is looked at. */
function read(message: Buffer): Message {
  const fields = new Map<number, Buffer[]>();
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = message.readUInt8(at);
      at += 1;
      value += (byte % 128) * shift;
      if (byte < 128) {
        return value;
      }
    }
  };
  while (at < message.length) {
    const tag = varint();
    const [number, wireType] = [Math.floor(tag / 8), tag % 8];
    if (wireType === VARINT) {
      varint();
      continue;
    }
    const length = wireType === LENGTH_DELIMITED ? varint() : FIXED_BYTES[wireType];
    if (length === undefined) {
      throw new Error(`Wire type ${wireType} is not known`);
    }
    fields.set(number, [...(fields.get(number) ?? []), message.subarray(at, at + length)]);
    at += length;
  }
  return fields;
}

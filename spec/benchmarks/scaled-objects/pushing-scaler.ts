import {
  type GrpcObject,
  loadPackageDefinition,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceClientConstructor,
  type sendUnaryData,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

/** Name of the pushed metric. */
export const PUSHED_METRIC = 'parcels';
const TARGET = 5;

interface Request {
  readonly name?: string;
  readonly scaledObjectRef?: { readonly name: string };
}

type Stream = ServerWritableStream<Request, { readonly result: boolean }>;

/** A user's external scaler for many objects, which pushes to each when it becomes active. */
export class PushingScaler implements AsyncDisposable {
  readonly port: number;
  readonly #server: Server;
  readonly #lengths: Map<string, number>;
  readonly #streams: Map<string, Stream>;

  private constructor(
    server: Server,
    port: number,
    existing: { readonly lengths: Map<string, number>; readonly streams: Map<string, Stream> },
  ) {
    this.#server = server;
    this.port = port;
    this.#lengths = existing.lengths;
    this.#streams = existing.streams;
  }

  static async start(): Promise<PushingScaler> {
    const definition = loadSync('lib/sources/external-scaler/external-scaler.proto', {
      defaults: true,
      longs: Number,
    });
    const { ExternalScaler } = loadPackageDefinition(definition).externalscaler as GrpcObject;
    const [lengths, streams] = [new Map<string, number>(), new Map<string, Stream>()];
    const lengthOf = ({ name, scaledObjectRef }: Request) =>
      lengths.get(scaledObjectRef?.name ?? name ?? '') ?? 0;
    const respond =
      (make: (request: Request) => object) =>
      ({ request }: ServerUnaryCall<Request, object>, callback: sendUnaryData<object>) =>
        callback(null, make(request));
    const server = new Server();
    server.addService((ExternalScaler as ServiceClientConstructor).service, {
      GetMetricSpec: respond(() => ({
        metricSpecs: [{ metricName: PUSHED_METRIC, targetSizeFloat: TARGET }],
      })),
      GetMetrics: respond((request) => ({
        metricValues: [{ metricName: PUSHED_METRIC, metricValueFloat: lengthOf(request) }],
      })),
      IsActive: respond((request) => ({ result: lengthOf(request) > 0 })),
      StreamIsActive: (stream: Stream) => {
        streams.set(stream.request.name ?? '', stream);
        stream.on('error', () => {}); // the client has disconnected
      },
    });
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, at) =>
        error ? reject(error) : resolve(at),
      );
    });
    return new PushingScaler(server, port, { lengths, streams });
  }

  /** Sets the length of an object's queue, and pushes to the object unless the queue is empty. */
  fill(name: string, length: number): void {
    this.#lengths.set(name, length);
    if (length > 0) this.#streams.get(name)?.write({ result: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.forceShutdown();
  }
}

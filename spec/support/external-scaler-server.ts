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

export interface ReceivedCall {
  readonly method: string;
  readonly request: {
    readonly name?: string;
    readonly namespace?: string;
    readonly scalerMetadata?: Readonly<Record<string, string>>;
    readonly scaledObjectRef?: { readonly name: string };
    readonly metricName?: string;
  };
}

/** Responses of a scaler; a method without one never responds. */
export interface ScalerResponses {
  specs?: readonly object[];
  values?: readonly object[];
  isActive?: boolean;
  /** Returned instead of any response. */
  error?: { readonly code: number; readonly details: string };
}

/** An external scaler on a loopback port, written as users write them. */
export class ExternalScalerServer implements AsyncDisposable {
  readonly calls: ReceivedCall[] = [];
  readonly streams = new Set<ServerWritableStream<unknown, { readonly result: boolean }>>();
  readonly port: number;
  responses: ScalerResponses;
  readonly #server: Server;

  private constructor(server: Server, port: number, responses: ScalerResponses) {
    this.#server = server;
    this.port = port;
    this.responses = responses;
  }

  static async start(
    responses: ScalerResponses,
    { port = 0, tls }: { readonly port?: number; readonly tls?: ServerCredentials } = {},
  ): Promise<ExternalScalerServer> {
    const definition = loadSync('lib/sources/external-scaler/external-scaler.proto', {
      defaults: true,
      longs: Number,
    });
    const { ExternalScaler } = loadPackageDefinition(definition).externalscaler as GrpcObject;
    const server = new Server({ 'grpc.max_send_message_length': -1 });
    let started: ExternalScalerServer | undefined;
    const respond =
      (method: string, make: (responses: ScalerResponses) => object | undefined) =>
      (call: ServerUnaryCall<ReceivedCall['request'], object>, callback: sendUnaryData<object>) => {
        started?.calls.push({ method, request: call.request });
        const { error } = started?.responses ?? {};
        if (error) return callback(error);
        const made = started && make(started.responses);
        if (made) callback(null, made);
      };
    server.addService((ExternalScaler as ServiceClientConstructor).service, {
      GetMetricSpec: respond('GetMetricSpec', ({ specs }) => specs && { metricSpecs: specs }),
      GetMetrics: respond('GetMetrics', ({ values }) => values && { metricValues: values }),
      IsActive: respond('IsActive', ({ isActive }) =>
        isActive === undefined ? undefined : { result: isActive },
      ),
      StreamIsActive: (call: ServerWritableStream<unknown, { readonly result: boolean }>) => {
        started?.calls.push({ method: 'StreamIsActive', request: call.request as ReceivedCall['request'] });
        started?.streams.add(call);
        call.on('cancelled', () => started?.streams.delete(call));
        call.on('error', () => started?.streams.delete(call));
      },
    });
    const bound = await new Promise<number>((resolve, reject) => {
      server.bindAsync(`127.0.0.1:${port}`, tls ?? ServerCredentials.createInsecure(), (error, at) =>
        error ? reject(error) : resolve(at),
      );
    });
    started = new ExternalScalerServer(server, bound, responses);
    return started;
  }

  /** Sends to all open streams. */
  push(result: boolean): void {
    for (const stream of this.streams) stream.write({ result });
  }

  /** Ends all streams, as a scaler without further results does. */
  endStreams(): void {
    for (const stream of this.streams) stream.end();
    this.streams.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.forceShutdown();
  }
}

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import type { Clock } from '#lib/time/clock.ts';
import { type KubeletResponse, textResponse } from './kubelet-http.ts';

/**
 * One way in which a kubelet misbehaves. A kubelet may have several: of those that take over the port or connections
 * the first is effective; responses pass through all in their order.
 */
export interface Fault {
  /** Takes over the kubelet's port, which is closed before, until the result is disposed. */
  takePort?(endpoint: { readonly address: string; readonly port: number }): Promise<AsyncDisposable>;

  /** Takes over a TCP connection before TLS; the kubelet closes it when it is itself closed. */
  takeConnection?(socket: Socket): void;

  /** Changes the response of a healthy kubelet. */
  change?(reply: KubeletResponse): KubeletResponse;

  /** Sends the response itself. */
  deliver?(reply: KubeletResponse, response: ServerResponse, context: DeliveryContext): Promise<void>;
}

interface DeliveryContext {
  readonly clock: Clock;
  /** Aborts when the caller disconnects or the kubelet closes. */
  readonly signal: AbortSignal;
  /** Resets the TCP connection. */
  resetConnection(): void;
  /** Delivers the response without this fault. */
  next(reply: KubeletResponse): Promise<void>;
}

// The kernel completes one or two connections for a listener that never accepts.
const FILLERS = 4;

/**
 * Packets are lost: the queue of a listener that never accepts is full, so that the kernel drops further SYNs and
 * connection attempts hang. Only a thread that sleeps permanently can have such a listener.
 */
const blackHole: Fault = {
  takePort: async (endpoint) => {
    const worker = new Worker(new URL('./deaf-listener.ts', import.meta.url), { workerData: endpoint });
    await once(worker, 'message');
    const fillers = Array.from({ length: FILLERS }, () => fill(endpoint));
    await Promise.race(fillers.map((socket) => once(socket, 'connect')));
    return {
      [Symbol.asyncDispose]: async () => {
        for (const socket of fillers) socket.destroy();
        await worker.terminate();
      },
    };
  },
};

function fill({ address, port }: { readonly address: string; readonly port: number }): Socket {
  const socket = connect({ host: address, port });
  socket.on('error', () => {}); // it may be connecting when the fault ends
  return socket;
}

/** Responds to the TLS handshake with plain HTTP. */
const breakTls: Fault = {
  takeConnection: (socket) => {
    socket.once('data', () => socket.end('HTTP/1.0 400 Bad Request\r\n\r\n'));
  },
};

/** JSON of the right shape in which every text is a number and every number a text. */
const changeTypes: Fault = {
  change: (reply) => ({
    ...reply,
    body: Buffer.from(
      JSON.stringify(JSON.parse(reply.body.toString()), (_name, value: unknown) => {
        if (typeof value === 'string') return value.length;
        return typeof value === 'number' ? String(value) : value;
      }),
    ),
  }),
};

/** Delays the response. */
function delay(durationMs: number): Fault {
  return {
    deliver: async (reply, _response, { clock, signal, next }) => {
      await clock.sleep(durationMs, { signal });
      await next(reply);
    },
  };
}

/** Sends headers at once and the body byte by byte. */
function drip(bytesPerSecond: number): Fault {
  return {
    deliver: async ({ status, headers, body }, response, { clock, signal }) => {
      response.writeHead(status, headers);
      response.flushHeaders();
      for (const byte of body) {
        await clock.sleep(1000 / bytesPerSecond, { signal });
        response.write(Buffer.of(byte));
      }
      response.end();
    },
  };
}

const CHUNK = Buffer.alloc(64 * 1024, ' ');

/** Sends white space, which JSON allows, until the caller disconnects. */
const endlessBody: Fault = {
  deliver: async ({ status, headers }, response, { signal }) => {
    response.writeHead(status, headers);
    while (!signal.aborted) {
      if (!response.write(CHUNK)) await once(response, 'drain', { signal });
    }
  },
};

/** The kubelet is down: connections are refused, and open ones are closed. */
const refuse: Fault = {
  takePort: async () => ({ [Symbol.asyncDispose]: async () => {} }),
};

/** Accepts connections and sends nothing, not even in the TLS handshake. */
const hang: Fault = {
  takeConnection: (socket) => {
    socket.resume();
  },
};

/** Closes the connection during the TLS handshake. */
const hangUp: Fault = {
  takeConnection: (socket) => {
    socket.once('data', () => socket.destroy());
  },
};

/** A successful response with a body that is not JSON, not an exposition, and not UTF-8. */
const respondGarbage: Fault = {
  change: (reply) => ({
    ...reply,
    body: Buffer.from('\x00\xff\xfe<html>no kubelet here</html>', 'latin1'),
  }),
};

/** A complete HTTP response with half of the body. */
const truncateBody: Fault = {
  change: (reply) => ({ ...reply, body: reply.body.subarray(0, Math.floor(reply.body.length / 2)) }),
};

/** NUL bytes and invalid UTF-8 at some positions, as from a broken disk. */
const spoilText: Fault = {
  change: (reply) => {
    const body = Buffer.from(reply.body);
    for (let index = EVERY; index < body.length; index += EVERY) {
      body[index] = index % 2 === 0 ? NUL : NEVER_UTF8;
    }
    return { ...reply, body };
  },
};

const EVERY = 97;

const NUL = 0x00;
const NEVER_UTF8 = 0xff;

/** Sends headers and no body. */
const stall: Fault = {
  deliver: async ({ status, headers }, response) => {
    response.writeHead(status, headers);
    response.flushHeaders();
  },
};

/** Sends half of the body and resets the connection. */
const resetMidBody: Fault = {
  deliver: async ({ status, headers, body }, response, { signal, resetConnection }) => {
    response.writeHead(status, { ...headers, 'Content-Length': body.length });
    if (!response.write(body.subarray(0, Math.floor(body.length / 2)))) {
      await once(response, 'drain', { signal });
    }
    resetConnection();
  },
};

/** A compressed mebibyte of white space; several in a row are a valid gzip file, too. */
const MEMBER = gzipSync(Buffer.alloc(1024 * 1024, ' '), { level: 9 });

/** A compressed response of about a megabyte, whatever the client accepts, that decompresses to this size. */
function gzipBomb(mebibytes: number): Fault {
  return {
    change: (reply) => ({
      ...reply,
      headers: { ...reply.headers, 'Content-Encoding': 'gzip' },
      body: Buffer.concat(Array.from({ length: mebibytes }, () => MEMBER)),
    }),
  };
}

/** A complete response of a given length, filled with white space, which JSON allows. */
function hugeBody(bytes: number): Fault {
  return {
    deliver: async ({ status, headers }, response, { signal }) => {
      response.writeHead(status, { ...headers, 'Content-Length': bytes });
      for (let left = bytes - 2; left > 0; left -= CHUNK.length) {
        if (!response.write(CHUNK.subarray(0, left))) await once(response, 'drain', { signal });
      }
      response.end('{}');
    },
  };
}

/** Nested lists. */
function nestDeeply(levels: number): Fault {
  return {
    change: (reply) => ({ ...reply, body: Buffer.from(`${'['.repeat(levels)}${']'.repeat(levels)}`) }),
  };
}

/**
 * Another status instead of the response.
 *
 * @param headers further headers, such as `Location` or `Retry-After`
 */
function respondStatus(status: number, headers: Readonly<Record<string, string>> = {}): Fault {
  return {
    change: () => {
      const reply = textResponse(status, `simulated status ${status}\n`);
      return { ...reply, headers: { ...reply.headers, ...headers } };
    },
  };
}

/** Faults without parameters, which a scenario writes as their name. */
const FAULTS_BY_NAME = {
  refuse,
  'black-hole': blackHole,
  hang,
  'hang-up': hangUp,
  'break-tls': breakTls,
  garbage: respondGarbage,
  truncate: truncateBody,
  'wrong-types': changeTypes,
  'spoiled-text': spoilText,
  stall,
  endless: endlessBody,
  'reset-mid-body': resetMidBody,
} as const satisfies Record<string, Fault>;

/** Faults with parameters, which a scenario writes as an object. */
const FAULTS_BY_PARAMETERS = [
  withParameters(
    {
      status: z.number().int().min(200).max(599),
      headers: z.record(z.string(), z.string()).optional(),
    },
    ({ status, headers }) => respondStatus(status, headers),
  ),
  withParameters({ delayMs: z.number().nonnegative() }, ({ delayMs }) => delay(delayMs)),
  withParameters({ dripBytesPerSecond: z.number().positive() }, (its) => drip(its.dripBytesPerSecond)),
  withParameters({ bodyBytes: z.number().int().min(2) }, ({ bodyBytes }) => hugeBody(bodyBytes)),
  withParameters({ nestingLevels: z.number().int().positive() }, (its) => nestDeeply(its.nestingLevels)),
  withParameters({ gzipBombMebibytes: z.number().int().positive() }, (its) =>
    gzipBomb(its.gzipBombMebibytes),
  ),
] as const;

function withParameters<Shape extends z.ZodRawShape>(
  shape: Shape,
  create: (parameters: z.output<z.ZodObject<Shape, z.core.$strict>>) => Fault,
) {
  return z.strictObject(shape).transform(create);
}

const names = Object.keys(FAULTS_BY_NAME) as (keyof typeof FAULTS_BY_NAME)[];

/** A fault as a scenario writes it. */
export const faultSchema = z.union([
  z.enum(names).transform((name): Fault => FAULTS_BY_NAME[name]),
  ...FAULTS_BY_PARAMETERS,
]);

/** A fault, or the value that a scenario writes for one. */
export type FaultInput = Fault | z.input<typeof faultSchema>;

/** @throws ZodError when it is neither */
export function parseFault(input: FaultInput): Fault {
  return isFault(input) ? input : faultSchema.parse(input);
}

function isFault(input: FaultInput): input is Fault {
  if (typeof input === 'string') return false;
  return Object.values(input).some((one) => typeof one === 'function');
}

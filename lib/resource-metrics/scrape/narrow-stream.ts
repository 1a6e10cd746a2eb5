import type net from 'node:net';
import { Duplex } from 'node:stream';

/** The most that one TLS record can carry. */
const WIDTH = 16 * 1024;

/**
 * A socket that hands on what it receives in pieces of 16 KiB.
 *
 * TLS keeps for each connection, as long as it is open, two buffers as large as the largest piece that it was ever given. From a
 * socket it takes 64 KiB at once, of which nothing is used between two questions.
 */
export class NarrowStream extends Duplex {
  readonly #socket: net.Socket;

  constructor(socket: net.Socket) {
    super({ readableHighWaterMark: WIDTH, allowHalfOpen: false });
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('end', () => this.push(null));
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }

  override _final(done: () => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  #receive(chunk: Buffer): void {
    let hasRoom = true;
    for (let start = 0; start < chunk.length; start += WIDTH) {
      hasRoom = this.push(chunk.subarray(start, start + WIDTH));
    }
    if (!hasRoom) this.#socket.pause();
  }
}

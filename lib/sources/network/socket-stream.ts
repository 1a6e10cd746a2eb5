import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** Receives a chunk from the socket; `pass` delivers it, at once or later. Until then, nothing more is read. */
type Receive = (chunk: Buffer, pass: () => void) => void;

/**
 * A stream over a connected socket. TLS that is started over it receives the data that the stream delivers; over a
 * socket, it would read from the operating system directly, and process the data in the same call.
 */
export class SocketStream extends Duplex {
  readonly #socket: Socket;
  readonly #receive: Receive;
  #isReading = false;

  /** @param receive by default delivers each chunk at once */
  constructor(socket: Socket, receive: Receive = (_, pass) => pass()) {
    super({ allowHalfOpen: true });
    this.#socket = socket;
    this.#receive = receive;
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
  }

  override _read(): void {
    if (this.#isReading) {
      this.#socket.resume();
      return;
    }
    this.#isReading = true; // only now, since another reader may take the first bytes
    this.#socket.on('data', (chunk: Buffer) => this.#take(chunk));
    this.#socket.on('end', () => this.push(null));
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }

  override _writev(chunks: { readonly chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#socket.write(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  #take(chunk: Buffer): void {
    let isPassed = false;
    this.#receive(chunk, () => {
      isPassed = true;
      if (this.destroyed) return;
      if (this.push(chunk)) this.#socket.resume();
      else this.#socket.pause();
    });
    if (!isPassed) this.#socket.pause();
  }
}

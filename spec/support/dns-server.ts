import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type Answer, decode, encode } from 'dns-packet';

/**
 * A name server's response for each name: addresses, a failure, or no response (to IPv6 queries or to any). Other names do not
 * exist.
 */
export type Zone = Readonly<
  Record<string, readonly (Answer | 'silence about IPv6')[] | 'SERVFAIL' | 'silence'>
>;

const [NOERROR, SERVFAIL, NXDOMAIN] = [0, 2, 3];

/** A name server on loopback that speaks real DNS. */
export class DnsServer {
  readonly #socket: Socket;
  /** The received queries, as `TYPE name`. */
  readonly questions: string[] = [];

  private constructor(socket: Socket, zone: Zone) {
    this.#socket = socket;
    socket.on('message', (message, peer) => {
      const { id, questions = [] } = decode(message);
      const [question] = questions;
      if (!question) return;
      this.questions.push(`${question.type} ${question.name}`);
      const found = zone[question.name];
      if (found === 'silence') return;
      if (question.type === 'AAAA' && found?.includes('silence about IPv6')) return;
      const flags = found === 'SERVFAIL' ? SERVFAIL : found ? NOERROR : NXDOMAIN;
      const answers = found && found !== 'SERVFAIL' ? found.filter(isOf(question.type)) : [];
      socket.send(
        encode({ type: 'response', id: id ?? 0, flags, questions, answers }),
        peer.port,
        peer.address,
      );
    });
  }

  static async start(zone: Zone): Promise<DnsServer> {
    const socket = createSocket('udp4');
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new DnsServer(socket, zone);
  }

  /** As `address:port`. */
  get address(): string {
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }
}

function isOf(expected: Answer['type']): (entry: Answer | string) => entry is Answer {
  return (entry): entry is Answer => typeof entry !== 'string' && entry.type === expected;
}

export const ipv4 = (name: string, data: string): Answer => ({ type: 'A', name, data });

export const ipv6 = (name: string, data: string): Answer => ({ type: 'AAAA', name, data });

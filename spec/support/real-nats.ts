import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { freePort } from './free-port.ts';
import { SpawnedProgram } from './spawned-program.ts';
import { TemporaryDirectory } from './temporary-directory.ts';

/** A NATS server with JetStream on its own ports. */
export interface RealNats extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  readonly monitoringPort: number;
  request(subject: string, body?: object): Promise<Readonly<Record<string, unknown>>>;
  /** Takes messages of a pull consumer, and by default acknowledges them. */
  take(stream: string, consumer: string, messages: number, acknowledges?: boolean): Promise<void>;
}

/** Starts the nats-server of `requireProgram` on loopback addresses; several form a cluster. */
export async function startNats(
  binary: string,
  hosts: readonly string[] = ['127.0.0.1'],
): Promise<readonly RealNats[]> {
  await using starting = new AsyncDisposableStack();
  const [port, clusterPort, monitoringPort] = [await freePort(), await freePort(), await freePort()];
  const servers: RealNats[] = [];
  const programs = new Map<string, SpawnedProgram>();
  for (const [index, host] of hosts.entries()) {
    const directory = starting.use(await TemporaryDirectory.create());
    const args = ['-js', '-sd', directory.path, '-a', host, '-p', `${port}`, '-n', `server${index}`];
    const routes = hosts.map((other) => `nats://${other}:${clusterPort}`).join(',');
    const clustered = [
      '--cluster_name',
      'spec',
      '--cluster',
      `nats://${host}:${clusterPort}`,
      '--routes',
      routes,
    ];
    const argv = [...args, '-m', `${monitoringPort}`, ...(hosts.length > 1 ? clustered : [])];
    programs.set(host, starting.use(new SpawnedProgram(binary, argv, { name: 'nats-server' })));
    servers.push(serverAt(host, port, monitoringPort));
  }
  for (const [host, program] of programs) {
    const health = () => fetch(`http://${host}:${monitoringPort}/healthz`);
    await program.until(() =>
      health().then(
        ({ ok }) => ok,
        () => false,
      ),
    );
  }
  const stack = starting.move();
  return servers.map((server) => ({ ...server, [Symbol.asyncDispose]: () => stack.disposeAsync() }));
}

function serverAt(host: string, port: number, monitoringPort: number): RealNats {
  const request = async (subject: string, body: object = {}) =>
    JSON.parse(
      (await exchange({ host, port }, { subject, payload: JSON.stringify(body), messages: 1 }))[0]?.body ??
        '{}',
    );
  return {
    ...{ host, port, monitoringPort, request },
    async take(stream, consumer, messages, acknowledges = true) {
      const subject = `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`;
      const payload = JSON.stringify({ batch: messages });
      await exchange({ host, port }, { subject, payload, messages, acknowledges });
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

/** Publishes a message with an inbox and reads the reply. */
async function exchange(
  at: { readonly host: string; readonly port: number },
  {
    subject,
    payload,
    messages,
    acknowledges = false,
  }: { subject: string; payload: string; messages: number; acknowledges?: boolean },
): Promise<readonly { readonly replyTo: string; readonly body: string }[]> {
  const socket = connect(at.port, at.host);
  const found: { replyTo: string; body: string }[] = [];
  try {
    socket.write(`CONNECT {"verbose":false}\r\nSUB inbox.spec 1\r\n`);
    socket.write(`PUB ${subject} inbox.spec ${Buffer.byteLength(payload)}\r\n${payload}\r\n`);
    let header: RegExpExecArray | null = null;
    for await (const line of createInterface({ input: socket })) {
      if (header) found.push({ replyTo: header[1] ?? '', body: line });
      header = /^MSG \S+ \S+ (\S*) ?\d+$/.exec(line);
      if (line === 'PING') socket.write('PONG\r\n');
      if (found.length === messages) break;
    }
    if (acknowledges) for (const { replyTo } of found) socket.write(`PUB ${replyTo} 4\r\n+ACK\r\n`);
    socket.end();
    return found;
  } finally {
    if (!socket.writableFinished) await once(socket, 'finish').catch(() => {});
    socket.destroy();
  }
}

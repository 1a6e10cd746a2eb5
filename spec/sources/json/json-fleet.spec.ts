import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { HttpClient, type HttpRequest } from '#lib/sources/http/http-client.ts';
import { JsonFleet } from '#lib/sources/json/json-fleet.ts';
import { jsonExtract } from '#lib/sources/json/json-query.ts';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { eventually } from '#spec/support/eventually.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { PodServers } from '#spec/support/pod-servers.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const SHORT_BYTES = 256 * KIB;
const MAX_BYTES = 4 * MIB;
/** A document that lacks only its end. */
const MAX_TEXT = Buffer.alloc(MAX_BYTES - 1, ' ');
const signal = new AbortController().signal;
const EXTRACT = jsonExtract({ form: 'path', text: '$' });

describe('JsonFleet', () => {
  it('sends at most 100 concurrent requests, and buffers at most 64 MiB of responses', async () => {
    await using system = await setUp();
    const leaving = new AbortController();
    system.respond = (response) => void response.write(MAX_TEXT); // and never ends
    const groups = Array.from({ length: 20 }, (_, index) => `group-${index}`);
    const pending = groups.map((group) => errorOf(system.send(group, 10, leaving.signal)));
    const lengths = () => [...system.retained.values()];
    const max = () => lengths().filter((bytes) => bytes === MAX_TEXT.length).length;
    await eventually(() => max() === 8 && lengths().filter((bytes) => bytes > SHORT_BYTES).length === 100);
    for (let time = 0; time < 50; time++) await new Promise((pass) => setImmediate(pass));
    expect(system.requests()).to.equal(100);
    expect(max()).to.equal(8);
    const total = lengths().reduce((sum, bytes) => sum + bytes, 0);
    expect(total).to.be.within(92 * SHORT_BYTES + 8 * MAX_TEXT.length, 64 * MIB);

    leaving.abort(new Error('nobody wants to know'));
    expect(await Promise.all(pending)).to.deep.equal(Array(20).fill('nobody wants to know'));
    expect(system.retained.size).to.equal(0);

    system.respond = (response) => void response.end(`${' '.repeat(2 * SHORT_BYTES)}7`);
    const samples = await system.send('d', 50, new AbortController().signal); // all permits are free again
    expect(samples.map(({ value }) => value)).to.deep.equal(Array(50).fill(7));
  });

  it('queries members of another namespace while those of one hang, and further ones of that one', async () => {
    await using system = await setUp();
    const leaving = new AbortController();
    system.respond = () => {}; // never responds
    const hanging = [errorOf(system.send('a', 200, leaving.signal))];
    await eventually(() => system.requests() === 40);
    system.respond = (response) => void response.end('7');
    expect(await system.send('a', 20, signal)).to.have.lengthOf(20);
    system.respond = () => {};
    hanging.push(errorOf(system.send('a', 200, leaving.signal)));
    await eventually(() => system.requests() === 70); // half of a hundred are in progress
    system.respond = (response) => void response.end('7');
    expect(await system.send('b', 60, signal)).to.have.lengthOf(60);
    leaving.abort(new Error('nobody wants to know'));
    await Promise.all(hanging);
  });

  it('bounds the wait of long responses by the timeout of a member', async () => {
    await using system = await setUp();
    system.respond = (response) => void response.write(MAX_TEXT);
    const pending = errorOf(system.send('a', 20, new AbortController().signal));
    await eventually(
      () => [...system.retained.values()].filter((bytes) => bytes > SHORT_BYTES).length === 20,
    );
    await system.clock.advance(5_000);
    expect(await pending).to.match(
      /^None of 20 pods has a value; first failure: a-0: .*: no response within 5s$/,
    );
    expect(system.retained.size).to.equal(0);
  });
});

async function setUp() {
  const stack = new AsyncDisposableStack();
  const clock = new ManualClock();
  const addresses = Array.from({ length: 10 }, (_, index) => `127.0.0.${index + 2}`);
  let requests = 0;
  const serve = (_: unknown, response: ServerResponse) => {
    requests++;
    system.respond(response);
  };
  const { port } = stack.use(
    await PodServers.start(Object.fromEntries(addresses.map((address) => [address, serve]))),
  );
  const allowedHosts = new AllowedHosts(['127.0.0.0/8']);
  const client = stack.use(new HttpClient({ clock, allowedHosts, userAgent: 'spec' }));
  const retained = new Map<HttpRequest, number>();
  const http = {
    /** The real client, with a count of each response's received bytes. */
    async read(request: HttpRequest, signal: AbortSignal): Promise<Buffer> {
      const onLength = async (bytes: number) => {
        retained.set(request, bytes);
        await request.onLength?.(bytes);
      };
      try {
        return await client.read({ ...request, onLength }, signal);
      } finally {
        retained.delete(request);
      }
    },
  };
  const fleet = new JsonFleet({ clock });
  const system = {
    ...{ clock, retained },
    requests: () => requests,
    respond: (response: ServerResponse): void => void response.end('1'),
    async send(group: string, count: number, signal: AbortSignal) {
      const members = Array.from({ length: count }, (_, index) => ({
        url: new URL(`http://${addresses[index % addresses.length]}:${port}/${group}`),
        labels: {},
        name: `${group}-${index}`,
      }));
      return await fleet.query(members, {
        http,
        extract: EXTRACT,
        namespace: group,
        timeoutMs: 5_000,
        signal,
      });
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
  return system;
}

import { once } from 'node:events';
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { type FaultInput, parseFault } from '#simulator/kubelet/faults.ts';
import { type SimulatedCluster, startCluster } from '#simulator/simulated-cluster.ts';
import { type HttpsResponse, openHttps, requestHttps } from '#spec/support/https-request.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { until } from '#spec/support/until.ts';

describe('parseFault', () => {
  const clock = new ManualClock();
  let cluster: SimulatedCluster;

  before(async () => {
    cluster = await startCluster({ nodes: 1, podsPerNode: 10 }, { clock });
  });
  after(() => cluster[Symbol.asyncDispose]());
  afterEach(async () => {
    await cluster.setFault('node-1');
    expect((await request()).status).to.equal(200);
  });

  const url = () => `https://${cluster.node('node-1').plan.address}:${cluster.kubeletPort}/stats/summary`;
  const credentials = () => ({ ca: cluster.pki.kubeletCa.certificatePem, token: cluster.metricsServerToken });
  const request = () => requestHttps(url(), credentials());
  const requestWith = async (...faults: FaultInput[]): Promise<HttpsResponse & NodeJS.ErrnoException> => {
    await cluster.setFault('node-1', ...faults);
    return request().catch((error) => error);
  };

  it('refuses connections', async () => {
    expect((await requestWith('refuse')).code).to.equal('ECONNREFUSED');
  });

  it('drops packets, so that TCP does not connect', async () => {
    await cluster.setFault('node-1', 'black-hole');
    const { address } = cluster.node('node-1').plan;
    const socket = connect({ host: address, port: cluster.kubeletPort });
    const abort = new AbortController();
    const connected = once(socket, 'connect', { signal: abort.signal }).catch((error) => error.name);
    // Loopback needs microseconds to connect; a few iterations of the event loop would be enough.
    for (let tick = 0; tick < 100; tick++) await new Promise((resolve) => setImmediate(resolve));
    abort.abort();
    expect(await connected).to.equal('AbortError');
    socket.destroy();
  });

  it('hangs after accepting', async () => {
    await cluster.setFault('node-1', 'hang');
    const { address } = cluster.node('node-1').plan;
    const socket = connect({ host: address, port: cluster.kubeletPort });
    await once(socket, 'connect');
    socket.write('hello?');
    await until(clock, () => cluster.node('node-1').kubelet.connectionCount === 1);
    expect(socket.bytesRead).to.equal(0);
    socket.destroy();
  });

  it('breaks TLS', async () => {
    expect((await requestWith('break-tls')).code).to.equal('EPROTO');
  });

  it('responds with garbage', async () => {
    const { status, body } = await requestWith('garbage');
    expect(status).to.equal(200);
    expect(() => JSON.parse(body)).to.throw(SyntaxError);
  });

  it('truncates the body within a complete response', async () => {
    const { status, body } = await requestWith('truncate');
    expect(status).to.equal(200);
    expect(body).to.match(/^\{\n "node": \{/);
    expect(() => JSON.parse(body)).to.throw(SyntaxError);
  });

  it('responds with another status and its headers', async () => {
    const { status, headers } = await requestWith({ status: 429, headers: { 'Retry-After': '7' } });
    expect([status, headers['retry-after']]).to.deep.equal([429, '7']);
  });

  it('delays the response', async () => {
    await cluster.setFault('node-1', { delayMs: 3000 });
    const response = request();
    await until(clock, () => clock.sleeperCount > 0);
    await clock.advance(2999);
    expect(await Promise.race([response, 'nothing yet'])).to.equal('nothing yet');
    await clock.advance(1);
    expect((await response).status).to.equal(200);
  });

  it('drips', async () => {
    await cluster.setFault('node-1', { dripBytesPerSecond: 2 });
    const response = await openHttps(url(), credentials());
    let received = 0;
    response.on('data', (chunk: Buffer) => {
      received += chunk.length;
    });
    for (const bytes of [1, 2, 3]) {
      await until(clock, () => clock.sleeperCount > 0);
      await clock.advance(500);
      await until(clock, () => received === bytes);
    }
    response.destroy();
    await until(clock, () => clock.sleeperCount === 0);
  });

  it('stalls after the headers', async () => {
    await cluster.setFault('node-1', 'stall');
    const response = await openHttps(url(), credentials());
    expect(response.statusCode).to.equal(200);
    expect(response.readableLength).to.equal(0);
    response.destroy();
  });

  it('never ends', async () => {
    await cluster.setFault('node-1', 'endless');
    const response = await openHttps(url(), credentials());
    let received = 0;
    for await (const chunk of response) {
      received += chunk.length;
      if (received > 10_000_000) break;
    }
    response.destroy();
    await until(clock, () => cluster.node('node-1').kubelet.connectionCount === 0);
  });

  it('resets the connection in the middle of the body', async () => {
    expect((await requestWith('reset-mid-body')).code).to.equal('ECONNRESET');
  });

  it('hangs up in the handshake', async () => {
    expect((await requestWith('hang-up')).code).to.equal('ECONNRESET');
  });

  it('swaps texts and numbers', async () => {
    const { node } = JSON.parse((await requestWith('wrong-types')).body);
    expect(node.nodeName).to.equal('node-1'.length);
    expect(node.cpu.usageCoreNanoSeconds).to.be.a('string');
  });

  it('spoils the text with NUL bytes and broken UTF-8', async () => {
    const { body } = await requestWith('spoiled-text');
    expect(body).to.include('\0').and.to.include('\ufffd');
  });

  it('sends valid JSON of the given length', async () => {
    const { body } = await requestWith({ bodyBytes: 1_000_000 });
    expect(body).to.have.length(1_000_000);
    expect(JSON.parse(body)).to.deep.equal({});
  });

  it('nests deeply', async () => {
    expect((await requestWith({ nestingLevels: 5 })).body).to.equal('[[[[[]]]]]');
  });

  it('compresses a response without a request for that', async () => {
    await cluster.setFault('node-1', { gzipBombMebibytes: 3 });
    const response = await openHttps(url(), credentials());
    expect(response.headers['content-encoding']).to.equal('gzip');
    const body = await buffer(response);
    expect(body.length).to.be.below(10_000);
    expect(gunzipSync(body)).to.have.length(3 * 1024 * 1024);
  });

  it('combines', async () => {
    await cluster.setFault('node-1', { delayMs: 1000 }, 'truncate', { status: 500 });
    const response = request();
    await until(clock, () => clock.sleeperCount > 0);
    await clock.advance(1000);
    expect((await response).status).to.equal(500);
  });

  it('accepts a fault as an object', async () => {
    const shout = parseFault({ change: (response) => ({ ...response, body: Buffer.from('HEY') }) });
    expect((await requestWith(shout)).body).to.equal('HEY');
  });

  it('refuses an unknown value', () => {
    expect(() => parseFault('hiccup' as FaultInput)).to.throw();
  });
});

import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { CertificateAuthority } from '#simulator/access/certificate-authority.ts';
import { generateLoad, type LoadJob } from './generate-load.ts';

describe('generateLoad', () => {
  const authority = new CertificateAuthority('test');
  const serving = authority.issue({
    subject: { commonName: 'server' },
    usages: ['serverAuth'],
    names: ['127.0.0.1'],
  });
  const { certificatePem: cert, privateKeyPem: key } = authority.issue({
    subject: { commonName: 'client' },
    usages: ['clientAuth'],
  });
  const body = 'x'.repeat(10_000);

  const job = {
    path: '/a',
    mediaType: 'application/json',
    gzip: false,
    protocol: 'HTTP/1.1',
    clients: 2,
    durationMs: 30,
    tls: { cert, key },
  } as const;

  function originOf(server: Server): string {
    return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  async function load(changes: Partial<LoadJob>, listener: RequestListener) {
    await using stack = new AsyncDisposableStack();
    const server = createServer({ cert: serving.certificatePem, key: serving.privateKeyPem }, listener);
    stack.use(server).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return await generateLoad({ ...job, origin: originOf(server), ...changes });
  }

  it('counts requests, and bytes of responses on the wire', async () => {
    let requested = 0;
    const result = await load({ gzip: true }, (request, response) => {
      if (request.url === '/a' && request.headers['accept-encoding'] === 'gzip') requested += 1;
      response.writeHead(200, { 'content-type': 'application/json' }).end(gzipSync(body));
    });
    expect(result.requests).to.equal(requested);
    expect(result.bodyBytes).to.equal(gzipSync(body).length);
    expect(result.medianMs).to.be.at.most(result.p99Ms);
    expect(result.p99Ms).to.be.at.most(result.maxMs);
  });

  it('sends requests without a pause, does not count the warm-up, and reports the cost of the server', async () => {
    let requested = 0;
    const changes = { warmUpMs: 30, everyMs: 20, clients: 1, serverPid: process.pid };
    const result = await load(changes, (_request, response) => {
      requested += 1;
      response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    });
    expect(result.requests).to.be.at.most(2); // one request every 20 ms for 30 ms
    expect(requested).to.be.greaterThan(result.requests + 1); // one request probes the connection
    expect(result.serverCpuMs).to.be.at.least(0);
    expect(
      await load({}, (_request, response) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(),
      ),
    ).not.to.have.property('serverCpuMs');
  });

  it('sends requests at the given rate, however slow the responses', async () => {
    let requested = 0;
    const result = await load({ durationMs: 50, everyMs: 10, clients: 1 }, (request, response) => {
      const respond = () => response.writeHead(200, { 'content-type': 'application/json' }).end(body);
      if (request.url === '/a' && requested++ === 0) setTimeout(respond, 60);
      else respond();
    });
    expect(result.requests).to.equal(5);
    expect(requested).to.equal(5);
  });

  it('uses the given protocol', async () => {
    await using stack = new AsyncDisposableStack();
    const versions = new Set<string>();
    const server = createSecureServer(
      { cert: serving.certificatePem, key: serving.privateKeyPem, allowHTTP1: true },
      (request, response) => {
        versions.add(request.httpVersion);
        response.writeHead(200, { 'content-type': 'application/json' }).end(body);
      },
    );
    server.listen(0, '127.0.0.1');
    stack.defer(() => void server.close());
    await once(server, 'listening');
    for (const [protocol, version] of [
      ['HTTP/2', '2.0'],
      ['HTTP/1.1', '1.1'],
    ] as const) {
      versions.clear();
      await generateLoad({ ...job, protocol, origin: originOf(server) });
      expect([...versions]).to.deep.equal([version]);
    }
  });

  it('fails on refusals and on other formats than the requested one', async () => {
    const failing = load({}, (request, response) =>
      response.writeHead(request.url === '/a' ? 403 : 200).end(),
    );
    expect(await failing.catch((error: Error) => error.message)).to.match(/^Cannot measure \/a .* was 403/);
    const other = load({ mediaType: 'application/vnd.kubernetes.protobuf' }, (_request, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(body),
    );
    expect(await other.catch((error: Error) => error.message)).to.match(
      /the response was 200, application\/json$/,
    );
  });
});

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { NameResolver } from '#lib/dns/name-resolver.ts';
import { HttpClient } from '#lib/sources/http/http-client.ts';
import { PrometheusServer } from '#lib/sources/http-apis/prometheus-server.ts';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { findSourceRemedy, SOURCE_FAILURES } from '#lib/sources/source-failures.ts';
import { systemClock } from '#lib/time/clock.ts';
import { DnsServer } from '#spec/support/dns-server.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { TestAuthority } from '#spec/support/issued-certificates.ts';

const LOOPBACK = ['127.0.0.0/8'];

describe('findSourceRemedy', () => {
  it('finds the cause of a closed port', async () => {
    expect(await causeAt('http://127.0.0.1:1')).to.equal('connection refused');
  });

  it('finds that a host is not allowed', async () => {
    expect(await causeAt('http://127.0.0.1:1', { allowed: [] })).to.equal('host not allowed');
    expect(await causeAt('http://127.0.0.1:1', { allowed: ['10.0.0.0/8'] })).to.equal('host not allowed');
  });

  it('finds that a name does not exist, or that DNS fails or does not respond', async () => {
    using dns = await DnsServer.start({ 'broken.test': 'SERVFAIL', 'silent.test': 'silence' });
    const cause = async (host: string) =>
      await causeAt(`http://${host}:1`, { allowed: ['*'], dnsServer: dns.address });
    expect(await cause('unknown.test')).to.equal('host not resolved');
    expect(await cause('broken.test')).to.equal('host not resolved');
    expect(await cause('silent.test')).to.equal('host not resolved');
  });

  it('finds a certificate that is not trusted', async () => {
    const leaf = new TestAuthority('unknown authority').leaf({ usages: ['serverAuth'] });
    await using server = createTlsServer(leaf);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    expect(await causeAt(`https://127.0.0.1:${port}`)).to.equal('TLS certificate not trusted');
  });

  it('finds the statuses 401, 403 and 404, an empty result, and a late response', async () => {
    const cause = async (respond: RequestListener) => {
      await using server = createServer(respond);
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const found = await causeAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
      server.closeAllConnections();
      return found;
    };
    const status = (code: number) => cause((_, response) => void response.writeHead(code).end());
    expect(await status(401)).to.equal('credentials refused, such as status 401 or 403');
    expect(await status(403)).to.equal('credentials refused, such as status 401 or 403');
    expect(await status(404)).to.equal('no such queue, or an empty result');
    expect(await status(500)).to.equal('another cause');
    const empty = '{"status":"success","data":{"resultType":"vector","result":[]}}';
    expect(await cause((_, response) => void response.end(empty))).to.equal(
      'no such queue, or an empty result',
    );
    expect(await cause(() => {})).to.equal('no response in time');
  });

  const TEXTS: readonly (readonly [text: string, cause: string])[] = [
    [
      'ERR value at orders: NOAUTH Authentication required.',
      'credentials refused, such as status 401 or 403',
    ],
    [
      'Cannot query database shop at db:5432: password authentication failed for user "shop"',
      'credentials refused, such as status 401 or 403',
    ],
    ["Access denied for user 'shop'@'10.0.0.7'", 'credentials refused, such as status 401 or 403'],
    [
      'error requesting metrics endpoint: /: api returned 403',
      'credentials refused, such as status 401 or 403',
    ],
    [
      'write EPROTO: ssl3_read_bytes:tlsv13 alert certificate required',
      'credentials refused, such as status 401 or 403',
    ],
    ['AWS.SimpleQueueService.NonExistentQueue', 'no such queue, or an empty result'],
    ["NOT_FOUND - no queue 'orders' in vhost '/'", 'no such queue, or an empty result'],
    ['relation "orders" does not exist', 'no such queue, or an empty result'],
    ['No connection established. Last error: connect ECONNREFUSED 10.0.0.7:9090', 'connection refused'],
    ['Service orders/shop has no ready endpoint', 'connection refused'],
    ['Service orders/shop has no value within 14s', 'no response in time'],
    ['Cannot list pods: pods is forbidden (status 403)', 'another cause'],
  ];

  for (const [text, cause] of TEXTS) {
    it(`finds "${cause}" in ${text}`, () => {
      expect(causeOf(new Error(text))).to.equal(cause);
    });
  }

  it('is described, with each remedy, in docs/reference/autoscaler-troubleshooting.md', () => {
    const page = readFileSync('docs/reference/autoscaler-troubleshooting.md', 'utf8');
    for (const { cause, remedy } of SOURCE_FAILURES) expect(page).to.include(`| ${cause} | ${remedy} |`);
  });
});

function causeOf(error: unknown): string | undefined {
  const remedy = findSourceRemedy(error);
  return SOURCE_FAILURES.find((failure) => failure.remedy === remedy)?.cause;
}

/** The cause that is found in the error of a query of Prometheus. */
async function causeAt(
  url: string,
  {
    allowed = LOOPBACK,
    dnsServer,
  }: { readonly allowed?: readonly string[]; readonly dnsServer?: string } = {},
): Promise<string | undefined> {
  const resolver = new NameResolver({
    ...{ clock: systemClock, timeoutMs: 300, hosts: async () => '', resolvConf: async () => '' },
    ...(dnsServer !== undefined && { servers: [dnsServer] }),
  });
  await using http = new HttpClient({
    ...{ clock: systemClock, userAgent: 'spec', allowedHosts: new AllowedHosts(allowed) },
    findAddresses: resolver.findAddresses,
  });
  const query = new PrometheusServer({ url: new URL(url), http }).valueQuery('depth', {
    ...{ clock: systemClock, parameters: [], headers: {}, timeoutMs: 1000, isEmptyZero: false },
  });
  return causeOf(new Error(await errorOf(query.run(new AbortController().signal))));
}

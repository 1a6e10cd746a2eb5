import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:tls';
import { CertificateAuthority } from '#simulator/access/certificate-authority.ts';

/** Speed of this machine at the most frequent work of servers, per CPU second of one core. */
export interface Calibration {
  readonly jsonMegabytesPerSecond: number;
  /** Client and server together: TLS 1.3, P-256 certificates, no client certificate. */
  readonly tlsHandshakesPerSecond: number;
}

/** Recorded from a kubelet. */
const SUMMARY = 'spec/fixtures/kubelet/series/t0-summary.json';

/** Measures each for `eachMs`, after a warm-up of the same duration. */
export async function calibrate(eachMs = 400): Promise<Calibration> {
  const summary = readFileSync(SUMMARY, 'utf8');
  const parsesPerSecond = await perCpuSecond(eachMs, async () => void JSON.parse(summary));
  await using shaking = await handshakes();
  return {
    jsonMegabytesPerSecond: (parsesPerSecond * Buffer.byteLength(summary)) / 1e6,
    tlsHandshakesPerSecond: await perCpuSecond(eachMs, shaking.once),
  };
}

async function perCpuSecond(forMs: number, act: () => Promise<void>): Promise<number> {
  const cpuMs = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  };
  let perSecond = 0;
  for (const _run of ['to warm up', 'to be counted']) {
    const startMs = cpuMs();
    let count = 0;
    while (cpuMs() - startMs < forMs) {
      await act();
      count += 1;
    }
    perSecond = (count / (cpuMs() - startMs)) * 1000;
  }
  return perSecond;
}

async function handshakes(): Promise<AsyncDisposable & { readonly once: () => Promise<void> }> {
  const { certificatePem: cert, privateKeyPem: key } = new CertificateAuthority('calibration').issue({
    subject: { commonName: 'server' },
    usages: ['serverAuth'],
    names: ['127.0.0.1'],
  });
  const server = createServer({ cert, key });
  server.on('tlsClientError', () => {}); // clients disconnect right after the handshake
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    once: async () => {
      const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
      await once(socket, 'secureConnect');
      socket.destroy();
    },
    [Symbol.asyncDispose]: async () => void (await once(server.close(), 'close')),
  };
}

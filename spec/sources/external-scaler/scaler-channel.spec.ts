import { expect } from 'chai';
import { ScalerChannel } from '#lib/sources/external-scaler/scaler-channel.ts';
import { eventually } from '#spec/support/eventually.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RawServer, serverCertificate } from '#spec/support/raw-server.ts';

describe('ScalerChannel', () => {
  for (const [how, tls] of [
    ['', undefined],
    [' over TLS', serverCertificate('127.0.0.1').tls],
  ] as const)
    it(`closes the connection to a silent server${how}`, async () => {
      await using server = await RawServer.start((socket) => socket.resume(), tls ? { tls } : {});
      const secured = tls && { ca: undefined, cert: undefined, key: undefined, isUnverified: true };
      const at = { host: '127.0.0.1', port: server.port, tls: secured };
      const channel = new ScalerChannel(at, { addresses: ['127.0.0.1'], clock: new ManualClock() });
      const leaving = new AbortController();
      const call = { method: 'IsActive', request: Buffer.alloc(0), decode: () => true } as const;
      const called = channel.call(call, leaving.signal).catch(String);
      await eventually(() => server.openSockets.length === 1);
      leaving.abort(new Error('nobody waits any more'));
      expect(await called).to.match(/nobody waits any more/);
      channel.destroy();
      await eventually(() => server.openSockets.length === 0);
    });
});

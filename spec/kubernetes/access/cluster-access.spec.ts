import { expect } from 'chai';
import { ClusterAccess, type ClusterCredentials } from '#lib/kubernetes/access/cluster-access.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';

const TLS = {
  ca: undefined,
  cert: undefined,
  key: undefined,
  servername: undefined,
  rejectUnauthorized: true,
};

describe('ClusterAccess', () => {
  let clock: ManualClock;
  let logger: RecordingLogger;
  let ending: AbortController;
  let loads: PromiseWithResolvers<ClusterCredentials>[];
  let refusals: boolean[];
  let access: ClusterAccess;

  beforeEach(async () => {
    clock = new ManualClock();
    logger = new RecordingLogger();
    ending = new AbortController();
    loads = [];
    refusals = [];
    const load = (signal: AbortSignal, areRefused: boolean) => {
      refusals.push(areRefused);
      const loading = Promise.withResolvers<ClusterCredentials>();
      signal.addEventListener('abort', () => loading.reject(signal.reason));
      loads.push(loading);
      return loading.promise;
    };
    const source = { server: new URL('https://127.0.0.1'), proxy: undefined, load };
    const opening = ClusterAccess.open(source, { clock, logger, signal: ending.signal });
    loads[0]?.resolve({ tls: TLS, authorization: 'Bearer 1' });
    access = await opening;
    await clock.advance(10_000);
  });

  it('reads the source once for concurrent callers', async () => {
    const pending = [access.authorization(), access.authorization(), access.authorization()];
    expect(loads).to.have.length(2);
    loads[1]?.resolve({ tls: TLS, authorization: 'Bearer 2' });
    expect(await Promise.all(pending)).to.deep.equal(['Bearer 2', 'Bearer 2', 'Bearer 2']);
  });

  it('logs no failure of reads that the end of the program aborts, and starts no others', async () => {
    const pending = access.authorization();
    ending.abort(new Error('shutting down'));
    expect(await pending).to.equal('Bearer 1');
    await clock.advance(10_000);
    expect(await access.authorization()).to.equal('Bearer 1');
    expect(loads).to.have.length(2);
    expect(logger.lines).to.deep.equal([]);
  });

  it('reads a source that fails no more often than one that responds', async () => {
    const pending = access.authorization();
    loads[1]?.reject(new Error('the plugin failed'));
    expect(await pending).to.equal('Bearer 1');
    await clock.advance(9_999);
    expect(await access.authorization()).to.equal('Bearer 1');
    expect(loads).to.have.length(2);
    await clock.advance(1);
    const again = access.authorization();
    loads[2]?.resolve({ tls: TLS, authorization: 'Bearer 2' });
    expect(await again).to.equal('Bearer 2');
  });

  it('has credentials read at once that the API server refuses, and new ones that it refuses, too, no sooner than after 10 s', async () => {
    const reloading = access.authorization();
    loads[1]?.resolve({ tls: TLS, authorization: 'Bearer 2' });
    await reloading;
    access.refuse('Bearer 1'); // of a request that took long
    expect(await access.authorization()).to.equal('Bearer 2');
    access.refuse('Bearer 2');
    const replacing = access.authorization();
    expect(refusals).to.deep.equal([false, false, true]);
    loads[2]?.resolve({ tls: TLS, authorization: 'Bearer 3' });
    expect(await replacing).to.equal('Bearer 3');
    access.refuse('Bearer 3');
    await clock.advance(9_999);
    expect(await access.authorization()).to.equal('Bearer 3');
    await clock.advance(1);
    const again = access.authorization();
    expect(refusals).to.deep.equal([false, false, true, true]);
    loads[3]?.resolve({ tls: TLS, authorization: 'Bearer 4' });
    expect(await again).to.equal('Bearer 4');
    await clock.advance(10_000);
    const usual = access.authorization();
    expect(refusals.at(-1)).to.equal(false);
    loads[4]?.resolve({ tls: TLS, authorization: 'Bearer 4' });
    await usual;
  });

  it('fails with an error when a source takes longer than 10 s', async () => {
    const pending = access.authorization();
    await clock.advance(10_000);
    expect(await pending).to.equal('Bearer 1');
    expect(logger.lines.map(({ fields }) => fields.err)).to.deep.equal(['no credentials within 10s']);
  });
});

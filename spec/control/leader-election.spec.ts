import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { Registry } from 'prom-client';
import { addLeaderElectionSeries, LeaderElection } from '#lib/control/leader-election.ts';
import { ClusterAccess } from '#lib/kubernetes/access/cluster-access.ts';
import { ApiClient, type ApiRequest, type RequestOptions } from '#lib/kubernetes/client/api-client.ts';
import { seededFraction } from '#simulator/random.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';

const LEASE = { namespace: 'kube-system', name: 'autoscaler' };

describe('LeaderElection', () => {
  let stack: AsyncDisposableStack;
  let server: LoopbackServer;
  let candidates: Candidate[];
  let stored: { version: number; spec: Record<string, unknown> } | undefined;
  /** Candidates that cannot reach the server, with their pending requests. */
  let partitioned: Map<string, Set<ServerResponse>>;
  /** Whether another client always writes first. */
  let isContended: boolean;

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    candidates = [];
    stored = undefined;
    isContended = false;
    partitioned = new Map();
    server = stack.use(
      await LoopbackServer.start(({ method, headers, body }, response) => {
        const waiting = partitioned.get(headers['user-agent'] ?? '');
        if (waiting) return void waiting.add(response);
        const sent = body === '' ? undefined : JSON.parse(body);
        const refuse = (code: number, reason: string) => {
          response.writeHead(code);
          response.end(JSON.stringify({ kind: 'Status', code, reason, message: reason }));
        };
        if (method === 'POST') {
          if (stored) return refuse(409, 'AlreadyExists');
          stored = { version: 1, spec: sent.spec };
        }
        if (!stored) return refuse(404, 'NotFound');
        if (method === 'PUT') {
          if (isContended || sent.metadata.resourceVersion !== `${stored.version}`)
            return refuse(409, 'Conflict');
          stored = { version: stored.version + 1, spec: sent.spec };
        }
        const metadata = { ...LEASE, resourceVersion: `${stored.version}` };
        response.end(JSON.stringify({ kind: 'Lease', metadata, spec: stored.spec }));
      }),
    );
  });

  afterEach(async () => {
    for (const { identity } of candidates) heal(identity);
    for (const candidate of candidates) await candidate.end();
    for (const candidate of candidates) expect(candidate.clock.sleeperCount).to.equal(0);
    await stack.disposeAsync();
  });

  function cutOff(identity: string): void {
    if (!partitioned.has(identity)) partitioned.set(identity, new Set());
  }

  /** Lets its requests reach the server again; pending ones break. */
  function heal(identity: string): void {
    for (const response of partitioned.get(identity) ?? []) response.destroy();
    partitioned.delete(identity);
  }

  async function join(identity: string): Promise<Candidate> {
    const candidate = await Candidate.join(identity, server.url);
    stack.use(candidate);
    candidates.push(candidate);
    await settle();
    return candidate;
  }

  /** Advances the clocks of all candidates except suspended ones, and asserts at each step that at most one acts. */
  async function pass(durationMs: number, stalled: readonly Candidate[] = [], stepMs = 100): Promise<void> {
    for (let passedMs = 0; passedMs < durationMs; passedMs += stepMs) {
      for (const candidate of candidates) {
        if (stalled.includes(candidate)) candidate.missedMs += stepMs;
        else await candidate.clock.advance(stepMs);
      }
      await settle();
      const acting = candidates.filter((one) => !stalled.includes(one) && one.isActing);
      expect(acting.map(({ identity }) => identity)).to.have.length.at.most(1);
    }
  }

  /** Completes requests and their responses, except those that never complete. */
  async function settle(): Promise<void> {
    for (let quiet = 0; quiet < 5; quiet++) {
      for (const candidate of candidates) {
        await candidate.clock.advance(0);
        if (candidate.requests > 0 && !partitioned.has(candidate.identity)) quiet = 0;
      }
    }
  }

  const acting = () => candidates.filter(({ isActing }) => isActing).map(({ identity }) => identity);

  it('makes the first to come the leader, and writes the lease as Kubernetes does', async () => {
    await join('a');
    await join('b');
    await pass(60_000);
    expect(acting()).to.deep.equal(['a']);
    expect(candidates.map(({ election }) => election.holder)).to.deep.equal(['a', 'a']);
    expect(stored?.spec).to.include({ holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 0 });
    expect(stored?.spec.acquireTime).to.equal('2026-01-01T00:00:00.000000Z');
    expect(stored?.spec.renewTime).to.equal('2026-01-01T00:01:00.000000Z');
  });

  it('renews every two seconds', async () => {
    await join('a');
    await pass(1_900);
    expect(stored?.version).to.equal(1);
    await pass(20_100);
    expect(stored?.version).to.equal(12);
  });

  it('releases the lease once nothing acts, and the next candidate acquires it at its next attempt', async () => {
    const first = await join('a');
    await join('b');
    await pass(5_000);
    first.finishing = Promise.withResolvers();
    first.ending.abort(new Error('shutting down'));
    await pass(1_000);
    expect(stored?.spec.holderIdentity).to.equal('a');
    first.finishing.resolve();
    await settle();
    expect(stored?.spec.holderIdentity).to.equal('');
    await pass(4_400);
    expect(acting()).to.deep.equal(['b']);
    expect(stored?.spec.leaseTransitions).to.equal(1);
  });

  it('acquires an abandoned lease after its duration without a change, and not before', async () => {
    const first = await join('a');
    await join('b');
    await pass(4_000);
    await pass(14_900, [first]);
    expect(stored?.spec.holderIdentity).to.equal('a');
    await pass(5_000, [first]);
    expect(stored?.spec.holderIdentity).to.equal('b');
  });

  it('has one that was paused find that it does not lead before it can act', async () => {
    const first = await join('a');
    const second = await join('b');
    await pass(4_000);
    expect(first.isActing).to.equal(true);
    await pass(20_000, [first]);
    expect(second.isActing).to.equal(true);
    const resuming = first.clock.jump(first.missedMs);
    expect(first.election.isLeader).to.equal(false);
    expect(() => first.election.assertLeader()).to.throw('a does not hold the lease');
    await resuming;
    await pass(10_000);
    expect(acting()).to.deep.equal(['b']);
    expect(first.terms).to.equal(1);
  });

  it('stops a partitioned leader ten seconds after its last renewal, before another may begin', async () => {
    const first = await join('a');
    const second = await join('b');
    await pass(4_000);
    cutOff('a');
    await pass(9_800);
    expect(first.isActing).to.equal(true);
    await pass(300);
    expect(first.isActing).to.equal(false);
    expect(second.isActing).to.equal(false);
    await pass(10_000);
    expect(acting()).to.deep.equal(['b']);
  });

  it('counts the renew deadline from the start of a slow renewal', async () => {
    const first = await join('a');
    await join('b');
    await pass(3_900);
    let release = () => {};
    first.hold = new Promise((resolve) => {
      release = () => resolve();
    });
    await pass(8_000); // the renewal began at 4 s
    release();
    first.hold = undefined;
    await pass(100);
    cutOff('a');
    await pass(1_800);
    expect(first.isActing).to.equal(true);
    await pass(300);
    expect(first.isActing).to.equal(false);
  });

  it('stops at its next renewal when another client changed the holder', async () => {
    const first = await join('a');
    await pass(3_900);
    if (stored) stored = { version: stored.version + 1, spec: { ...stored.spec, holderIdentity: 'other' } };
    await pass(200);
    expect(first.isActing).to.equal(false);
    expect(first.election.holder).to.equal('other');
  });

  it('becomes a candidate again after it has lost the lease', async () => {
    const first = await join('a');
    const second = await join('b');
    await pass(4_000);
    cutOff('a');
    await pass(25_000);
    heal('a');
    await pass(15_000);
    expect(acting()).to.deep.equal(['b']);
    second.ending.abort(new Error('shutting down'));
    await pass(5_000);
    expect(acting()).to.deep.equal(['a']);
    expect(first.terms).to.equal(2);
    expect(first.reasons).to.deep.equal(['lease is lost']);
    const reported = first.logger.lines.map(({ message }) => message);
    expect(reported.slice(0, 2)).to.deep.equal(['Elected leader', 'Stopped leading']);
    expect(stored?.spec.leaseTransitions).to.equal(2);
    expect(second.reasons).to.deep.equal(['program is shutting down']);
  });

  it('elects one of two simultaneous candidates without a log line', async () => {
    const both = await Promise.all(['a', 'b'].map((identity) => Candidate.join(identity, server.url)));
    for (const candidate of both) candidates.push(stack.use(candidate));
    await pass(10_000);
    expect(acting()).to.have.length(1);
    expect(both.flatMap(({ logger }) => logger.lines.map(({ message }) => message))).to.deep.equal([
      'Elected leader',
    ]);
  });

  for (const [leaseDurationSeconds, takenAfterMs] of [
    [60, 60_000],
    [1, 15_000],
  ] as const) {
    it(`acquires a lease of ${leaseDurationSeconds} s with a silent holder after ${takenAfterMs / 1000} s`, async () => {
      const spec = { holderIdentity: 'other', leaseDurationSeconds };
      stored = { version: 1, spec };
      await join('a');
      await pass(takenAfterMs);
      expect(stored.spec).to.equal(spec);
      await pass(5_000);
      expect(acting()).to.deep.equal(['a']);
      expect(stored.spec).to.include({ leaseDurationSeconds: 15, leaseTransitions: 1 });
    });
  }

  it('ends without a log line if it never led', async () => {
    await join('a');
    const second = await join('b');
    await pass(3_000);
    second.ending.abort(new Error('shutting down'));
    await settle();
    expect(second.terms).to.equal(0);
    expect(second.logger.lines).to.deep.equal([]);
    expect(stored?.spec.holderIdentity).to.equal('a');
  });

  it('logs that it cannot release the lease while the API server is silent', async () => {
    const first = await join('a');
    await pass(1_000);
    cutOff('a');
    first.ending.abort(new Error('shutting down'));
    await pass(2_100);
    const [line, ...more] = first.logger.lines.slice(1);
    expect(line).to.include({ level: 'warning', message: 'Cannot release lease; it will expire' });
    expect(String(line?.fields.error)).to.match(/Error: .+/);
    expect(more).to.deep.equal([]);
  });

  it('does not release a lease that another has acquired meanwhile', async () => {
    const first = await join('a');
    await pass(1_000);
    isContended = true;
    first.ending.abort(new Error('shutting down'));
    await pass(1_000);
    expect(first.logger.lines.map(({ message }) => message)).to.deep.equal(['Elected leader']);
  });

  it('releases the lease when leading fails, and logs that', async () => {
    const first = await join('a');
    await pass(1_000);
    first.fail?.(new Error('broken'));
    await settle();
    expect(stored?.spec.holderIdentity).to.equal('');
    expect(first.logger.lines.at(-2)).to.deep.include({
      level: 'error',
      message: 'Work of the leader failed; releasing lease',
    });
    await pass(5_000);
    expect(first.terms).to.equal(2);
  });

  it('does not mind wall clocks, which may differ and be stepped', async () => {
    const first = await join('a');
    const second = await join('b');
    second.clock.stepWall(3_600_000);
    await pass(10_000);
    first.clock.stepWall(-3_600_000);
    await pass(10_000);
    expect(acting()).to.deep.equal(['a']);
  });

  it('has at most one acting leader, whichever process is paused, disconnected or stopped', async () => {
    let draw = 0;
    const random = () => seededFraction(7, draw++);
    for (const identity of ['a', 'b', 'c']) await join(identity);
    let terms = 0;
    for (let round = 0; round < 40; round++) {
      const still = candidates.filter(() => random() < 0.25);
      for (const { identity } of candidates) {
        if (random() < 0.25) cutOff(identity);
        else heal(identity);
      }
      await pass(500 * Math.ceil(random() * 50), still, 500);
      for (const candidate of still) await candidate.clock.jump(candidate.takeMissedMs());
      await settle();
      expect(acting()).to.have.length.at.most(1);
      terms = candidates.reduce((sum, one) => sum + one.terms, 0);
    }
    expect(terms).to.be.above(3);
  });

  it('refuses timings with which two might lead at once', async () => {
    await using one = await Candidate.join('x', server.url);
    const options = { ...one.options, leaseDurationMs: 10_000, renewDeadlineMs: 10_000 };
    expect(() => new LeaderElection(options)).to.throw(RangeError, 'the lease duration must exceed');
    expect(() => new LeaderElection({ ...one.options, renewDeadlineMs: 2_400 })).to.throw(RangeError);
    await one.end();
  });
});

/** A process that takes part in the election, with its own clock. */
class Candidate implements AsyncDisposable {
  readonly identity: string;
  readonly clock: ManualClock;
  readonly logger: RecordingLogger;
  readonly ending = new AbortController();
  readonly election: LeaderElection;
  readonly options: ConstructorParameters<typeof LeaderElection>[0];
  terms = 0;
  /** Reasons for the end of its terms. */
  readonly reasons: string[] = [];
  missedMs = 0;
  requests = 0;
  /** Delays the responses to this process. */
  hold: Promise<void> | undefined;
  /** Delays the end of leading. */
  finishing: PromiseWithResolvers<void> | undefined;
  fail: ((reason: Error) => void) | undefined;
  #isLeading = false;
  readonly #api: ApiClient;
  readonly #running: Promise<void>;

  private constructor(
    identity: string,
    access: ClusterAccess,
    { clock, logger }: Pick<Candidate, 'clock' | 'logger'>,
  ) {
    this.identity = identity;
    this.clock = clock;
    this.logger = logger;
    this.#api = new CountedClient(this, access);
    this.options = { api: this.#api, clock, logger, lease: LEASE, identity, random: () => 0.5 };
    this.election = new LeaderElection(this.options);
    this.#running = this.election.run((signal) => this.#lead(signal), this.ending.signal);
  }

  static async join(identity: string, url: URL): Promise<Candidate> {
    const [clock, logger] = [new ManualClock(), new RecordingLogger()];
    const tls = {
      ca: undefined,
      cert: undefined,
      key: undefined,
      servername: undefined,
      rejectUnauthorized: true,
    };
    const load = async () => ({ tls, authorization: undefined });
    const access = await ClusterAccess.open({ server: url, proxy: undefined, load }, { clock, logger });
    return new Candidate(identity, access, { clock, logger });
  }

  /** Whether it would write now. */
  get isActing(): boolean {
    return this.#isLeading && this.election.isLeader;
  }

  takeMissedMs(): number {
    const missedMs = this.missedMs;
    this.missedMs = 0;
    return missedMs;
  }

  async end(): Promise<void> {
    this.ending.abort(new Error('the spec is over'));
    this.finishing?.resolve();
    let isOver = false;
    void this.#running.then(() => {
      isOver = true;
    });
    while (!isOver) await this.clock.advance(100);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#api[Symbol.asyncDispose]();
  }

  async #lead(signal: AbortSignal): Promise<void> {
    this.terms++;
    this.#isLeading = true;
    await new Promise<void>((resolve, reject) => {
      this.fail = reject;
      signal.addEventListener('abort', () => {
        this.reasons.push(signal.reason.message);
        resolve();
      });
    }).finally(() => {
      this.#isLeading = false;
    });
    await this.finishing?.promise;
  }
}

/** Reports the number of its pending requests to a candidate. */
class CountedClient extends ApiClient {
  readonly #candidate: Candidate;

  constructor(candidate: Candidate, access: ClusterAccess) {
    super({ access, clock: candidate.clock, userAgent: candidate.identity });
    this.#candidate = candidate;
  }

  override getJson(path: string, options?: RequestOptions): Promise<unknown> {
    return this.#count(super.getJson(path, options));
  }

  override requestJson(request: ApiRequest, options?: RequestOptions): Promise<unknown> {
    return this.#count(super.requestJson(request, options));
  }

  async #count(response: Promise<unknown>): Promise<unknown> {
    this.#candidate.requests++;
    try {
      return await response;
    } finally {
      this.#candidate.requests--;
      await this.#candidate.hold;
    }
  }
}

describe('addLeaderElectionSeries', () => {
  it('reports at each scrape whether this process leads', async () => {
    const registry = new Registry();
    const election = { isLeader: false };
    addLeaderElectionSeries({ registry, name: 'autoscaler', election });
    expect(await registry.metrics()).to.contain('leader_election_master_status{name="autoscaler"} 0\n');
    election.isLeader = true;
    expect(await registry.metrics()).to.contain('leader_election_master_status{name="autoscaler"} 1\n');
  });
});

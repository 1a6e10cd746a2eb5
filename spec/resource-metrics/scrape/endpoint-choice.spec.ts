import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import {
  EndpointChoice,
  type EndpointPolicy,
  kubeletEndpoints,
} from '#lib/resource-metrics/scrape/endpoint-choice.ts';
import { KubeletStatusError } from '#lib/resource-metrics/scrape/kubelet/kubelet-error.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

const RECHECK_MS = 3_600_000;

const SUMMARY_PATH = '/stats/summary?only_cpu_and_memory=true';
const RESOURCE_PATH = '/metrics/resource';

/** A kubelet that responds with the given status to some paths, and successfully to others. */
function setup(policy: EndpointPolicy, statuses: Record<string, number> = {}) {
  const clock = new ManualClock();
  const choice = new EndpointChoice(policy, clock);
  const kubelet = { statuses };
  const request = async (name = 'a', resourceMetricsPath?: string) => {
    const requested: string[] = [];
    const response = await choice
      .request({ name, resourceMetricsPath }, async ({ path }) => {
        requested.push(path);
        const status = kubelet.statuses[path];
        if (status !== undefined) throw new KubeletStatusError(status, '');
        return 'responded';
      })
      .catch((error: Error) => error.message);
    return [...requested, response];
  };
  return { request, choice, clock, kubelet };
}

describe('EndpointChoice', () => {
  it('requests the summary by default', async () => {
    expect(await setup('auto').request()).to.deep.equal([SUMMARY_PATH, 'responded']);
  });

  for (const status of [403, 404]) {
    it(`falls back to /metrics/resource if the summary fails with ${status}, and remembers it`, async () => {
      const { request } = setup('auto', { [SUMMARY_PATH]: status });
      expect(await request()).to.deep.equal([SUMMARY_PATH, RESOURCE_PATH, 'responded']);
      expect(await request()).to.deep.equal([RESOURCE_PATH, 'responded']);
      expect(await request('b')).to.deep.equal([SUMMARY_PATH, RESOURCE_PATH, 'responded']);
    });
  }

  it('tries the summary again after an hour', async () => {
    const { request, clock, kubelet } = setup('auto', { [SUMMARY_PATH]: 403 });
    await request();
    kubelet.statuses = {};
    await clock.advance(RECHECK_MS - 1);
    expect(await request()).to.deep.equal([RESOURCE_PATH, 'responded']);
    await clock.advance(1);
    expect(await request()).to.deep.equal([SUMMARY_PATH, 'responded']);
  });

  it('does not remember a fallback that failed', async () => {
    const { request } = setup('auto', { [SUMMARY_PATH]: 403, [RESOURCE_PATH]: 403 });
    for (let cycle = 0; cycle < 2; cycle++) {
      expect(await request()).to.deep.equal([SUMMARY_PATH, RESOURCE_PATH, 'HTTP status 403']);
    }
  });

  for (const status of [401, 429, 500, 503]) {
    it(`does not fall back after status ${status}`, async () => {
      expect(await setup('auto', { [SUMMARY_PATH]: status }).request()).to.deep.equal([
        SUMMARY_PATH,
        `HTTP status ${status}`,
      ]);
    });
  }

  it('requests only the configured endpoint', async () => {
    expect(await setup('summary', { [SUMMARY_PATH]: 403 }).request()).to.deep.equal([
      SUMMARY_PATH,
      'HTTP status 403',
    ]);
    expect(await setup('resource').request()).to.deep.equal([RESOURCE_PATH, 'responded']);
  });

  it('requests the path that a node declares, unless only summaries are configured', async () => {
    expect(await setup('auto').request('a', '/virtual')).to.deep.equal(['/virtual', 'responded']);
    expect(await setup('resource').request('a', '/virtual')).to.deep.equal(['/virtual', 'responded']);
    expect(await setup('summary').request('a', '/virtual')).to.deep.equal([SUMMARY_PATH, 'responded']);
  });

  it('removes nodes that are gone', async () => {
    const { request, choice } = setup('auto', { [SUMMARY_PATH]: 404 });
    await request();
    choice.retain((nodeName) => nodeName === 'a');
    expect(await request()).to.deep.equal([RESOURCE_PATH, 'responded']);
    choice.retain(() => false);
    expect(await request()).to.deep.equal([SUMMARY_PATH, RESOURCE_PATH, 'responded']);
  });

  it('removes nodes that are gone from its endpoints', () => {
    const live: string[] = [];
    const { summary, resource } = kubeletEndpoints();
    const retain = (isLive: (nodeName: string) => boolean) =>
      void live.push(...['a', 'b'].filter((name) => isLive(name)));
    const choice = new EndpointChoice('auto', new ManualClock(), {
      summary,
      resource: { ...resource, retain },
    });
    choice.retain((nodeName) => nodeName === 'b');
    expect(live).to.deep.equal(['b']);
  });
});

const FIXTURES = new URL('../../fixtures/kubelet/series/', import.meta.url);
const TIMES = { requestedAtMs: 5, respondedAtMs: 6, receivedAtMs: 7 };
const ORIGIN = { nodeName: 'lab-node', ...TIMES, receivedAtWallMs: 9 };

describe('kubeletEndpoints', () => {
  it('requests the full summary only for storage', () => {
    const slim = '/stats/summary?only_cpu_and_memory=true';
    expect(kubeletEndpoints().summary.path).to.equal(slim);
    expect(kubeletEndpoints(new Set(['swap'])).summary.path).to.equal(slim);
    expect(kubeletEndpoints(new Set(['ephemeral-storage'])).summary.path).to.equal('/stats/summary');
    expect(kubeletEndpoints(new Set(['ephemeral-storage'])).resource.path).to.equal('/metrics/resource');
  });

  for (const [endpoint, files] of [
    ['summary', ['t0-summary.json', 't1-summary.json']],
    ['resource', ['t0-metrics-resource.txt', 't1-metrics-resource.txt']],
  ] as const) {
    it(`decodes ${endpoint} without retaining its buffer`, async () => {
      const { decode } = kubeletEndpoints(new Set(['swap', 'ephemeral-storage']))[endpoint];
      const bodies = await Promise.all(files.map((file) => readFile(new URL(file, FIXTURES))));
      const buffer = Buffer.alloc(Math.max(...bodies.map(({ length }) => length)));
      const responses = bodies.map((body) => {
        body.copy(buffer);
        return decode(buffer.subarray(0, body.length), ORIGIN);
      });
      buffer.fill('x');
      expect(responses).to.deep.equal(bodies.map((body) => decode(body, ORIGIN)));
      expect(responses[0]?.pods).not.to.deep.equal(responses[1]?.pods);
    });
  }
});

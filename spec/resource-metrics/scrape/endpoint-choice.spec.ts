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

/** A kubelet that responds to some paths and refuses others with a status. */
function setup(policy: EndpointPolicy, statuses: Record<string, number> = {}) {
  const clock = new ManualClock();
  const choice = new EndpointChoice(policy, clock);
  const kubelet = { statuses };
  const ask = async (name = 'a', resourceMetricsPath?: string) => {
    const asked: string[] = [];
    const response = await choice
      .ask({ name, resourceMetricsPath }, async ({ path }) => {
        asked.push(path);
        const status = kubelet.statuses[path];
        if (status !== undefined) throw new KubeletStatusError(status, '');
        return 'responded';
      })
      .catch((error: Error) => error.message);
    return [...asked, response];
  };
  return { ask, choice, clock, kubelet };
}

describe('EndpointChoice', () => {
  it('asks for the summary by default', async () => {
    expect(await setup('auto').ask()).to.deep.equal([SUMMARY_PATH, 'responded']);
  });

  for (const status of [403, 404]) {
    it(`asks for /metrics/resource when the summary is refused with ${status}, and remembers`, async () => {
      const { ask } = setup('auto', { [SUMMARY_PATH]: status });
      expect(await ask()).to.deep.equal([SUMMARY_PATH, RESOURCE_PATH, 'responded']);
      expect(await ask()).to.deep.equal([RESOURCE_PATH, 'responded']);
      expect(await ask('b')).to.deep.equal([SUMMARY_PATH, RESOURCE_PATH, 'responded']);
    });
  }

  it('asks for the summary again after an hour', async () => {
    const { ask, clock, kubelet } = setup('auto', { [SUMMARY_PATH]: 403 });
    await ask();
    kubelet.statuses = {};
    await clock.advance(RECHECK_MS - 1);
    expect(await ask()).to.deep.equal([RESOURCE_PATH, 'responded']);
    await clock.advance(1);
    expect(await ask()).to.deep.equal([SUMMARY_PATH, 'responded']);
  });

  it('does not remember what did not help', async () => {
    const { ask } = setup('auto', { [SUMMARY_PATH]: 403, [RESOURCE_PATH]: 403 });
    for (let cycle = 0; cycle < 2; cycle++) {
      expect(await ask()).to.deep.equal([SUMMARY_PATH, RESOURCE_PATH, 'HTTP status 403']);
    }
  });

  for (const status of [401, 429, 500, 503]) {
    it(`does not take ${status} for a word on the endpoint`, async () => {
      expect(await setup('auto', { [SUMMARY_PATH]: status }).ask()).to.deep.equal([
        SUMMARY_PATH,
        `HTTP status ${status}`,
      ]);
    });
  }

  it('asks only what it is told to', async () => {
    expect(await setup('summary', { [SUMMARY_PATH]: 403 }).ask()).to.deep.equal([
      SUMMARY_PATH,
      'HTTP status 403',
    ]);
    expect(await setup('resource').ask()).to.deep.equal([RESOURCE_PATH, 'responded']);
  });

  it('asks a node that names a path of its own for resources there, unless told to ask for summaries', async () => {
    expect(await setup('auto').ask('a', '/virtual')).to.deep.equal(['/virtual', 'responded']);
    expect(await setup('resource').ask('a', '/virtual')).to.deep.equal(['/virtual', 'responded']);
    expect(await setup('summary').ask('a', '/virtual')).to.deep.equal([SUMMARY_PATH, 'responded']);
  });

  it('forgets nodes that are gone', async () => {
    const { ask, choice } = setup('auto', { [SUMMARY_PATH]: 404 });
    await ask();
    choice.retain((nodeName) => nodeName === 'a');
    expect(await ask()).to.deep.equal([RESOURCE_PATH, 'responded']);
    choice.retain(() => false);
    expect(await ask()).to.deep.equal([SUMMARY_PATH, RESOURCE_PATH, 'responded']);
  });

  it('has its endpoints forget them, too', () => {
    const asked: string[] = [];
    const { summary, resource } = kubeletEndpoints();
    const retain = (isLive: (nodeName: string) => boolean) =>
      void asked.push(...['a', 'b'].filter((name) => isLive(name)));
    const choice = new EndpointChoice('auto', new ManualClock(), {
      summary,
      resource: { ...resource, retain },
    });
    choice.retain((nodeName) => nodeName === 'b');
    expect(asked).to.deep.equal(['b']);
  });
});

const FIXTURES = new URL('../../fixtures/kubelet/series/', import.meta.url);
const ORIGIN = { nodeName: 'lab-node', requestedAtMs: 5, receivedAtMs: 7, receivedAtWallMs: 9 };

describe('kubeletEndpoints', () => {
  it('asks for the full summary only for the sake of storage', () => {
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
    it(`reads what ${endpoint} responds so that its buffer can be used for the next response`, async () => {
      const { decode } = kubeletEndpoints(new Set(['swap', 'ephemeral-storage']))[endpoint];
      const bodies = await Promise.all(files.map((file) => readFile(new URL(file, FIXTURES))));
      const place = Buffer.alloc(Math.max(...bodies.map(({ length }) => length)));
      const responses = bodies.map((body) => {
        body.copy(place);
        return decode(place.subarray(0, body.length), ORIGIN);
      });
      place.fill('x');
      expect(responses).to.deep.equal(bodies.map((body) => decode(body, ORIGIN)));
      expect(responses[0]?.pods).not.to.deep.equal(responses[1]?.pods);
    });
  }
});

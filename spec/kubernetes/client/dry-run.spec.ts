import { expect } from 'chai';
import { DryRun } from '#lib/kubernetes/client/dry-run.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';

const PODS = '/api/v1/namespaces/default/pods';
const WEB = '/apis/apps/v1/namespaces/default/deployments/web';

describe('DryRun', () => {
  const setUp = (stored: Readonly<Record<string, unknown>> = {}) => {
    const logger = new RecordingLogger();
    const dryRun = new DryRun({ clock: new ManualClock(), logger });
    const get = async (path: string) => stored[path] ?? Promise.reject(new Error('forbidden'));
    const lines = (verbosity = 0) =>
      logger.lines.filter((one) => one.verbosity === verbosity).map((one) => one.message);
    return { dryRun, get, lines };
  };

  for (const [method, path, isWrite] of [
    ['GET', WEB, false],
    ['POST', '/apis/authentication.k8s.io/v1/tokenreviews', false],
    ['POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', false],
    ['POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews?x=y', false],
    ['POST', '/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews', false],
    ['POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews/x', true],
    ['POST', '/apis/authorization.example.com/v1/subjectaccessreviews', true],
    ['POST', PODS, true],
    ['POST', `${PODS}?dryRun=All`, true],
    ['PUT', `${WEB}/scale`, true],
    ['PATCH', WEB, true],
    ['DELETE', WEB, true],
  ] as const) {
    it(`classifies ${method} ${path} as ${isWrite ? 'a write' : 'a read'}`, () => {
      expect(DryRun.isWrite({ method, path })).to.equal(isWrite);
    });
  }

  it('responds to a patch with the object as it would be', async () => {
    const stored = {
      [WEB]: { metadata: { name: 'web', labels: { a: '1', b: '2' } }, spec: { replicas: 1 } },
    };
    const { dryRun, get } = setUp(stored);
    const body = { metadata: { labels: { a: null, c: '3' } } };
    const merge = { method: 'PATCH', path: WEB, body, contentType: 'application/merge-patch+json' } as const;
    expect(await dryRun.respond(merge, get)).to.deep.equal({
      metadata: { name: 'web', labels: { b: '2', c: '3' } },
      spec: { replicas: 1 },
    });
    const status = { conditions: [] };
    const apply = { method: 'PATCH', contentType: 'application/apply-patch+yaml' } as const;
    const applied = {
      ...apply,
      path: `${WEB}/status?force=true`,
      body: { metadata: { name: 'web' }, status },
    };
    expect(await dryRun.respond(applied, get)).to.deep.equal({ ...stored[WEB], status });
  });

  it('responds with the change alone where the object cannot be read, and to POST, PUT and DELETE as if they were done', async () => {
    const { dryRun, get } = setUp();
    const patch = { method: 'PATCH', path: WEB, body: { spec: { replicas: 3 } } } as const;
    expect(await dryRun.respond(patch, get)).to.deep.equal({
      metadata: { name: 'web', namespace: 'default' },
      spec: { replicas: 3 },
    });
    const post = { method: 'POST', path: PODS, body: { metadata: { generateName: 'a-' } } } as const;
    expect(await dryRun.respond(post, get)).to.deep.equal({
      metadata: { generateName: 'a-', name: 'a-dry-run', creationTimestamp: '2026-01-01T00:00:00.000Z' },
    });
    const put = { method: 'PUT', path: `${WEB}/scale`, body: { spec: { replicas: 3 } } } as const;
    expect(await dryRun.respond(put, get)).to.deep.equal(put.body);
    expect(await dryRun.respond({ method: 'DELETE', path: WEB }, get)).to.include({ status: 'Success' });
  });

  it('returns no tokens', async () => {
    const { dryRun, get } = setUp();
    const path = '/api/v1/namespaces/default/serviceaccounts/shop/token';
    const failure = await dryRun
      .respond({ method: 'POST', path, body: {} }, get)
      .catch((error: Error) => error.message);
    expect(failure).to.equal(`Cannot post ${path}: a dry run requests no tokens`);
  });

  it('logs what would be done once, statuses and scales at a higher verbosity', async () => {
    const { dryRun, get, lines } = setUp();
    for (let time = 0; time < 3; time++) {
      await dryRun.respond({ method: 'DELETE', path: WEB }, get);
      await dryRun.respond({ method: 'PUT', path: `${WEB}/scale`, body: {} }, get);
      await dryRun.respond({ method: 'PATCH', path: `${WEB}/status?force=true`, body: {} }, get);
    }
    expect(lines()).to.deep.equal([`Would delete ${WEB}`]);
    expect(lines(4)).to.deep.equal([`Would put ${WEB}/scale`, `Would patch ${WEB}/status`]);
    for (const message of ['a', 'a', 'b', 'b', 'a']) dryRun.report('key', message);
    expect(lines().slice(1)).to.deep.equal(['a', 'b', 'a']);
  });
});

import { expect } from 'chai';
import { type Check, type Finding, failedBy, ok } from '#lib/doctor/check.ts';
import { ClusterContext, MissingPermission } from '#lib/doctor/cluster-context.ts';
import { type CheckResult, examine, runChecks } from '#lib/doctor/doctor.ts';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';

const failed = failedBy({ broken: { title: 'It is broken', remedy: 'Mend it.' } });

const check = (name: string, run: () => readonly Finding[]): Check => ({
  name,
  title: name,
  run: async () => run(),
});

describe('runChecks', () => {
  it('continues after a check that fails or throws, and reports what it throws', async () => {
    const { results, isSound } = await run([
      check('first', () => [ok('a', 'is there')]),
      check('second', () => [failed('b', 'is broken', { diagnosis: 'broken' })]),
      check('third', () => {
        throw new MissingPermission('list pods', new Error('forbidden'));
      }),
      check('fourth', () => {
        throw new Error('the line went dead');
      }),
    ]);
    expect(isSound).to.equal(false);
    expect(results.map(({ name }) => name)).to.deep.equal(['first', 'second', 'third', 'fourth']);
    expect(results[2]?.findings).to.deep.equal([
      {
        status: 'unchecked',
        subject: 'third',
        seen: 'the permission to list pods is missing',
        missingPermission: 'list pods',
      },
    ]);
    expect(results[3]?.findings).to.deep.equal([
      { status: 'unchecked', subject: 'fourth', seen: 'the line went dead' },
    ]);
  });

  it('stops if the first check fails', async () => {
    const { results, isSound } = await run([
      check('first', () => [failed('a', 'is broken', { diagnosis: 'broken' })]),
      check('second', () => [ok('b', 'is there')]),
    ]);
    expect([results.length, isSound]).to.deep.equal([1, false]);
  });

  it('does not count a check that cannot run as a failure', async () => {
    const { isSound } = await run([
      check('first', () => {
        throw new Error('the line went dead');
      }),
      check('second', () => [ok('b', 'is there')]),
    ]);
    expect(isSound).to.equal(true);
  });
});

describe('examine', () => {
  const sound = check('first', () => [ok('a', 'is there')]);
  const broken = check('second', () => [failed('b', 'is broken', { diagnosis: 'broken' })]);

  it('prints each check, and ends with a summary of them', async () => {
    const { text, isSound } = await print([sound, broken], 'text');
    expect(isSound).to.equal(false);
    expect(text).to.equal(
      [
        ...['first', '  ✓ a: is there', ''],
        ...['second', '  ✗ b: It is broken: is broken', '      remedy: Mend it.', ''],
        '1 of 2 checks failed: b',
        '',
      ].join('\n'),
    );
    expect((await print([sound, sound], 'text')).text).to.match(/\n\n2 checks passed\n$/);
  });

  it('counts the checks that did not run in the summary', async () => {
    const { text } = await print([broken, sound, sound], 'text');
    expect(text).to.match(/\n\n1 of 3 checks failed; 2 did not run: b\n$/);
  });

  it('prints one JSON document without a summary', async () => {
    const { text } = await print([sound, broken], 'json');
    const { ok: isSound, checks } = JSON.parse(text) as { ok: boolean; checks: readonly CheckResult[] };
    expect(isSound).to.equal(false);
    expect(checks.map(({ name, findings }) => [name, findings[0]?.status])).to.deep.equal([
      ['first', 'ok'],
      ['second', 'failed'],
    ]);
  });
});

async function run(checks: readonly Check[]) {
  return await inCluster(async (context) => {
    const results: CheckResult[] = [];
    const isSound = await runChecks(checks, context, (result) => void results.push(result));
    return { results, isSound };
  });
}

async function print(checks: readonly Check[], output: 'text' | 'json') {
  return await inCluster(async (context) => {
    let text = '';
    const isSound = await examine(checks, context, {
      output,
      write: (lines) => {
        text += lines;
      },
    });
    return { text, isSound };
  });
}

async function inCluster<T>(act: (context: ClusterContext) => Promise<T>): Promise<T> {
  await using server = await startSimulatedApiServer();
  const { clock } = server;
  const access = await server.access();
  await using client = new ApiClient({ access, clock, userAgent: 'spec' });
  const { signal } = new AbortController();
  return await act(new ClusterContext({ access, client, clock, signal, serverAccount: undefined }));
}

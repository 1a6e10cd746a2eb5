import { expect } from 'chai';
import { groupPods } from '#lib/hpa/proposals/group-pods.ts';
import type { ScaledPod } from '#lib/kubernetes/objects/pod.ts';
import { builtPod, builtSamples, NOW_MS } from '../built-world.ts';

const ago = (seconds: number) => NOW_MS - seconds * 1000;
const TIMES = { nowMs: NOW_MS, cpuInitializationPeriodMs: 300_000, initialReadinessDelayMs: 30_000 };

/** In which group one pod is whose sample, of the 30 s that ended 20 s ago, exists. */
function groupOf(pod: Partial<ScaledPod>, resource: string | undefined = 'cpu'): string {
  const { readyCount, ...groups } = groupPods([builtPod('a', pod)], builtSamples({ a: 1 }), {
    resource,
    times: TIMES,
  });
  const [group] = Object.entries(groups).find(([, names]) => names.length > 0) ?? ['ready'];
  expect(readyCount).to.equal(group === 'ready' ? 1 : 0);
  return group;
}

describe('groupPods', () => {
  it('ignores what is deleted or failed, even if it is pending or has no sample', () => {
    expect(groupOf({ isDeleting: true, phase: 'Pending' })).to.equal('ignored');
    expect(groupOf({ phase: 'Failed' })).to.equal('ignored');
  });

  it('takes pending pods for unready whatever the resource', () => {
    expect(groupOf({ phase: 'Pending' })).to.equal('unready');
    expect(groupOf({ phase: 'Pending' }, undefined)).to.equal('unready');
  });

  it('misses pods without a sample', () => {
    const pods = ['a', 'b'].map((name) => builtPod(name));
    expect(groupPods(pods, builtSamples({ b: 1 }), { resource: 'cpu', times: TIMES })).to.deep.equal({
      ...{ readyCount: 1, unready: [], missing: ['a'], ignored: [] },
    });
  });

  it('counts pods that have run and been ready for long, and succeeded ones', () => {
    expect(groupOf({})).to.equal('ready');
    expect(groupOf({ phase: 'Succeeded' })).to.equal('ready');
  });

  it('asks for readiness only of CPU', () => {
    const young = { startedAtMs: ago(10), ready: { status: 'False', changedAtMs: ago(5) } };
    expect(groupOf(young)).to.equal('unready');
    expect(groupOf(young, 'memory')).to.equal('ready');
    expect(groupOf({ ready: undefined })).to.equal('unready');
    expect(groupOf({ startedAtMs: undefined })).to.equal('unready');
  });

  it('wants a whole window since readiness changed while a pod may initialize', () => {
    const since = (seconds: number) => ({
      startedAtMs: ago(299),
      ready: { status: 'True', changedAtMs: ago(seconds) },
    });
    expect(groupOf(since(49))).to.equal('unready');
    expect(groupOf(since(50))).to.equal('ready');
    expect(groupOf({ ...since(49), startedAtMs: ago(300) })).to.equal('ready');
  });

  it('later leaves out only what has never been ready', () => {
    const since = (seconds: number) => ({
      startedAtMs: ago(1000),
      ready: { status: 'False', changedAtMs: ago(seconds) },
    });
    expect(groupOf(since(971))).to.equal('unready');
    expect(groupOf(since(970))).to.equal('ready');
    expect(groupOf({ ...since(971), ready: { status: 'Unknown', changedAtMs: ago(971) } })).to.equal('ready');
  });

  it('takes what a sample says of time for what it is, be it in the future, long ago or backwards', () => {
    const grouped = (takenAtMs: number, windowMs: number, pod: Partial<ScaledPod>) => {
      const samples = new Map([['a', { thousandths: 1n, takenAtMs, windowMs }]]);
      const { readyCount, ...groups } = groupPods([builtPod('a', pod)], samples, {
        resource: 'cpu',
        times: TIMES,
      });
      const count = Object.values(groups).reduce((sum, names) => sum + names.length, readyCount);
      expect(count, 'in one group').to.equal(1);
      return readyCount === 1;
    };
    const young = { startedAtMs: ago(60), ready: { status: 'True', changedAtMs: ago(50) } };
    const old = { startedAtMs: ago(3600), ready: { status: 'True', changedAtMs: ago(3500) } };
    const [earliest, latest] = [Date.parse('0001-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59Z')];
    const whole = [earliest, ago(3600), NOW_MS, NOW_MS + 3_600_000, latest];
    // One that is no longer initializing counts, whatever its sample claims; a young one where a window fits in.
    expect(whole.map((takenAtMs) => grouped(takenAtMs, 30_000, old))).to.deep.equal(whole.map(() => true));
    expect(whole.map((takenAtMs) => grouped(takenAtMs, 30_000, young))).to.deep.equal([
      false,
      false,
      true,
      true,
      true,
    ]);
    expect(grouped(NOW_MS, 86_400_000_000, young), 'a window of years').to.equal(false);
    expect(grouped(ago(55), -30_000, young), 'a window that runs backwards').to.equal(true);
  });
});

import { expect } from 'chai';
import { groupPods } from '#lib/hpa/metrics/group-pods.ts';
import type { ScaledPod } from '#lib/hpa/objects/scaled-pod.ts';
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
});

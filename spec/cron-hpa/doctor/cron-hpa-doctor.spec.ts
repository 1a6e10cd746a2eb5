import { expect } from 'chai';
import { readCronHpa } from '#lib/cron-hpa/cron-hpa.ts';
import { cronHpaDoctor } from '#lib/cron-hpa/doctor/cron-hpa-doctor.ts';
import type { Finding } from '#lib/doctor/check.ts';
import { ALIBABA_DEFINITION } from '#spec/support/alibaba-definition.ts';
import { cronHpa as cronHpaObject, planAt } from '#spec/support/cron-hpas.ts';
import { readDefinition } from '#spec/support/definition-file.ts';
import {
  created,
  EXAMINED_AT,
  examineAutoscaler,
  startExaminedAutoscaler,
} from '#spec/support/examined-autoscaler.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { createScaledObject } from '#spec/support/scaled-object-owner.ts';
import { type SimulatedApiServer, startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';

const CRON_HPAS = '/apis/autoscaling.stke.com/v1beta1/namespaces/default/cronhorizontalpodautoscalers';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const HPAS = '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers';
const DAILY = { name: 'up', schedule: '0 30 8 * * *', targetSize: 3 };

describe('cronHpaDoctor', () => {
  let server: SimulatedApiServer;

  beforeEach(async () => {
    server = await startExaminedAutoscaler();
  });

  afterEach(() => server[Symbol.asyncDispose]());

  it('reports when a job is next due, and what it scales', async () => {
    await deployment('web', 2);
    await cronHpa('web', [DAILY]);
    const { isSound, findings } = await examineAutoscaler(server);
    expect(isSound).to.equal(true);
    expect(findings).to.deep.include.members([
      { status: 'ok', subject: 'cronhpa default/web job "up"', seen: 'next due 2026-07-15 08:30:00 UTC' },
      {
        status: 'ok',
        subject: 'cronhpa default/web',
        seen: 'scales Deployment "web", spec.replicas 2',
      },
      { status: 'note', subject: 'cronhpa default/web', seen: 'was created less than a minute ago' },
    ]);
  });

  it('examines objects of kubernetes-cronhpa-controller if the flag enables them', async () => {
    const flag = '--alibaba-cron-hpas';
    const subject = 'cronhorizontalpodautoscalers.autoscaling.alibabacloud.com';
    const version = 'autoscaling.alibabacloud.com/v1beta1';
    expect((await examineAutoscaler(server, [flag])).findings).to.deep.include({
      ...{ status: 'note', subject, seen: `the API server does not serve ${version}` },
    });
    await created(server, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', ALIBABA_DEFINITION);
    await deployment('web', 2);
    await created(server, CRON_HPAS.replace('stke.com', 'alibabacloud.com'), {
      ...{ apiVersion: version, kind: 'CronHorizontalPodAutoscaler', metadata: { name: 'web' } },
      spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, jobs: [DAILY] },
    });
    const { findings } = await examineAutoscaler(server, [flag]);
    expect(findings).to.deep.include.members([
      { status: 'ok', subject, seen: `served as ${version}` },
      { status: 'ok', subject: 'cronhpa default/web', seen: 'scales Deployment "web", spec.replicas 2' },
    ]);
    await cronHpa('web', [DAILY]);
    const contended = (await examineAutoscaler(server, [flag])).findings.flatMap((one) =>
      one.status === 'failed' && one.diagnosis === 'cronhpa-target-contended' ? [one.seen] : [],
    );
    expect(contended).to.have.members([
      'cronhpa.autoscaling.alibabacloud.com "web" also scales Deployment "web"',
      'cronhpa.autoscaling.stke.com "web" also scales Deployment "web"',
    ]);
    await server.client.delete(`${CRON_HPAS}/web`);
    const without = (await examineAutoscaler(server)).findings.map((one) => one.subject);
    expect(without).not.to.include(subject).and.not.to.include('cronhpa default/web');
  });

  it('reports whether the API server serves Cron-HPAs with a status', async () => {
    const crd = readDefinition('cron-horizontal-pod-autoscaler');
    const subject = 'cronhorizontalpodautoscalers.autoscaling.stke.com';
    const foundWith = async (...definitions: readonly (typeof crd)[]) => {
      const clock = new ManualClock(Date.parse(EXAMINED_AT));
      await using other = await startSimulatedApiServer({ clock, definitions });
      const { findings } = await examineAutoscaler(other, ['--leader-elect=false']);
      return findings
        .filter((one) => one.subject === subject)
        .map((one) => [one.seen, one.status === 'failed' && one.diagnosis]);
    };
    const version = 'autoscaling.stke.com/v1beta1';
    expect(await foundWith(crd)).to.deep.equal([[`served as ${version}`, false]]);
    expect(await foundWith()).to.deep.equal([
      [`the API server does not serve ${version}`, 'cronhpa-definition-missing'],
    ]);
    const versions = crd.spec.versions.map(({ subresources: _, ...one }: { subresources?: object }) => one);
    expect(await foundWith({ ...crd, spec: { ...crd.spec, versions } })).to.deep.equal([
      [`${version} has no status subresource`, 'cronhpa-definition-differs'],
    ]);
  });

  it('reports jobs that are never due, with the cause', async () => {
    await deployment('web', 2);
    await cronHpa('web', [
      { name: 'text', schedule: 'at dawn', targetSize: 1 },
      { name: 'zone', schedule: '@daily', targetSize: 1, timeZone: 'Mars/Olympus' },
      { name: 'february', schedule: '0 0 0 30 2 *', targetSize: 1 },
      { name: 'excluded', schedule: '@daily', targetSize: 1, excludeDates: ['* * *'] },
      { name: 'resting', schedule: '@daily', targetSize: 1, suspend: true },
    ]);
    const { findings, diagnoses } = await examineAutoscaler(server);
    expect(diagnoses).to.deep.equal([
      ...['cronhpa-schedule-invalid', 'cronhpa-schedule-invalid'],
      ...['cronhpa-job-never-due', 'cronhpa-job-never-due'],
    ]);
    expect(of(findings, 'job "text"')).to.include({
      seen: 'Cannot read schedule "at dawn": must have 6 fields, or 5 without seconds, not 2',
    });
    expect(of(findings, 'job "text"'))
      .to.have.property('remedy')
      .which.includes('kubectl -n default edit cronhpa web');
    expect(of(findings, 'job "zone"').seen).to.include('Mars/Olympus');
    expect(of(findings, 'job "february"').seen).to.equal('not due within the next five years');
    expect(of(findings, 'job "resting"')).to.include({
      ...{ status: 'note', seen: 'suspended (suspend)' },
    });
  });

  it('reports two jobs with one name, and a job that has completed', async () => {
    await using other = await startWithAnySchema(); // our definition rejects duplicate names
    for (const [name, jobs] of [
      ['web', [DAILY, { ...DAILY, targetSize: 1 }]],
      ['api', [{ ...DAILY, runOnce: true }]],
    ] as const)
      await created(other, CRON_HPAS, {
        ...{ apiVersion: 'autoscaling.stke.com/v1beta1', kind: 'CronHorizontalPodAutoscaler' },
        ...{ metadata: { name }, spec: { scaleTargetRef: deploymentRef(name), jobs } },
      });
    const { body } = await other.client.get(`${CRON_HPAS}/api`);
    const [planned] = planAt(readCronHpa(body) ?? cronHpaObject(), EXAMINED_AT);
    const times = { lastProbeTime: '2026-07-14T08:30:00Z', submittedTime: '2026-07-14T08:00:00Z' };
    const condition = {
      ...{ ...times, jobId: '1', name: 'up', schedule: DAILY.schedule, specHash: planned?.specHash },
      ...{ state: 'Succeed', message: 'done', lastActivationTime: '2026-07-14T08:30:00Z' },
    };
    await other.client.patch(`${CRON_HPAS}/api/status`, 'merge', {
      status: { observedGeneration: 1, conditions: [condition] },
    });
    const { findings } = await examineAutoscaler(other, ['--leader-elect=false']);
    const found = findings.filter(({ subject }) => subject.includes(' job '));
    expect(found.map((one) => [one.subject, one.seen, 'diagnosis' in one && one.diagnosis])).to.deep.equal([
      ['cronhpa default/api job "up"', 'completed (runOnce)', false],
      ['cronhpa default/web job "up"', 'next due 2026-07-15 08:30:00 UTC', false],
      ['cronhpa default/web job "up"', 'another job has the same name', 'cronhpa-job-repeated'],
    ]);
  });

  it('has a heading for each check', async () => {
    const { checks } = await examineAutoscaler(server);
    const own = checks.filter(({ name }) => name.startsWith('cronhpa-'));
    expect(own.map(({ name, title }) => [name, title])).to.deep.equal([
      ['cronhpa-definition', 'Definition of CronHorizontalPodAutoscalers'],
      ['cronhpa-jobs', 'Jobs of CronHorizontalPodAutoscalers'],
      ['cronhpa-targets', 'Targets of CronHorizontalPodAutoscalers'],
      ['cronhpa-ownership', 'Conflicts of CronHorizontalPodAutoscalers'],
      ['cronhpa-activations', 'Activations of CronHorizontalPodAutoscalers'],
    ]);
  });

  it('requires the permissions of the controller', () => {
    const { permissions } = cronHpaDoctor({ timeZone: 'UTC', namespace: undefined });
    expect(permissions).to.deep.equal([
      { verb: 'get', group: 'autoscaling.stke.com', resource: 'cronhorizontalpodautoscalers' },
      { verb: 'list', group: 'autoscaling.stke.com', resource: 'cronhorizontalpodautoscalers' },
      { verb: 'watch', group: 'autoscaling.stke.com', resource: 'cronhorizontalpodautoscalers' },
      { verb: 'patch', group: 'autoscaling.stke.com', resource: 'cronhorizontalpodautoscalers/status' },
      { verb: 'get', group: 'autoscaling', resource: 'horizontalpodautoscalers' },
      { verb: 'list', group: 'autoscaling', resource: 'horizontalpodautoscalers' },
      { verb: 'watch', group: 'autoscaling', resource: 'horizontalpodautoscalers' },
      { verb: 'patch', group: 'autoscaling', resource: 'horizontalpodautoscalers' },
    ]);
  });

  it('reports a malformed object, and examines the others', async () => {
    await using other = await startWithAnySchema();
    const make = (name: string, spec: object) =>
      created(other, CRON_HPAS, {
        ...{ apiVersion: 'autoscaling.stke.com/v1beta1', kind: 'CronHorizontalPodAutoscaler' },
        ...{ metadata: { name }, spec },
      });
    await make('odd', { scaleTargetRef: 'web' });
    await make('web', { scaleTargetRef: deploymentRef('web'), jobs: [DAILY] });
    const { checks, findings } = await examineAutoscaler(other, ['--leader-elect=false']);
    expect(findings.filter((one) => one.subject === 'cronhpa default/odd')).to.have.length(1);
    const odd = of(findings, 'default/odd');
    expect(odd).to.include({ status: 'failed', diagnosis: 'cronhpa-unreadable' });
    expect(odd.seen).to.equal('spec.scaleTargetRef is not of type object');
    expect(odd).to.have.property('remedy').which.includes('default').and.includes('odd');
    expect(of(findings, 'web job "up"')).to.include({ status: 'ok' });
    expect(findings).to.deep.include({
      status: 'note',
      subject: 'cronhpa default/web',
      seen: 'was created less than a minute ago',
    });
    expect(checks.map(({ name }) => name).filter((name) => name.startsWith('cronhpa'))).to.include.members([
      ...['cronhpa-definition', 'cronhpa-jobs', 'cronhpa-activations'],
    ]);
  });

  it('reports why targets cannot be scaled', async () => {
    const target = (apiVersion: string, kind: string, name: string) => ({
      spec: { scaleTargetRef: { apiVersion, kind, name } },
    });
    await cronHpa('gone', [DAILY]);
    await cronHpa('unknown', [DAILY], target('shop.example/v1', 'Till', 'one'));
    await cronHpa('unscalable', [DAILY], target('v1', 'ConfigMap', 'one'));
    const account = 'system:serviceaccount:kube-system:autoscaler';
    server.cluster.rbac.grant({
      name: 'autoscaler-scale',
      role: 'autoscaler-scale',
      users: [account],
      rules: [{ verbs: ['get', 'update'], apiGroups: ['apps'], resources: ['deployments/scale'] }],
    });
    const { findings: all } = await examineAutoscaler(server, [`--server-account=${account}`]);
    const findings = all.filter(({ subject }) => subject.startsWith('cronhpa '));
    const diagnoses = findings.flatMap((one) => (one.status === 'failed' ? [one.diagnosis] : []));
    expect(diagnoses).to.deep.equal([
      ...['cronhpa-target-missing', 'cronhpa-target-kind-unknown', 'cronhpa-target-not-scalable'],
    ]);
    expect(findings.filter(({ status }) => status === 'failed').map(({ seen }) => seen)).to.deep.equal([
      'deployments.apps "gone" not found in namespace default',
      'Cannot scale shop.example/v1 Till default/one: the API server does not serve its kind',
      'Cannot scale v1 ConfigMap default/one: configmaps have no scale subresource',
    ]);
  });

  it('reports a missing permission to scale, with the rule to add', async () => {
    await deployment('web', 2);
    await cronHpa('web', [DAILY]);
    const account = 'system:serviceaccount:kube-system:autoscaler';
    server.cluster.rbac.grant({
      name: 'autoscaler-scale',
      role: 'autoscaler-scale',
      users: [account],
      rules: [{ verbs: ['get'], apiGroups: ['apps'], resources: ['deployments/scale'] }],
    });
    const { findings } = await examineAutoscaler(server, [`--server-account=${account}`]);
    const forbidden = findings.find(
      (finding) => finding.status === 'failed' && finding.diagnosis === 'cronhpa-target-forbidden',
    );
    expect(forbidden).to.include({
      subject: 'cronhpa default/web',
      seen: 'Deployment "web": update of deployments/scale is not granted',
    });
    expect(forbidden).to.have.property('remedy').which.includes('apiGroup "apps", resource deployments.');
    server.cluster.rbac.grant({
      name: 'autoscaler-scale',
      role: 'autoscaler-scale',
      users: [account],
      namespace: 'default',
      rules: [{ verbs: ['get', 'update'], apiGroups: ['apps'], resources: ['deployments/scale'] }],
    });
    const { diagnoses } = await examineAutoscaler(server, [`--server-account=${account}`]);
    expect(diagnoses).not.to.include('cronhpa-target-forbidden');
  });

  it('examines the target of the HPA, also when the object names the HPA', async () => {
    await deployment('web', 2);
    await hpa('web');
    await hpa('gone');
    const named = (name: string) => ({
      spec: { scaleTargetRef: { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', name } },
    });
    await cronHpa('by-hpa', [DAILY], named('web'));
    await cronHpa('by-gone', [DAILY], named('gone'));
    await cronHpa('by-none', [DAILY], named('none'));
    const { findings } = await examineAutoscaler(server);
    const found = findings.filter(({ subject }) => /^cronhpa default\/by-\w+$/.test(subject));
    const reported = found.map((one) => [one.subject, one.seen, 'diagnosis' in one && one.diagnosis]);
    expect(reported).to.include.deep.members([
      ['cronhpa default/by-hpa', 'scales Deployment "web", spec.replicas 2', false],
      ['cronhpa default/by-hpa', 'no conflict with another scaler', false],
      [
        'cronhpa default/by-gone',
        'deployments.apps "gone" not found in namespace default',
        'cronhpa-target-missing',
      ],
      [
        ...['cronhpa default/by-none', 'no HorizontalPodAutoscaler scales HorizontalPodAutoscaler "none"'],
        'cronhpa-hpa-missing',
      ],
    ]);
  });

  it('examines one namespace only when it is given', async () => {
    const elsewhere = '/apis/autoscaling.stke.com/v1beta1/namespaces/shop/cronhorizontalpodautoscalers';
    await created(server, '/api/v1/namespaces', {
      ...{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
    });
    await cronHpa('web', [DAILY]);
    await created(server, elsewhere, {
      ...{ apiVersion: 'autoscaling.stke.com/v1beta1', kind: 'CronHorizontalPodAutoscaler' },
      ...{ metadata: { name: 'api' }, spec: { scaleTargetRef: deploymentRef('api'), jobs: [DAILY] } },
    });
    const examinedIn = async (...flags: readonly string[]) => {
      const { findings } = await examineAutoscaler(server, flags);
      return new Set(findings.flatMap(({ subject }) => /^cronhpa (\w+\/\w+)/.exec(subject)?.[1] ?? []));
    };
    expect([...(await examinedIn())]).to.have.members(['default/web', 'shop/api']);
    expect([...(await examinedIn('--namespace=shop'))]).to.deep.equal(['shop/api']);
  });

  it('reports conflicts over a target', async () => {
    for (const name of ['web', 'api', 'db', 'mail', 'own']) await deployment(name, 2);
    await cronHpa('own', [DAILY], { metadata: { annotations: { 'platform.stke/adjust-hpa-min': 'false' } } });
    await hpa('own');
    await cronHpa('web', [DAILY]);
    await cronHpa('web-too', [DAILY], { spec: { scaleTargetRef: deploymentRef('web') } });
    await cronHpa('api', [DAILY, { ...DAILY, name: 'down', targetSize: 0 }]);
    await hpa('api');
    await cronHpa('db', [DAILY]);
    await hpa('db', { ownerReferences: [await createScaledObject(server.client, 'queue')] });
    await cronHpa('mail', [DAILY], { metadata: { annotations: { 'platform.stke/adjust-hpa-min': 'true' } } });
    const { findings } = await examineAutoscaler(server);
    const failed = findings.filter((finding) => finding.status === 'failed');
    expect(failed.map(({ subject, diagnosis, seen }) => [subject, diagnosis, seen])).to.have.deep.members([
      ['cronhpa default/web', 'cronhpa-target-contended', 'cronhpa "web-too" also scales Deployment "web"'],
      ['cronhpa default/web-too', 'cronhpa-target-contended', 'cronhpa "web" also scales Deployment "web"'],
      [
        'cronhpa default/api job "down"',
        'cronhpa-size-zero',
        'targetSize is 0, and HorizontalPodAutoscaler "api" scales Deployment "api"',
      ],
      [
        'cronhpa default/db',
        'cronhpa-hpa-owned',
        'HorizontalPodAutoscaler "db" is managed by ScaledObject "queue"',
      ],
      [
        'cronhpa default/own',
        'cronhpa-hpa-not-adjusted',
        'HorizontalPodAutoscaler "own" scales Deployment "own", and the annotation forbids setting its minReplicas',
      ],
      ['cronhpa default/mail', 'cronhpa-hpa-missing', 'no HorizontalPodAutoscaler scales Deployment "mail"'],
    ]);
  });

  it('reports an annotation without effect', async () => {
    await deployment('web', 2);
    await cronHpa('web', [DAILY], { metadata: { annotations: { 'platform.stke/adjust-hpa-min': 'yes' } } });
    const { findings } = await examineAutoscaler(server);
    const failed = findings.filter((finding) => finding.status === 'failed');
    expect(failed.map(({ subject, diagnosis, seen }) => [subject, diagnosis, seen])).to.deep.equal([
      [
        'cronhpa default/web',
        'cronhpa-annotation-invalid',
        'Annotation platform.stke/adjust-hpa-min has no effect: it must be one of true, false, hold',
      ],
    ]);
  });

  it('reports objects that no controller reconciles, and failed activations', async () => {
    await deployment('web', 2);
    await deployment('api', 2);
    await cronHpa('new', [DAILY], { spec: { scaleTargetRef: deploymentRef('web') } });
    await server.clock.advance(59_000);
    expect((await examineAutoscaler(server)).diagnoses).not.to.include('cronhpa-unattended');
    await server.clock.advance(1000);
    expect((await examineAutoscaler(server)).findings).to.deep.include({
      ...{ status: 'failed', subject: 'cronhpa default/new', seen: 'has no status' },
      ...{ diagnosis: 'cronhpa-unattended', title: 'No controller runs the jobs of an object' },
      remedy:
        'Check the findings about the leader above. Check that the leader runs with --controllers=cronhpa, and read its log lines about default/new.',
      remedyTemplate:
        'Check the findings about the leader above. Check that the leader runs with --controllers=cronhpa, and read its log lines about NAMESPACE/NAME.',
    });
  });

  it('reports overdue activations, and failures with their messages', async () => {
    await deployment('web', 2);
    await deployment('api', 2);
    await cronHpa('web', [DAILY]);
    await cronHpa('api', [DAILY]);
    const { body } = await server.client.get(`${CRON_HPAS}/web`);
    const [planned] = planAt(readCronHpa(body) ?? cronHpaObject(), EXAMINED_AT);
    const condition = {
      jobId: '1',
      name: 'up',
      schedule: DAILY.schedule,
      lastProbeTime: '2026-07-14T08:30:00Z',
      submittedTime: '2026-07-14T08:00:00Z',
      lastActivationTime: '2026-07-14T08:30:00Z',
    };
    const write = (name: string, change: object) =>
      server.client.patch(`${CRON_HPAS}/${name}/status`, 'merge', {
        status: { observedGeneration: 1, conditions: [{ ...condition, ...change }] },
      });
    await write('web', { state: 'Succeed', message: 'done', specHash: planned?.specHash });
    await write('api', {
      state: 'Failed',
      message: 'Deployment "api" not found',
      specHash: 'of another job',
    });
    const before = await examineAutoscaler(server, ['--leader-elect=false']);
    expect(before.findings).to.deep.include.members([
      { status: 'ok', subject: 'cronhpa default/web', seen: 'no activation yet' },
    ]);
    await server.client.patch(`${CRON_HPAS}/web/status`, 'merge', { status: { lastResult: 'Succeed up' } });
    const untimed = await examineAutoscaler(server, ['--leader-elect=false']);
    expect(untimed.findings).to.deep.include.members([
      { status: 'ok', subject: 'cronhpa default/web', seen: 'Succeed up, last run never' },
    ]);
    const lastScheduleTime = '2026-07-14T08:30:00Z';
    await server.client.patch(`${CRON_HPAS}/web/status`, 'merge', { status: { lastScheduleTime } });
    const timed = await examineAutoscaler(server, ['--leader-elect=false']);
    expect(timed.findings).to.deep.include.members([
      {
        status: 'ok',
        subject: 'cronhpa default/web',
        seen: `Succeed up, last run ${lastScheduleTime}`,
      },
    ]);
    await server.clock.advance(31 * 60_000 - 1000); // 08:30:59
    const early = await examineAutoscaler(server, ['--leader-elect=false']);
    expect(early.diagnoses).not.to.include('cronhpa-unattended');
    await server.clock.advance(1000); // 08:31
    const { findings } = await examineAutoscaler(server, ['--leader-elect=false']);
    expect(of(findings, 'web job "up"')).to.include({ status: 'ok' });
    const failed = findings.filter((finding) => finding.status === 'failed');
    expect(failed.map(({ subject, diagnosis, seen }) => [subject, diagnosis, seen])).to.have.deep.members([
      ['cronhpa default/web job "up"', 'cronhpa-unattended', 'was due 2026-07-15 08:30:00 UTC, 60 s ago'],
      ['cronhpa default/api job "up"', 'cronhpa-job-failed', 'Deployment "api" not found'],
    ]);
    const message = 'cron hpa job up missed its activation of 2026-07-14 08:30:00: so';
    await write('api', { state: 'Failed', message, specHash: 'of another job' });
    const missed = await examineAutoscaler(server, ['--leader-elect=false']);
    expect(missed.diagnoses).not.to.include('cronhpa-job-failed');
    expect(missed.findings).to.deep.include({
      ...{ status: 'note', subject: 'cronhpa default/api job "up"', seen: message },
    });
    const ready = {
      ...{ type: 'Ready', status: 'False', reason: 'ScalingFailed', message: 'so' },
      lastTransitionTime: '2026-07-15T08:30:00Z',
    };
    const own = { ...condition, state: 'Failed', message: 'it is away', specHash: planned?.specHash };
    await server.client.patch(`${CRON_HPAS}/web/status`, 'merge', { status: { conditions: [own, ready] } });
    const retried = await examineAutoscaler(server, ['--leader-elect=false']);
    expect(retried.diagnoses, 'what failed is tried again').to.deep.equal(['cronhpa-job-failed']);
  });

  it('reports an invalid schedule once, though the status has it, too', async () => {
    await deployment('web', 2);
    const job = { name: 'up', schedule: 'soon', targetSize: 1 };
    await cronHpa('web', [job]);
    const { body } = await server.client.get(`${CRON_HPAS}/web`);
    const [planned] = planAt(readCronHpa(body) ?? cronHpaObject(), EXAMINED_AT);
    const times = { lastProbeTime: '2026-07-14T08:30:00Z', submittedTime: '2026-07-14T08:00:00Z' };
    const condition = { ...times, jobId: '1', name: 'up', schedule: 'soon', specHash: planned?.specHash };
    await server.client.patch(`${CRON_HPAS}/web/status`, 'merge', {
      status: {
        observedGeneration: 1,
        conditions: [{ ...condition, state: 'Failed', message: planned?.problem }],
      },
    });
    const { findings } = await examineAutoscaler(server, ['--leader-elect=false']);
    const failed = findings.filter((finding) => finding.status === 'failed');
    expect(failed.map(({ diagnosis }) => diagnosis)).to.deep.equal(['cronhpa-schedule-invalid']);
  });

  async function deployment(name: string, replicas: number): Promise<void> {
    const labels = { app: name };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx' }] } };
    const spec = { replicas, selector: { matchLabels: labels }, template };
    await created(server, DEPLOYMENTS, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name },
      spec,
    });
  }

  async function cronHpa(
    name: string,
    jobs: readonly object[],
    { spec, metadata }: { readonly spec?: object; readonly metadata?: object } = {},
  ): Promise<void> {
    await created(server, CRON_HPAS, {
      apiVersion: 'autoscaling.stke.com/v1beta1',
      kind: 'CronHorizontalPodAutoscaler',
      metadata: { name, ...metadata },
      spec: { scaleTargetRef: deploymentRef(name), jobs, ...spec },
    });
  }

  async function hpa(name: string, metadata: object = {}): Promise<void> {
    await created(server, HPAS, {
      apiVersion: 'autoscaling/v1',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name, ...metadata },
      spec: { scaleTargetRef: deploymentRef(name), minReplicas: 1, maxReplicas: 5 },
    });
  }
});

/** An API server that admits any spec, like one with another definition. */
async function startWithAnySchema(): Promise<SimulatedApiServer> {
  const crd = readDefinition('cron-horizontal-pod-autoscaler');
  const anything = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const versions = crd.spec.versions.map((one: object) => ({ ...one, schema: anything }));
  const clock = new ManualClock(Date.parse(EXAMINED_AT));
  return await startSimulatedApiServer({ clock, definitions: [{ ...crd, spec: { ...crd.spec, versions } }] });
}

function deploymentRef(name: string) {
  return { apiVersion: 'apps/v1', kind: 'Deployment', name };
}

function of(findings: readonly Finding[], subject: string): Finding {
  const finding = findings.find((one) => one.subject.endsWith(subject));
  if (!finding) throw new Error(`nothing was found of ${subject}`);
  return finding;
}

import { expect } from 'chai';
import { stringify } from 'yaml';
import { readHpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import { readScaledHpa } from '#lib/metrics-adapter/collected-metrics.ts';
import type { MetricCollector } from '#lib/metrics-adapter/collectors/metric-collector.ts';
import { planCollectors } from '#lib/metrics-adapter/plans/plan-collectors.ts';
import { SCALING_SCHEDULES } from '#lib/metrics-adapter/scaling-schedules/scaling-schedule.ts';
import { allCollectors } from '#spec/support/all-collectors.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { externalMetric, hpaObject, objectMetric, podsMetric } from '#spec/support/scaled-hpas.ts';
import { type Settings, WRONG_SETTINGS, type WrongSettings } from './wrong-settings.ts';

const METRIC = 'requests-per-second'; // the only metric that Skipper's collector supports
const TYPES = { Pods: 'pods', Object: 'object', External: 'external' };
const INGRESS = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: 'shop' };
const SCHEDULE = { apiVersion: SCALING_SCHEDULES.apiVersion, kind: 'ScalingSchedule', name: 'nightly' };

/** Locations of settings: how to build an HPA with them, and how errors name the location. */
const PLACES: readonly (readonly [
  string,
  (of: WrongSettings, settings: Settings) => object,
  (of: WrongSettings, key: string) => string,
])[] = [
  [
    'an annotation',
    (of, settings) => withAnnotations(of, annotationsOf(of, settings)),
    ({ type, collector }, key) => `Annotation metric-config.${TYPES[type]}.${METRIC}.${collector}/${key}`,
  ],
  [
    'the list of collectors',
    (of, settings) =>
      withAnnotations(of, {
        'metric-config/collectors': stringify([
          { type: of.type, metric: METRIC, collector: of.collector, ...settings },
        ]),
      }),
    (_, key) => `Annotation metric-config/collectors, entry 1, ${key}`,
  ],
  [
    'a label of the selector',
    ({ collector }, settings) =>
      hpaObject({ metrics: [externalMetric(METRIC, { type: collector, ...settings })] }),
    (_, key) => `Label ${key} of the metric's selector`,
  ],
];
/** Settings that only annotations support. */
const NO_LABELS = ['interval'];

describe('the settings of every collector', () => {
  const stack = new AsyncDisposableStack();
  const shop = {
    allows: () => true,
    query: () => ({ key: 'a', description: 'a', run: async () => [] }),
    onChange: () => {},
  };
  const collectors = allCollectors({
    clock: new ManualClock(),
    stack,
    url: new URL('http://127.0.0.1:1'),
    sqlSources: new Map([['shop', shop]]),
  });
  after(() => stack.disposeAsync());

  it('have wrong values here, each of them', () => {
    const specified = WRONG_SETTINGS.flatMap(({ type, collector, wrong }) =>
      Object.keys(wrong).map((key) => `${type} ${collector} ${key}`),
    );
    const all = collectors.flatMap(({ name, types, settings }) =>
      types.flatMap((type) =>
        ['interval', ...Object.keys(settings.shape)].map((key) => `${type} ${name} ${key}`),
      ),
    );
    expect(specified.sort()).to.deep.equal(all.sort());
  });

  for (const of of WRONG_SETTINGS) {
    const { type, collector, good, wrong, missing } = of;
    for (const [place, objectOf, nameOf] of PLACES) {
      if (place.startsWith('a label') && type !== 'External') continue;
      for (const [key, values] of Object.entries(wrong)) {
        if (place.startsWith('a label') && NO_LABELS.includes(key)) continue;
        it(`of type ${type}, ${collector}: a wrong ${key} in ${place} is named with its rule`, () => {
          expect(errorsOf(objectOf(of, good), collectors), 'without it').to.deep.equal([]);
          for (const [value, rule] of values) {
            const alone = key === 'json-eval' ? without(good, 'json-key') : good;
            expect(errorsOf(objectOf(of, { ...alone, [key]: value }), collectors)).to.deep.equal([
              `${nameOf(of, key)} ${rule}`,
            ]);
          }
        });
      }
    }
    for (const [given, name] of missing)
      it(`of type ${type}, ${collector}: ${name} is reported as missing beside ${Object.keys(given).join(', ') || 'nothing'}`, () => {
        const object = withAnnotations(of, annotationsOf(of, { interval: '30s', ...given }));
        expect(errorsOf(object, collectors)).to.deep.equal([missingMessage(`${type}/${METRIC}`, name)]);
      });

    it(`of type ${type}, ${collector}: none may be longer than a query`, () => {
      const long = { ...good, mine: 'a'.repeat(65_537) };
      expect(errorsOf(withAnnotations(of, annotationsOf(of, long)), collectors)).to.deep.equal([
        `Annotation metric-config.${TYPES[type]}.${METRIC}.${collector}/mine must have at most 65536 characters`,
      ]);
    });
  }
});

function missingMessage(metric: string, name: string): string {
  const [one, other] = name.split(' or ');
  if (name === 'subscription-id')
    return `Metric ${metric} requires the setting "subscription-id", or all of "owning-application", "event-types" and "consumer-group"`;
  return other === undefined
    ? `The setting "${one}" of metric ${metric} is missing`
    : `Metric ${metric} has neither the setting "${one}" nor "${other}"`;
}

function annotationsOf({ type, collector }: WrongSettings, settings: Settings): Settings {
  return Object.fromEntries(
    // A collector of objects without settings is configured only if there is an annotation.
    Object.entries({ 'per-replica': '', ...settings }).map(([key, value]) => [
      `metric-config.${TYPES[type]}.${METRIC}.${collector}/${key}`,
      value,
    ]),
  );
}

function withAnnotations({ type, collector }: WrongSettings, annotations: Settings): object {
  const described = collector === 'scaling-schedule' ? SCHEDULE : INGRESS;
  const metrics = {
    Pods: () => podsMetric(METRIC),
    Object: () => objectMetric(METRIC, described),
    External: () => externalMetric(METRIC),
  };
  return hpaObject({ annotations, metrics: [metrics[type]()] });
}

function without(settings: Settings, name: string): Settings {
  return Object.fromEntries(Object.entries(settings).filter(([key]) => key !== name));
}

function errorsOf(object: object, collectors: readonly MetricCollector[]): readonly string[] {
  const hpa = readScaledHpa(readHpa(object, 'v2'));
  if (!hpa) throw new Error('it is an HPA');
  const { planned, problems } = planCollectors(hpa, collectors);
  expect(planned).to.have.lengthOf(problems.length === 0 ? 1 : 0);
  return problems.map(({ error }) => error.message);
}

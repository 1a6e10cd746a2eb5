import { expect } from 'chai';
import type { KubernetesObject } from '#simulator/objects/kubernetes-object.ts';
import { humanDuration, parseJsonPath } from '#simulator/resources/columns.ts';
import { columnsOf } from '#simulator/resources/kinds/columns-by-kind.ts';

const OBJECT = {
  status: {
    conditions: [
      { type: 'Known', status: 'False' },
      { type: 'Ready', status: 'True' },
    ],
  },
};

describe('parseJsonPath', () => {
  for (const [path, found] of [
    ['.status.conditions[*].type', ['Known', 'Ready']],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    ['.status.conditions[?(@.type=="None")].status', []],
    ['.status.nothing.at.all', []],
  ] as const) {
    it(`evaluates ${path}`, () => expect(parseJsonPath(path)(OBJECT)).to.deep.equal(found));
  }

  it('refuses an unknown value', () => {
    expect(() => parseJsonPath('.a[?(@.b>1)]')).to.throw(
      'Cannot read JSON path ".a[?(@.b>1)]" from character 2 on',
    );
  });
});

describe('columnsOf', () => {
  it('begins with the name, whatever the resource', () => {
    for (const resource of ['nodes', 'pods', 'namespaces', 'unheard-of']) {
      expect(columnsOf({ resource })[0]).to.include({ name: 'Name', format: 'name' });
    }
  });
});

/** The cells of an object by the names of their columns. */
function cellsOf(resource: string, object: object): ReadonlyMap<string, unknown> {
  const metadata = { name: 'web', creationTimestamp: '2026-01-01T00:00:00Z' };
  const whole = { metadata, ...object } as unknown as KubernetesObject;
  const nowMs = Date.parse('2026-01-01T00:01:00Z');
  return new Map(columnsOf({ resource }).map((column) => [column.name, column.cell(whole, nowMs)]));
}

describe('columnsOf HorizontalPodAutoscalers', () => {
  const cpu = {
    type: 'Resource',
    resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } },
  };
  const external = (target: object) => ({
    type: 'External',
    external: { metric: { name: 'queue' }, target },
  });
  const ofExternal = (current: object) => ({ type: 'External', external: { current } });
  const rps = { type: 'Pods', pods: { metric: { name: 'rps' }, target: { averageValue: '10' } } };
  const hits = { type: 'Object', object: { metric: { name: 'hits' }, target: { value: '2k' } } };
  const memory = {
    type: 'ContainerResource',
    containerResource: { name: 'memory', container: 'main', target: { averageValue: '100Mi' } },
  };
  const TARGETS: readonly (readonly [
    metrics: readonly object[],
    current: readonly object[],
    cell: string,
  ])[] = [
    [[], [], '<none>'],
    [[cpu], [], 'cpu: <unknown>/60%'],
    [[cpu], [{ type: '' }], 'cpu: <unknown>/60%'],
    [[cpu], [{ type: 'Resource', resource: { current: { averageUtilization: 41 } } }], 'cpu: 41%/60%'],
    [[external({ averageValue: '10' })], [ofExternal({ averageValue: '12' })], '12/10 (avg)'],
    [[external({ value: '30' })], [ofExternal({ value: '60' })], '60/30'],
    [[rps], [{ type: 'Pods', pods: { current: { averageValue: '11' } } }], '11/10'],
    [[hits], [], '<unknown>/2k'],
    [
      [memory],
      [{ type: 'ContainerResource', containerResource: { current: { averageValue: '90Mi' } } }],
      'memory: 90Mi/100Mi',
    ],
    [[cpu, rps, hits, memory], [], 'cpu: <unknown>/60%, <unknown>/10 + 2 more...'],
    [[{ type: 'Later' }], [], '<unknown type>'],
    [[{ type: 'constructor' }], [], '<unknown type>'],
  ];

  for (const [metrics, currentMetrics, cell] of TARGETS)
    it(`prints ${cell}`, () => {
      const cells = cellsOf('horizontalpodautoscalers', { spec: { metrics }, status: { currentMetrics } });
      expect(cells.get('Targets')).to.equal(cell);
    });

  it('prints the minimum of pods, or that it is not set', () => {
    const minimum = (spec: object) => cellsOf('horizontalpodautoscalers', { spec }).get('MinPods');
    expect([minimum({ minReplicas: 2 }), minimum({})]).to.deep.equal(['2', '<unset>']);
  });
});

describe('columnsOf APIServices', () => {
  const service = { namespace: 'kube-system', name: 'metrics-server' };
  const cells = (conditions: readonly object[] | undefined, spec: object = { service }) =>
    [...cellsOf('apiservices', { spec, status: { conditions } })].slice(1);

  it('prints the service, and whether it is available', () => {
    const available = (status: string, reason?: string) => [{ type: 'Available', status, reason }];
    const expected = (serviceCell: string, availableCell: string) => [
      ['Service', serviceCell],
      ['Available', availableCell],
      ['Age', '60s'],
    ];
    const name = 'kube-system/metrics-server';
    expect(cells(available('True', 'Passed'))).to.deep.equal(expected(name, 'True'));
    expect(cells(available('False', 'MissingEndpoints'))).to.deep.equal(
      expected(name, 'False (MissingEndpoints)'),
    );
    expect(cells(available('False'))).to.deep.equal(expected(name, 'False'));
    expect(cells(undefined)).to.deep.equal(expected(name, 'Unknown'));
    expect(cells(available('True', 'Local'), {})).to.deep.equal(expected('Local', 'True'));
  });
});

describe('humanDuration', () => {
  const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000] as const;
  for (const [durationMs, text] of [
    [-5 * second, '<invalid>'],
    [8.9 * second, '8s'],
    [119 * second, '119s'],
    [2 * minute, '2m'],
    [5 * minute + 28 * second, '5m28s'],
    [10 * minute + 28 * second, '10m'],
    [179 * minute, '179m'],
    [3 * hour, '3h'],
    [7 * hour + 59 * minute, '7h59m'],
    [24 * hour, '24h'],
    [47 * hour, '47h'],
    [2 * day + 5 * hour, '2d5h'],
    [8 * day + 5 * hour, '8d'],
    [800 * day, '2y70d'],
  ] as const) {
    it(`writes ${text}`, () => expect(humanDuration(durationMs)).to.equal(text));
  }
});

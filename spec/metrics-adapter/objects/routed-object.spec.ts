import { expect } from 'chai';
import { readIngress, readRouteGroup } from '#lib/metrics-adapter/objects/routed-object.ts';

const WEIGHTS = 'zalando.org/backend-weights';
const STACKS = 'zalando.org/stack-traffic-weights';
const NAMES = [WEIGHTS, STACKS];

describe('readIngress', () => {
  it('has each host once, and none of rules without one', () => {
    const rules = [{ host: 'a.example' }, {}, { host: '' }, { host: 'b.example' }, { host: 'a.example' }];
    const read = readIngress({ metadata: {}, spec: { rules } }, NAMES);
    expect(read).to.deep.equal({ hosts: ['a.example', 'b.example'], weights: [] });
    for (const spec of [{}, { rules: null }])
      expect(readIngress({ metadata: { annotations: null }, spec }, NAMES).hosts).to.deep.equal([]);
  });

  it('has the weights of each annotation that it is to look at, in their order', () => {
    const annotations = { [STACKS]: '{"c": 100}', [WEIGHTS]: '{"a": 0.5, "b": 99.5}', other: '{"d": 1}' };
    const weights = readIngress({ metadata: { annotations }, spec: {} }, NAMES).weights;
    expect(weights).to.deep.equal([{ a: 0.5, b: 99.5 }, { c: 100 }]);
    expect(readIngress({ metadata: { annotations: {} }, spec: {} }, ['toString']).weights).to.deep.equal([]);
  });

  for (const text of [
    '',
    'none',
    '[1]',
    '{"a": "1"}',
    '{"a": -1}',
    '{"a": 101}',
    `{"a": 1}${' '.repeat(65_529)}`,
  ])
    it(`names the annotation that says ${text.slice(0, 20)}`, () => {
      const object = { metadata: { annotations: { [WEIGHTS]: text } }, spec: {} };
      expect(() => readIngress(object, NAMES)).to.throw(
        'annotation zalando.org/backend-weights must be a JSON object of backends and their per cent',
      );
    });

  it('takes weights of 0 and 100 per cent, and a text as long as it may be', () => {
    const text = `{"a": 0, "b": 100}`.padEnd(65_536);
    const object = { metadata: { annotations: { [WEIGHTS]: text } }, spec: {} };
    expect(readIngress(object, NAMES).weights).to.deep.equal([{ a: 0, b: 100 }]);
  });
});

describe('readRouteGroup', () => {
  const backends = [{ backendName: 'a', weight: 80 }, { backendName: 'b' }];

  it('has each host once, and the weights of its backends, where there are several', () => {
    const spec = { hosts: ['a.example', 'b.example', 'a.example'], defaultBackends: backends };
    expect(readRouteGroup({ spec })).to.deep.equal({
      hosts: ['a.example', 'b.example'],
      weights: [{ a: 100, b: 0 }],
    });
    expect(readRouteGroup({ spec: { defaultBackends: backends.slice(0, 1) } }).weights).to.deep.equal([]);
    for (const none of [{}, { hosts: null, defaultBackends: null }])
      expect(readRouteGroup({ spec: none })).to.deep.equal({ hosts: [], weights: [] });
  });

  const shared: readonly (readonly [string, readonly object[], Readonly<Record<string, number>>])[] = [
    [
      'what its weights are of their sum, which need not be 100',
      [
        { backendName: 'a', weight: 300 },
        { backendName: 'b', weight: 100 },
      ],
      { a: 75, b: 25 },
    ],
    [
      'even shares where no backend has a weight',
      [{ backendName: 'a' }, { backendName: 'b' }],
      { a: 50, b: 50 },
    ],
    [
      'even shares where all weights are 0',
      ['a', 'b', 'c', 'd'].map((backendName) => ({ backendName, weight: 0 })),
      { a: 25, b: 25, c: 25, d: 25 },
    ],
  ];
  for (const [what, defaultBackends, expected] of shared)
    it(`has ${what}, as Skipper deals requests out`, () => {
      expect(readRouteGroup({ spec: { defaultBackends } }).weights).to.deep.equal([expected]);
    });

  it('refuses a weight that is none', () => {
    for (const weight of [-1, '1'])
      expect(() => readRouteGroup({ spec: { defaultBackends: [{ backendName: 'a', weight }] } })).to.throw();
  });
});

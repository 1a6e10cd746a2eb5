import { expect } from 'chai';
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

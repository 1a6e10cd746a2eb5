import { expect } from 'chai';
import { parseJsonPath } from '#simulator/custom-resources/json-path.ts';

const OBJECT = {
  metadata: { annotations: { 'a.b/c': 'x' } },
  status: {
    conditions: [
      { type: 'Known', status: 'False' },
      { type: 'Ready', status: 'True' },
    ],
  },
};

describe('parseJsonPath', () => {
  for (const [path, found] of [
    ['.status.conditions[1].type', ['Ready']],
    ['.status.conditions[*].type', ['Known', 'Ready']],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    [".status.conditions[?(@.type=='Known')].status", ['False']],
    ['.status.conditions[7].type', []],
    ['.status.nothing.at.all', []],
    [".metadata.annotations['a.b/c']", ['x']],
  ] as const) {
    it(`follows ${path}`, () => expect(parseJsonPath(path)(OBJECT)).to.deep.equal(found));
  }

  it('refuses what it does not know', () => {
    expect(() => parseJsonPath('.a[?(@.b>1)]')).to.throw(
      'Cannot read JSON path ".a[?(@.b>1)]" from character 2 on',
    );
  });
});

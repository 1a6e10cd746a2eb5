import { expect } from 'chai';
import type { ApiContext } from '#lib/apiserver/http/api-context.ts';
import { readRequest } from '#lib/apiserver/middleware/read-request.ts';

describe('readRequest', () => {
  const read = (path: string, querystring: string) => {
    const req = { method: 'GET', url: `${path}?${querystring}` };
    const context = { req, method: 'GET', path, querystring, state: { query: undefined, info: undefined } };
    readRequest(context as unknown as ApiContext);
    return context.state;
  };
  const readQuery = (querystring: string) => read('/apis/metrics.k8s.io/v1beta1/pods', querystring).query;
  const isKept = (querystring: string) => {
    const first = readQuery(querystring);
    return readQuery(querystring) === first;
  };

  it('reads each of the 4,000 URLs once that 2,000 autoscalers ask for in every cycle', () => {
    const pathOf = (index: number) =>
      `/apis/external.metrics.k8s.io/v1beta1/namespaces/team-${index % 50}/s${index % 2}-queue`;
    const cycle = () =>
      Array.from({ length: 4000 }, (_, index) => read(pathOf(index), `labelSelector=name%3Dweb-${index}`));
    cycle(); // what others asked for may be forgotten in between
    const [first, second] = [cycle(), cycle()];
    for (const [index, state] of second.entries()) {
      expect(state.query).to.equal(first[index]?.query);
      expect(state.info).to.equal(first[index]?.info);
    }
  });

  it('keeps URLs in memory of which the query and each selector have ten parts at most', () => {
    const parts = 'abcdefghij'.split('');
    for (const [what, queryOf] of [
      ['requirements', (all: readonly string[]) => `labelSelector=${all.join(',')}`],
      ['values', (all: readonly string[]) => `labelSelector=a+in+(${all.join('%2C')})`],
      ['fields', (all: readonly string[]) => `fieldSelector=${all.map((x) => `metadata.name!=${x}`).join()}`],
      ['parameters', (all: readonly string[]) => all.join('&')],
    ] as const) {
      expect(isKept(queryOf(parts)), what).to.equal(true);
      expect(isKept(queryOf([...parts, 'k'])), what).to.equal(false);
    }
  });

  it('keeps no URL in memory of which a selector makes no sense', () => {
    expect(isKept('labelSelector=%3D')).to.equal(false);
    expect(isKept('fieldSelector=spec.nodeName%3Da')).to.equal(false);
  });
});

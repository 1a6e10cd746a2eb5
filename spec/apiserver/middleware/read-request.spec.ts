import { expect } from 'chai';
import type { ApiContext } from '#lib/apiserver/http/api-context.ts';
import { readRequest } from '#lib/apiserver/middleware/read-request.ts';

describe('readRequest', () => {
  it('reads each of the 4,000 URLs once that 2,000 autoscalers ask for in every cycle', () => {
    const read = (index: number) => {
      const path = `/apis/external.metrics.k8s.io/v1beta1/namespaces/team-${index % 50}/s${index % 2}-queue`;
      const context = { method: 'GET', path, querystring: `labelSelector=name%3Dweb-${index}`, state: {} };
      readRequest(context as unknown as ApiContext, async () => {});
      return context.state;
    };
    const cycle = () => Array.from({ length: 4000 }, (_, index) => read(index));
    const [first, second] = [cycle(), cycle()];
    for (const [index, state] of second.entries()) {
      expect(state).to.have.property('query', (first[index] as { query: unknown }).query);
      expect(state).to.have.property('info', (first[index] as { info: unknown }).info);
    }
  });
});

import { expect } from 'chai';
import { columnsOf } from '#simulator/resources/columns.ts';

describe('columnsOf', () => {
  it('begins with the name, whatever the resource', () => {
    for (const resource of ['nodes', 'pods', 'namespaces', 'unheard-of']) {
      expect(columnsOf({ resource })[0]).to.include({ name: 'Name', format: 'name' });
    }
  });
});

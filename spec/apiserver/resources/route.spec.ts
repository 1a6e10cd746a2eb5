import { expect } from 'chai';
import type { DocumentResource } from '#lib/apiserver/api-group.ts';
import { matchRoute } from '#lib/apiserver/resources/route.ts';
import { thingsResource } from '#spec/support/served-things.ts';

const document = (name: string, isNamespaced: boolean): DocumentResource => ({
  type: 'document',
  name,
  singularName: '',
  kind: 'Value',
  isNamespaced,
  read: () => undefined,
});

const RESOURCES = [
  thingsResource(() => []),
  thingsResource(() => [], { name: 'pods', isNamespaced: true }),
  document('pods/requests', true),
  document('nodes/load', false),
  document('queue', true),
];

describe('matchRoute', () => {
  const routes: readonly [string, string | undefined][] = [
    ['things', 'list things of all'],
    ['things/a', 'get things /a'],
    ['pods', 'list pods of all'],
    ['namespaces/n/pods', 'list pods of n'],
    ['namespaces/n/pods/a', 'get pods n/a'],
    ['namespaces/n/pods/a/requests', 'read pods/requests n/a'],
    ['namespaces/n/pods/*/requests', 'read pods/requests n/*'],
    ['nodes/a/load', 'read nodes/load /a'],
    ['namespaces/n/queue', 'read queue n/'],
    ['namespaces//pods', 'list pods of all'],
    ['none', undefined],
    ['things/a/b', undefined],
    ['pods/a', undefined],
    ['pods/a/requests', undefined],
    ['namespaces', undefined],
    ['namespaces/n', undefined],
    ['namespaces/n/things', undefined],
    ['namespaces/n/things/a', undefined],
    ['namespaces/n/nodes/a/load', undefined],
    ['namespaces/n/pods/a/requests/b', undefined],
    ['queue', undefined],
    ['namespaces/n/queue/a', undefined],
    ['nodes', undefined],
  ];
  for (const [path, target] of routes) {
    it(`leads ${path} to ${target ?? 'nothing'}`, () => {
      const route = matchRoute(RESOURCES, path.split('/'));
      const where =
        route?.type === 'list' ? `of ${route.namespace ?? 'all'}` : `${route?.namespace}/${route?.name}`;
      expect(route && `${route.type} ${route.resource.name} ${where}`).to.equal(target);
    });
  }
});

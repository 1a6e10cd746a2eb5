import * as z from 'zod';
import { LEASES, type Lease, readLease } from '#lib/control/lease.ts';
import { type Check, type Finding, note, ok, unchecked } from '#lib/doctor/check.ts';
import { type ClusterContext, MissingPermission } from '#lib/doctor/cluster-context.ts';
import { isNotFound } from '#lib/kubernetes/client/api-error.ts';
import { collectionPath, objectPath } from '#lib/kubernetes/client/api-resource.ts';
import { readAs } from '#lib/kubernetes/objects/find-wrong-field.ts';
import {
  classifyLease,
  GRACE_MS,
  OPERATOR_LEASE,
  OPERATOR_LEASE_SELECTOR,
  renewedAgoMs,
} from '../coexistence/keda-lease.ts';
import { ExternalWrites } from '../coexistence/keda-writes.ts';
import type { ScaledObjectsOptions } from '../scaled-objects-options.ts';
import type { ExaminedObjects } from './definitions.ts';
import { failed } from './diagnoses.ts';

/** KEDA's operator is recognized by the name of its Deployment or by its image. */
const OPERATOR = 'keda-operator';
const IMAGE = /(?:^|\/)kedacore\/keda(?:[:@]|$)/;

/** Detects KEDA by the replicas of its Deployment, and as the controller does: by its lease and its writes. */
export function runningKeda(
  examined: ExaminedObjects,
  { kedaNamespace, kedaLeaseEverywhere }: Pick<ScaledObjectsOptions, 'kedaNamespace' | 'kedaLeaseEverywhere'>,
): Check {
  return {
    name: 'scaledobjects-keda',
    title: 'Other operators of ScaledObjects',

    async run(context) {
      const searches: Promise<readonly Finding[]>[] = [foundOr('keda-operator', runningDeployments(context))];
      if (kedaNamespace !== '')
        searches.push(
          foundOr(
            `lease ${OPERATOR_LEASE}`,
            heldLeases(context, { namespace: kedaNamespace, everywhere: kedaLeaseEverywhere }),
          ),
        );
      searches.push(foundOr('statuses', findStatusWriters(context, examined)));
      const findings = (await Promise.all(searches)).flat();
      const problems = findings.filter(({ status }) => status !== 'ok');
      return problems.length > 0 ? problems : findings;
    },
  };
}

/** Reports a failed search as unchecked, so that the findings of the others remain. */
async function foundOr(subject: string, search: Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  return await search.catch((error: unknown) => [unchecked(subject, error)]);
}

async function runningDeployments(context: ClusterContext): Promise<readonly Finding[]> {
  const found = await context.list('deployments.apps', { path: '/apis/apps/v1/deployments' }, operatorOf);
  const running = found.filter(({ replicas }) => replicas > 0);
  if (running.length === 0)
    return [ok('keda-operator', found.length > 0 ? 'KEDA is scaled to zero' : 'KEDA is not installed')];
  return running.map(({ namespace, name, replicas }) =>
    failed(`deployment ${namespace}/${name}`, `desired replicas: ${replicas}`, {
      ...{ diagnosis: 'scaledobjects-keda-runs', NAMESPACE: namespace, NAME: name },
    }),
  );
}

/** Reads the lease in the configured namespace, or in all namespaces if they count and may be listed. */
async function heldLeases(
  context: ClusterContext,
  { namespace, everywhere }: { readonly namespace: string; readonly everywhere: boolean },
): Promise<readonly Finding[]> {
  const leases = everywhere ? await leasesOrOne(context, namespace) : await leaseIn(context, namespace);
  return leases.flatMap((lease) => heldLease(context, lease));
}

async function leasesOrOne(context: ClusterContext, namespace: string): Promise<readonly Lease[]> {
  const path = { path: collectionPath(LEASES), fieldSelector: OPERATOR_LEASE_SELECTOR };
  return await context.list('leases', path, readLease).catch(async (error: unknown) => {
    if (!(error instanceof MissingPermission)) throw error;
    return await leaseIn(context, namespace);
  });
}

async function leaseIn(context: ClusterContext, namespace: string): Promise<readonly Lease[]> {
  try {
    return [
      readLease(await context.get(objectPath(LEASES, { namespace, name: OPERATOR_LEASE }), 'get leases')),
    ];
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

function heldLease({ clock }: ClusterContext, lease: Lease): readonly Finding[] {
  const state = classifyLease(lease, clock);
  if (state === 'has ended') return [];
  const { namespace = '' } = lease.metadata;
  const { holderIdentity } = lease.spec;
  const subject = `lease ${namespace}/${OPERATOR_LEASE}`;
  const agoMs = renewedAgoMs(lease, clock);
  const renewed = Number.isNaN(agoMs)
    ? 'has no renew time'
    : agoMs < -GRACE_MS
      ? 'has a renew time in the future'
      : `was renewed ${Math.max(0, Math.round(agoMs / 1000))} s ago`;
  if (state === 'may have ended')
    return [note(subject, `it ${renewed}; an autoscaler that starts now waits before it scales any object`)];
  if (!holderIdentity)
    return [
      note(
        subject,
        `it ${renewed} and is released; no object is scaled until another replica could have acquired it`,
      ),
    ];
  return [
    failed(subject, `held by "${holderIdentity}"; it ${renewed}`, {
      ...{ diagnosis: 'scaledobjects-keda-runs', NAMESPACE: namespace, NAME: OPERATOR },
    }),
  ];
}

/** Recent writes of statuses by another field manager, for which the controller does not scale objects. */
async function findStatusWriters(
  context: ClusterContext,
  examined: ExaminedObjects,
): Promise<readonly Finding[]> {
  const { objects, jobs } = await examined.all(context);
  const writes = new ExternalWrites(context.clock);
  for (const object of objects) writes.observe('ScaledObject', undefined, object);
  for (const object of jobs) writes.observe('ScaledJob', undefined, object);
  const namespaces = new Set([...objects, ...jobs].map(({ metadata }) => metadata.namespace ?? ''));
  const found = [...namespaces].flatMap((namespace) => {
    const evidence = writes.on('', { namespace, name: '' });
    return evidence === undefined ? [] : [{ namespace, evidence }];
  });
  return found.map(({ namespace, evidence }) =>
    failed(`namespace ${namespace}`, `${evidence}; the autoscaler does not scale objects of this namespace`, {
      diagnosis: 'scaledobjects-keda-runs',
      NAMESPACE: 'keda',
      NAME: OPERATOR,
    }),
  );
}

const DEPLOYMENT = z.object({
  metadata: z.object({ namespace: z.string(), name: z.string() }),
  spec: z.object({
    replicas: z.int().nullish(),
    template: z.object({
      spec: z.object({ containers: z.array(z.object({ image: z.string().nullish() })).nullish() }),
    }),
  }),
});

/** @throws for a Deployment with a field of the wrong type */
function operatorOf(value: unknown) {
  const { metadata, spec } = readAs(DEPLOYMENT, 'a Deployment', value);
  const images = (spec.template.spec.containers ?? []).flatMap(({ image }) => image ?? []);
  if (metadata.name !== OPERATOR && !images.some((image) => IMAGE.test(image))) return undefined;
  return { ...metadata, replicas: spec.replicas ?? 1 };
}

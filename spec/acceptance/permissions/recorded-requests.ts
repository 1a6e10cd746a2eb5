import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { kustomize } from '#spec/support/manifest-objects.ts';
import type { AuditEvent } from '../control-plane/audit-log.ts';
import { explanationOf } from './explained-permissions.ts';
import { type GrantedPermission, grantedPermissions } from './granted-permissions.ts';
import { type PermissionRequest, permittedRequests, unusedPermissions } from './unused-permissions.ts';

/** Adds the requests of one control plane to a folder of recordings. */
export async function recordRequests(folder: string, events: readonly AuditEvent[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${randomUUID()}.json`), JSON.stringify(permittedRequests(events)));
}

/** Overlays that run a program. Accounts for doctors are only used by people. */
const FOLDERS = [
  'overlays/release',
  'overlays/autoscaler',
  'overlays/autoscaler-hpa',
  'overlays/autoscaler-scaled-objects',
];
/** Components that no overlay includes. */
const COMPONENTS = ['components/scaling-schedule', 'components/cron-hpa-alibaba'];
const ACCOUNTS = ['kube-system:metrics-server', 'kube-system:autoscaler'];

/**
 * Finds permissions of our accounts that no recorded request uses and no explanation covers.
 *
 * @param folder written by {@link recordRequests}
 */
export async function unexplainedPermissions(folder: string): Promise<readonly GrantedPermission[]> {
  const files = await readdir(folder);
  const requests = await Promise.all(
    files.map(
      async (file): Promise<readonly PermissionRequest[]> =>
        JSON.parse(await readFile(join(folder, file), 'utf8')),
    ),
  );
  return unusedPermissions(await manifestPermissions(), requests.flat()).filter(
    (permission) => explanationOf(permission) === undefined,
  );
}

/** Permissions of our programs' accounts, each once. */
export async function manifestPermissions(): Promise<readonly GrantedPermission[]> {
  return (await allManifestPermissions()).filter(({ account }) => ACCOUNTS.includes(account));
}

/** Like {@link manifestPermissions}, with the permissions of Kubernetes' own accounts. */
export async function allManifestPermissions(): Promise<readonly GrantedPermission[]> {
  const objects = await Promise.all(
    [...FOLDERS, ...COMPONENTS].map((path) => kustomize(`manifests/${path}`)),
  );
  const granted = objects.flatMap(grantedPermissions);
  return [...new Map(granted.map((permission) => [JSON.stringify(permission), permission])).values()];
}

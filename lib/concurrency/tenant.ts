import { AsyncLocalStorage } from 'node:async_hooks';

const tenants = new AsyncLocalStorage<string | undefined>();

/**
 * Runs work on behalf of a tenant, the name of a namespace. What the work shares with other tenants, such as name resolution, is
 * deep inside of packages whose interfaces have no parameter for that name.
 */
export function runForTenant<T>(tenant: string | undefined, work: () => T): T {
  return tenants.run(tenant, work);
}

/** The tenant that the current work is for; `undefined` for the program itself. */
export function currentTenant(): string | undefined {
  return tenants.getStore();
}

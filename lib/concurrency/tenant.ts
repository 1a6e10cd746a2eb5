import { AsyncLocalStorage } from 'node:async_hooks';

const tenants = new AsyncLocalStorage<string | undefined>();

/**
 * Runs work on behalf of a tenant, which is a namespace. Passes it through packages whose interfaces have no parameter
 * for it to resources that tenants share, such as name resolution.
 */
export function runForTenant<T>(tenant: string | undefined, work: () => T): T {
  return tenants.run(tenant, work);
}

/** The tenant of the current work; `undefined` for the program itself. */
export function currentTenant(): string | undefined {
  return tenants.getStore();
}

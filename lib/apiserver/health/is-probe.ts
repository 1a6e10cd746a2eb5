import type { RequestInfo } from '#lib/apiserver/http/request-info.ts';
import { HEALTH_ENDPOINTS } from './health-check.ts';

/**
 * Whether a request asks for our health as a whole. Refusing such would have the kubelet restart a server that is only
 * busy; their responses cost nothing.
 */
export function isProbe({ isResourceRequest, path }: RequestInfo): boolean {
  return !isResourceRequest && HEALTH_ENDPOINTS.some((name) => path === `/${name}`);
}

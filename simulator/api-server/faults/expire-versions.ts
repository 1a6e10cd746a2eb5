import { expired } from '../status.ts';
import type { ApiFault } from './api-fault.ts';

/**
 * Calls every version too old that somebody would go on from: watches get 410 as their first event, as from a watch
 * cache, and further pages of lists as their response.
 */
export const expireVersions: ApiFault = {
  serve: async ({ verb, query, response }, { next }) => {
    const version = Number(query.get('resourceVersion') ?? '');
    if (verb === 'list' && query.get('continue')) throw expired('The provided continue parameter is too old');
    if (verb !== 'watch' || version === 0) return next();
    const status = expired(`too old resource version: ${version}`).toStatus();
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(`${JSON.stringify({ type: 'ERROR', object: status })}\n`);
  },
};

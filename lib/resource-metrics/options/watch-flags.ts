import { flag } from '#lib/flags/flag.ts';
import { boolean } from '#lib/flags/flag-kinds.ts';

/** How metrics are served, beside what every API server can do. */
export const watchFlags = {
  enableWatch: flag('enable-watch', boolean, {
    default: false,
    description:
      'Let clients watch metrics, as kubectl get --watch does: discovery says so, and metrics have a version. ' +
      'The reference cannot be watched.',
  }),
};

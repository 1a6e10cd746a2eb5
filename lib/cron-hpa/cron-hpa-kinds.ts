import { ALIBABA_CRON_HPA } from './alibaba-cron-hpa.ts';
import { type CronHpaKind, STKE_CRON_HPA } from './cron-hpa-kind.ts';

/** Which kinds are run beside the own one; none by default. */
export interface EnabledKinds {
  /** Those of kubernetes-cronhpa-controller. */
  readonly runsAlibaba?: boolean;
}

/** The kinds of objects that are run, the own one first. */
export function cronHpaKinds({ runsAlibaba = false }: EnabledKinds): readonly CronHpaKind[] {
  return [STKE_CRON_HPA, ...(runsAlibaba ? [ALIBABA_CRON_HPA] : [])];
}

import type { Check } from './check.ts';
import type { ApiContext } from './cluster-context.ts';
import type { Diagnoses } from './diagnosis.ts';
import type { Permission } from './permissions.ts';

/** What a subsystem brings to the doctor of its program. */
export interface DoctorPart {
  /** What its server must be allowed. */
  readonly permissions: readonly Permission[];
  /** Whether the cluster has anything for it to do: where it has nothing, no permission is missing. By default it has. */
  readonly isNeeded?: (context: ApiContext) => Promise<boolean>;
  /** What is looked at, in this order. */
  readonly checks: readonly Check[];
  /** What these can find wrong; the page about troubleshooting has a section for each. */
  readonly diagnoses: Diagnoses;
}

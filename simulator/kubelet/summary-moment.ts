import type { NodeMachine } from '../machine/node-machine.ts';
import type { JsonBytes, JsonPiece, Stamps } from './json-template.ts';
import type { SummaryTemplates } from './summary-templates.ts';

/** What the summaries of all kubelets of a process are written with. */
export interface SummaryTools {
  readonly bytes: JsonBytes;
  readonly stamps: Stamps;
}

/** Disks are looked at now and then, and what was seen is told until the next time. */
const DISKS_READ_AGO_MS = 3000;

/** What all parts of one summary have in common. */
export class SummaryMoment {
  readonly machine: NodeMachine;
  readonly templates: SummaryTemplates;
  readonly bytes: JsonBytes;
  readonly nowMs: number;
  /** Stamps in JSON, as all that {@link stamp} gives. */
  readonly now: JsonPiece;
  readonly disksReadAt: JsonPiece;
  readonly #stamps: Stamps;
  readonly #stampMs: (momentMs: number) => number;

  constructor(machine: NodeMachine, templates: SummaryTemplates, { bytes, stamps }: SummaryTools) {
    this.machine = machine;
    this.templates = templates;
    this.bytes = bytes;
    this.#stamps = stamps;
    this.#stampMs = machine.clock.reading();
    this.nowMs = machine.clock.nowMs();
    this.now = this.stamp(this.nowMs);
    this.disksReadAt = this.stamp(this.nowMs - DISKS_READ_AGO_MS);
  }

  /** @param momentMs of the node's monotonic clock */
  stamp(momentMs: number): JsonPiece {
    return this.#stamps.at(this.#stampMs(momentMs));
  }
}

/** Whole pages of a working set that are not file cache: nine tenths will do. */
export function anonymousShare(bytes: number): number {
  return Math.floor((bytes * 0.9) / 4096) * 4096;
}

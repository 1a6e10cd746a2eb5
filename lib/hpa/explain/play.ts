import { conclude } from '../decision/conclude.ts';
import { decide } from '../decision/decide.ts';
import type { Outcome } from '../decision/decision.ts';
import { EMPTY_STATE } from '../decision/scaling-state.ts';
import { type LoadPoint, loadAt, type Scenario } from './scenario.ts';
import { SimulatedWorkload } from './simulated-workload.ts';

/** One decision of a scenario. */
export interface PlayedDecision {
  /** Time since the start. */
  readonly atMs: number;
  readonly load: LoadPoint['values'];
  readonly replicasBefore: number;
  readonly replicasAfter: number;
  readonly readyPods: number;
  readonly outcome: Outcome;
}

/** Plays a scenario: decides every sync period with the functions of the controller, and scales pods. */
export function* playScenario(scenario: Scenario): Generator<PlayedDecision> {
  const { syncPeriodMs, durationMs, config, load: curve } = scenario;
  const workload = new SimulatedWorkload(scenario, START_MS);
  const metrics = scenario.hpa.spec.metrics ?? [];
  let hpa = scenario.hpa;
  let memory = EMPTY_STATE;
  for (let atMs = 0; atMs <= durationMs; atMs += syncPeriodMs) {
    const nowMs = START_MS + atMs;
    const load = loadAt(curve, atMs);
    const { replicas } = workload;
    const decision = decide({
      hpa,
      memory,
      config,
      nowMs,
      overlapping: [],
      scale: { specReplicas: replicas, statusReplicas: replicas, selector: 'app=scenario' },
      pods: workload.pods(nowMs),
      readings: metrics.map((spec) => workload.reading(spec, load, nowMs)),
    });
    const outcome = conclude(decision, hpa, { nowMs });
    ({ memory } = outcome);
    hpa = { ...hpa, status: outcome.status };
    const readyPods = workload.readyCount(nowMs);
    if (outcome.desiredReplicas !== undefined) workload.scaleTo(outcome.desiredReplicas, nowMs);
    yield {
      atMs,
      load,
      readyPods,
      outcome,
      replicasBefore: replicas,
      replicasAfter: workload.replicas,
    };
  }
}

/** The start of every scenario; results do not depend on it. */
const START_MS = Date.UTC(2026, 0, 1);

import { doctorParts } from '#lib/autoscaler/doctor.ts';
import { parseAutoscalerOptions } from '#lib/autoscaler/options/autoscaler-options.ts';
import type { Diagnosis } from '#lib/doctor/check.ts';

const command = parseAutoscalerOptions(['doctor', '--controllers=*,hpa,scaledobjects']);
if (command.kind !== 'doctor') throw new Error('these flags examine nothing');
const parts = await doctorParts(command.options, command.doctor);

/** All diagnoses of the doctor, for an autoscaler with every subsystem enabled. */
export function autoscalerDiagnoses(): Readonly<Record<string, Diagnosis>> {
  return Object.assign({}, ...parts.map(({ diagnoses }) => diagnoses));
}

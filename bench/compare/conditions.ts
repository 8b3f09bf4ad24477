import { cpus, loadavg, totalmem } from 'node:os';
import type { NativeProgram } from './native-program.ts';
import type { Pinning } from './pinning.ts';

/** Conditions under which the figures were taken. */
export interface Conditions {
  readonly taken: string;
  readonly node: string;
  readonly machine: string;
  readonly pinned: string;
  readonly drivers: string;
  /** Of the last minute, before anything was started: above 0.5 the machine had other things to do. */
  readonly loadBefore: number;
}

export function conditionsOf(pinning: Pinning, programs: readonly NativeProgram[]): Conditions {
  const all = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  const { cores, why } = pinning;
  return {
    taken: new Date().toISOString(),
    node: process.version,
    machine: `${all.length} x ${all[0]?.model ?? 'unknown processor'}, ${process.arch}, ${memory} GB`,
    pinned:
      cores === undefined
        ? `not pinned: ${why}`
        : `tested process on core ${cores.tested}, load and upstream on core ${cores.driving}`,
    drivers: `upstream and load in ${programs.map(({ language }) => language).join(' and ')}`,
    loadBefore: loadavg()[0] ?? Number.NaN,
  };
}

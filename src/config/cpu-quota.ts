import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Where the kernel shows the control groups of this process and their limits. */
export interface ControlGroupFiles {
  /** Lists the groups of this process. */
  readonly ownGroups: string;
  readonly mount: string;
}

const SYSTEM: ControlGroupFiles = { ownGroups: '/proc/self/cgroup', mount: '/sys/fs/cgroup' };

/**
 * Cores that the control groups of this process may use, both kinds (v1 and v2); undefined = no quota. A group has at
 * most what its parents have. In a container the mounted folder is that of its own group.
 */
export function cpuQuota({ ownGroups, mount }: ControlGroupFiles = SYSTEM): number | undefined {
  const quotas = (textOf(ownGroups) ?? '').split('\n').flatMap((line) => {
    const [, controllers, path = '/'] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (controllers === '') return foldersUpTo(mount, path).map(quotaOfV2);
    if (!controllers?.split(',').includes('cpu')) return [];
    return ['cpu', controllers].flatMap((name) => foldersUpTo(join(mount, name), path).map(quotaOfV1));
  });
  const known = quotas.filter((quota) => quota !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** A group's folder and those of its parents, up to the mount. */
function foldersUpTo(mount: string, path: string): string[] {
  const folders: string[] = [];
  for (let at = path; at !== '/' && at !== '.'; at = dirname(at)) folders.push(join(mount, at));
  return [...folders, mount];
}

/** `cpu.max` has microseconds of each period, or `max`. */
function quotaOfV2(folder: string): number | undefined {
  const [quota, period] = (textOf(join(folder, 'cpu.max')) ?? '').trim().split(' ').map(Number);
  return coresOf(quota, period);
}

function quotaOfV1(folder: string): number | undefined {
  const [quota, period] = ['cpu.cfs_quota_us', 'cpu.cfs_period_us'].map((name) =>
    Number(textOf(join(folder, name)) ?? Number.NaN),
  );
  return coresOf(quota, period);
}

/** No quota is `max` in version 2 and -1 in version 1. */
function coresOf(quota = Number.NaN, period = Number.NaN): number | undefined {
  return quota > 0 && period > 0 ? quota / period : undefined;
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

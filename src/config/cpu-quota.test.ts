import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../test/adapters/contracts/temporary-directory.ts';
import { cpuQuota } from './cpu-quota.ts';
import { workerCountOf } from './worker-count.ts';

describe('cpuQuota', () => {
  let temporary: ReturnType<typeof temporaryDirectory>;

  beforeEach(() => {
    temporary = temporaryDirectory();
  });

  afterEach(() => temporary.remove());

  const quotaIn = (groups: string, files: Readonly<Record<string, string>>) => {
    const mount = join(temporary.path, 'mount');
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(mount, name, '..'), { recursive: true });
      writeFileSync(join(mount, name), text);
    }
    const ownGroups = join(temporary.path, 'groups');
    writeFileSync(ownGroups, groups);
    return cpuQuota({ ownGroups, mount });
  };

  it('reads version 2, of the tightest group', () => {
    expect(quotaIn('0::/a/b\n', { 'a/b/cpu.max': 'max 100000\n', 'a/cpu.max': '250000 100000\n' })).toBe(2.5);
  });

  it('reads version 2 in a container, whose mount is its own group', () => {
    expect(quotaIn('0::/\n', { 'cpu.max': '100000 100000\n' })).toBe(1);
  });

  it('reads version 1, also if the path is that of the host', () => {
    const groups = '5:memory:/docker/x\n4:cpu,cpuacct:/docker/x\n';
    const files = { 'cpu,cpuacct/cpu.cfs_quota_us': '300000\n', 'cpu,cpuacct/cpu.cfs_period_us': '100000\n' };
    expect(quotaIn(groups, files)).toBe(3);
  });

  it('finds none if there is none', () => {
    expect(quotaIn('0::/\n', { 'cpu.max': 'max 100000\n' })).toBeUndefined();
    const files = { 'cpu/cpu.cfs_quota_us': '-1\n', 'cpu/cpu.cfs_period_us': '100000\n' };
    expect(quotaIn('4:cpu:/\n', files)).toBeUndefined();
    expect(cpuQuota({ ownGroups: join(temporary.path, 'none'), mount: temporary.path })).toBeUndefined();
  });
});

describe('workerCountOf', () => {
  const settings = { runtime: {}, config: { server: { workers: 'auto' } } } as const;

  it('takes as many as cores, and no more than the quota pays for', () => {
    expect(workerCountOf(settings, { cores: 8, quota: undefined })).toBe(8);
    expect(workerCountOf(settings, { cores: 8, quota: 2.5 })).toBe(2);
    expect(workerCountOf(settings, { cores: 8, quota: 0.5 })).toBe(1);
    expect(workerCountOf(settings, { cores: 2, quota: 16 })).toBe(2);
  });

  it('takes a number as it is', () => {
    expect(workerCountOf({ ...settings, runtime: { workers: 5 } }, { cores: 2, quota: 1 })).toBe(5);
  });
});

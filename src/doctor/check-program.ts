import { oldestNodeVersion, programVersion } from '../kit/program-version.ts';
import { type CheckFinding, fine, problem } from './finding.ts';

/** Packages with native code. */
const NATIVE_PACKAGES = ['libsql', '@duckdb/node-bindings'] as const;

/** Checks Node's version and the native packages. */
export async function checkProgram(): Promise<CheckFinding[]> {
  const { platform, arch, versions } = process;
  const oldest = oldestNodeVersion();
  const node = isAtLeast(versions.node, oldest)
    ? fine(`version ${programVersion()} on Node ${versions.node}, ${platform} ${arch}`)
    : problem(`Node ${versions.node} is older than ${oldest}`, `install Node ${oldest} or newer`);
  return [node, ...(await Promise.all(NATIVE_PACKAGES.map(checkNative))).flat()];
}

async function checkNative(name: string): Promise<CheckFinding[]> {
  try {
    await import(name);
    return [];
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    return [
      problem(
        `the package ${name} cannot be loaded (${code})`,
        'install the packages again on this machine: they contain native code for one platform',
      ),
    ];
  }
}

function isAtLeast(version: string, oldest: string): boolean {
  const [have, want] = [version, oldest].map((text) => text.split('.').map(Number)) as [number[], number[]];
  const index = want.findIndex((number, place) => number !== (have[place] ?? 0));
  return index === -1 || (have[index] ?? 0) > (want[index] ?? 0);
}

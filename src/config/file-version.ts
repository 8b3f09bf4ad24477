import { type BigIntStats, statSync } from 'node:fs';

/** Fingerprint of a file's identity, size and times; changes with every save. Empty if there is no file. */
export function fileVersion(path: string): string {
  const status = statSync(path, { bigint: true, throwIfNoEntry: false });
  return status === undefined ? '' : versionOfStatus(status);
}

export function versionOfStatus({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(':');
}

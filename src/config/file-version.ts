import { type BigIntStats, statSync } from 'node:fs';

/** A text that differs between any two states of a file that anybody can tell apart; empty when there is no file. */
export function fileVersion(path: string): string {
  const status = statSync(path, { bigint: true, throwIfNoEntry: false });
  return status === undefined ? '' : versionOfStatus(status);
}

export function versionOfStatus({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(':');
}

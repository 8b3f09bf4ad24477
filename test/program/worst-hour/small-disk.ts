import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A small file system of its own. Mounting one needs root: elsewhere `isThere` is false. */
export class SmallDisk {
  readonly folder = mkdtempSync(join(tmpdir(), 'signalbox-small-'));
  readonly path = join(this.folder, 'disk');
  readonly isThere: boolean;

  constructor(mebibytes: number) {
    mkdirSync(this.path);
    this.isThere =
      process.getuid?.() === 0 && run('mount', '-t', 'tmpfs', '-o', `size=${mebibytes}M`, 'tmpfs', this.path);
  }

  /** Takes all room that is left. */
  fill(): void {
    const file = openSync(join(this.path, 'filling'), 'a');
    try {
      for (const block = Buffer.alloc(4096); writeSync(file, block) > 0; );
    } catch {
      // The disk is full.
    } finally {
      closeSync(file);
    }
  }

  /** Gives back the room that `fill` took. */
  free(): void {
    rmSync(join(this.path, 'filling'), { force: true });
  }

  remove(): void {
    if (this.isThere) run('umount', '-l', this.path);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export function run(command: string, ...words: readonly string[]): boolean {
  return spawnSync(command, words, { stdio: 'ignore' }).status === 0;
}

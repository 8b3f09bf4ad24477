import type { JournalFile, JournalFiles, OpenMode } from '../../../src/store/journal/journal-files.ts';

/**
 * What goes wrong at an operation, and how much of it has been done by then: bytes of a write, odd for other things
 * done.
 */
export interface Fault {
  readonly kind: 'ENOSPC' | 'EIO' | 'short' | 'crash';
  readonly done: number;
  /** Number of consecutive operations; default 1. */
  readonly times?: number;
}

/** Whether the disk has a change: certainly, after a sync; otherwise the machine's end decides. */
type Fate = 'synced' | 'dirty' | 'lost by a failed sync';

interface Change {
  readonly kind: 'write' | 'truncate';
  readonly at: number;
  readonly bytes: Buffer;
  fate: Fate;
}

interface Inode {
  /** What a process reads. */
  content: Buffer;
  readonly changes: Change[];
}

/** A change to the names. The disk may get it without those before it, unless it depends on them. */
type NameChange = (names: Map<string, Inode>) => void;

/**
 * A directory in memory, whose operations happen only on `pass` and `quiesce`, fail where a fault is set,
 * and which after the end of the machine has what was synced, and of all else whatever a disk might have.
 */
export class JournalDisk implements JournalFiles {
  /** Bytes that all files together may have. */
  capacity = Number.POSITIVE_INFINITY;
  #names = new Map<string, Inode>();
  #syncedNames = new Map<string, Inode>();
  #nameChanges: NameChange[] = [];
  readonly #faults = new Map<number, Fault>();
  #operations = 0;
  #waiting: (() => void)[] = [];
  #hasCrashed = false;
  #faultsMet = 0;

  get hasCrashed(): boolean {
    return this.#hasCrashed;
  }

  /** Number of faults that happened. */
  get faultsMet(): number {
    return this.#faultsMet;
  }

  /** Number of operations that happened. */
  get operations(): number {
    return this.#operations;
  }

  get usedBytes(): number {
    return [...new Set(this.#names.values())].reduce((sum, { content }) => sum + content.length, 0);
  }

  /** Something goes wrong after so many more operations, once or several times running. */
  plan(after: number, fault: Fault): void {
    const first = this.#operations + after;
    for (let each = 0; each < (fault.times ?? 1); each++) this.#faults.set(first + each, fault);
  }

  planNothing(): void {
    this.#faults.clear();
    this.capacity = Number.POSITIVE_INFINITY;
  }

  /** Performs pending operations. */
  async pass(operations: number): Promise<void> {
    for (let passed = 0; passed < operations; passed++) {
      await turns();
      const next = this.#waiting.shift();
      if (next === undefined) return;
      next();
    }
    await turns();
  }

  quiesce(): Promise<void> {
    return this.pass(Number.POSITIVE_INFINITY);
  }

  /** The process ends: what it wrote is there. */
  endProcess(): void {
    this.#waiting = [];
    this.#hasCrashed = false;
    this.planNothing();
  }

  /** The machine ends too. `random` gives numbers from 0 up to a bound. */
  endMachine(random: (bound: number) => number): void {
    this.endProcess();
    const names = new Map(this.#syncedNames);
    for (const change of this.#nameChanges) if (random(2) === 1) change(names);
    for (const inode of new Set(names.values())) {
      inode.content = survivor(inode.changes, random);
      inode.changes.splice(0, Number.POSITIVE_INFINITY, {
        kind: 'write',
        at: 0,
        bytes: inode.content,
        fate: 'synced',
      });
    }
    this.#names = names;
    this.#syncedNames = new Map(names);
    this.#nameChanges = [];
  }

  /** Content of a file, to look at or to damage. */
  contentOf(name: string): Buffer | undefined {
    return this.#names.get(name)?.content;
  }

  /** Replaces the content of a file, as damage. */
  setContent(name: string, content: Buffer): void {
    const inode = { content, changes: [] };
    this.#rename((names) => names.set(name, inode));
  }

  pathOf(name: string): string {
    return `/journal/${name}`;
  }

  list(): Promise<string[]> {
    return this.#operate(() => [...this.#names.keys()]);
  }

  open(name: string, mode: OpenMode): Promise<JournalFile> {
    return this.#operate(() => {
      const there = this.#names.get(name);
      if (mode !== 'create') {
        if (there === undefined) throw systemError('ENOENT');
        return this.#fileOf(there);
      }
      const inode = there ?? { content: Buffer.alloc(0), changes: [] };
      if (there === undefined) this.#rename((names) => names.set(name, inode));
      else apply(inode, { kind: 'truncate', at: 0, bytes: Buffer.alloc(0), fate: 'dirty' });
      return this.#fileOf(inode);
    });
  }

  rename(from: string, to: string): Promise<void> {
    return this.#operate(() => {
      const inode = this.#names.get(from);
      if (inode === undefined) throw systemError('ENOENT');
      this.#rename((names) => names.delete(from) && names.set(to, inode));
    });
  }

  remove(name: string): Promise<void> {
    return this.#operate(() => this.#rename((names) => names.delete(name)));
  }

  sync(): Promise<void> {
    return this.#operate(() => {
      this.#syncedNames = new Map(this.#names);
      this.#nameChanges = [];
    });
  }

  #rename(change: NameChange): void {
    change(this.#names);
    this.#nameChanges.push(change);
  }

  #fileOf(inode: Inode): JournalFile {
    return {
      size: () => this.#operate(() => inode.content.length),
      read: (into, position) =>
        this.#operate(() => inode.content.copy(into, 0, position, position + into.length)),
      write: (bytes, position) => this.#write(inode, Buffer.from(bytes), position, 'dirty'),
      writeDurably: (bytes, position) => this.#write(inode, Buffer.from(bytes), position, 'synced'),
      truncate: (length) =>
        this.#operate(() =>
          apply(inode, { kind: 'truncate', at: length, bytes: Buffer.alloc(0), fate: 'dirty' }),
        ),
      sync: () =>
        this.#operate(
          () => decide(inode, 'synced'),
          () => decide(inode, 'lost by a failed sync'),
        ),
      close: () => this.#operate(() => {}),
    };
  }

  /** A write that fails has what it wrote of its bytes only in memory. */
  #write(inode: Inode, bytes: Buffer, at: number, fate: Fate): Promise<number> {
    const write = (length: number, written: Fate) => {
      const grown = Math.max(0, at + bytes.length - inode.content.length);
      const room = Math.max(0, this.capacity - this.usedBytes) + bytes.length - grown;
      const taken = bytes.subarray(0, Math.min(length, room));
      if (taken.length > 0) apply(inode, { kind: 'write', at, bytes: taken, fate: written });
      return taken.length;
    };
    return this.#operate(
      () => {
        const written = write(bytes.length, fate);
        if (written === 0) throw systemError('ENOSPC');
        return written;
      },
      (done, kind) => write(done % (bytes.length + 1), kind === 'short' ? fate : 'dirty'),
    );
  }

  /** `half` does part of it: it is for a fault. Most things are done or not. */
  async #operate<T>(whole: () => T, half?: (done: number, kind: Fault['kind']) => T): Promise<T> {
    if (this.#hasCrashed) return never();
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.#hasCrashed) return never();
    const fault = this.#faults.get(this.#operations++);
    if (fault === undefined) return whole();
    this.#faultsMet++;
    const result = half?.(fault.done, fault.kind) ?? (fault.done % 2 === 1 ? whole() : undefined);
    if (fault.kind === 'crash') {
      this.#hasCrashed = true;
      return never();
    }
    if (fault.kind === 'short' && typeof result === 'number' && result > 0) return result;
    throw systemError(fault.kind === 'short' ? 'EIO' : fault.kind);
  }
}

function apply(inode: Inode, change: Change): void {
  inode.changes.push(change);
  inode.content = applied(inode.content, change);
}

function applied(content: Buffer, { kind, at, bytes }: Change): Buffer {
  const length = kind === 'truncate' ? at : Math.max(content.length, at + bytes.length);
  const next = Buffer.alloc(length);
  content.copy(next);
  bytes.copy(next, at);
  return next;
}

/** A sync that failed is not made good by a later one. */
function decide(inode: Inode, fate: Fate): void {
  for (const change of inode.changes) if (change.fate === 'dirty') change.fate = fate;
}

/**
 * What a disk may have of a file: of what was not synced nothing, all, a beginning, or pieces. Between those stands
 * what was there before; beyond the old end zeros, or bytes of removed files.
 */
function survivor(changes: readonly Change[], random: (bound: number) => number): Buffer {
  let content: Buffer = Buffer.alloc(0);
  for (const change of changes) {
    const share = change.fate === 'synced' ? 'all' : SHARES[random(SHARES.length)];
    if (share === 'nothing') continue;
    const { bytes } = change;
    const left = {
      all: () => bytes,
      beginning: () => bytes.subarray(0, random(bytes.length + 1)),
      pieces: () => pieces(content.subarray(change.at), bytes, random),
    };
    content = applied(content, { ...change, bytes: left[share ?? 'all']() });
  }
  return content;
}

const SHARES = ['nothing', 'all', 'beginning', 'pieces'] as const;

function pieces(old: Buffer, bytes: Buffer, random: (bound: number) => number): Buffer {
  const left = Buffer.from(bytes);
  for (let at = 0; at < left.length; ) {
    const end = Math.min(left.length, at + 1 + random(40));
    const kind = random(3);
    if (kind > 0) {
      left.fill(kind === 1 ? 0 : random(256), at, end);
      left.set(old.subarray(at, end), at);
    }
    at = end;
  }
  return left;
}

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}, by plan`), { code });
}

function never<T>(): Promise<T> {
  return new Promise(() => {});
}

/** A turn of the event loop, and the next one: a journal gathers for one before it writes. */
function turns(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface PortHolder {
  readonly pid: number;
  /** Short name of the process, such as `node`. Its arguments may hold secrets. */
  readonly name: string;
  /** True if it was stopped (SIGSTOP), so that it neither answers nor ends by itself. */
  readonly isStopped: boolean;
}

/** State of a listening socket in `/proc/net/tcp`. */
const LISTENING = '0A';

/** Finds who listens on a TCP port; undefined where the system does not show it: to other users, or without /proc. */
export function portHolder(port: number): PortHolder | undefined {
  const inodes = new Set(['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) => listenersIn(file, port)));
  if (inodes.size === 0) return undefined;
  const isListener = (target: string | undefined) =>
    inodes.has(/^socket:\[(\d+)\]$/.exec(target ?? '')?.[1] ?? '');
  for (const pid of entriesOf('/proc').filter((name) => /^\d+$/.test(name))) {
    const folder = `/proc/${pid}/fd`;
    if (!entriesOf(folder).some((fd) => isListener(ifThere(() => readlinkSync(`${folder}/${fd}`))))) continue;
    const [, name = '', state] = /\((.*)\) (\S)/s.exec(textOf(`/proc/${pid}/stat`)) ?? [];
    return { pid: Number(pid), name, isStopped: state === 'T' };
  }
  return undefined;
}

/** Inodes of the sockets that listen on a port. */
function listenersIn(file: string, port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return textOf(file)
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local = '', , state]) => local.endsWith(suffix) && state === LISTENING)
    .map((fields) => fields[9] ?? '');
}

function entriesOf(folder: string): string[] {
  return ifThere(() => readdirSync(folder)) ?? [];
}

function textOf(file: string): string {
  return ifThere(() => readFileSync(file, 'utf8')) ?? '';
}

/** Processes come and go while they are read, and those of others are not shown. */
function ifThere<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

import { readFileSync } from 'node:fs';

interface Manifest {
  readonly version: string;
  readonly engines: { readonly node: string };
}

export function programVersion(): string {
  return readManifest().version;
}

/** The oldest version of Node that it runs on, such as `20.19`. */
export function oldestNodeVersion(): string {
  return readManifest().engines.node.replace(/^>=/, '');
}

function readManifest(): Manifest {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as Manifest;
}

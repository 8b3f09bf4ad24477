import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

export interface ConsoleFile {
  readonly bytes: Uint8Array;
  /** The bytes, compressed when they are first asked for. */
  readonly gzipped: Uint8Array;
  readonly contentType: string;
}

/** The built console: one page, and the scripts and styles that it loads. */
export interface ConsoleFiles {
  readonly page: ConsoleFile;
  /** Files by name, such as `index-BqkA2v1d.js`: a name changes with the content. */
  readonly assets: ReadonlyMap<string, ConsoleFile>;
}

/** Files that the page loads lie below this path. */
export const ASSETS_PATH = '/assets/';

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/** The page names the path below which clients reach the gateway, so that commands to copy have it. */
const BASE_PATH = /(<meta name="base-path" content=")[^"]*/;

/** Reads the console from the folder of its build; undefined if it was not built. */
export function readConsoleFiles(folder: string, basePath: string): ConsoleFiles | undefined {
  try {
    const html = readFileSync(join(folder, 'index.html'), 'utf8').replace(BASE_PATH, `$1${basePath}`);
    const page = fileOf(Buffer.from(html), 'index.html');
    const assets = join(folder, 'assets');
    const names = readdirSync(assets).filter((name) => extensionOf(name) in CONTENT_TYPES);
    return {
      page,
      assets: new Map(names.map((name) => [name, fileOf(readFileSync(join(assets, name)), name)])),
    };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function fileOf(bytes: Uint8Array, name: string): ConsoleFile {
  let gzipped: Uint8Array | undefined;
  return {
    bytes,
    get gzipped() {
      gzipped ??= gzipSync(bytes);
      return gzipped;
    },
    contentType: CONTENT_TYPES[extensionOf(name)] ?? '',
  };
}

function extensionOf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

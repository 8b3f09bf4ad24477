import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { readConsoleFiles } from './console-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'signalbox-console-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('the files of the console', () => {
  it('are none if it was not built', () => {
    expect(readConsoleFiles(join(folder, 'nowhere'), '/api/v1')).toBeUndefined();
  });

  it('name the base path of this gateway in the page', () => {
    mkdirSync(join(folder, 'assets'));
    writeFileSync(join(folder, 'index.html'), '<head><meta name="base-path" content="/api/v1"></head>');
    const page = readConsoleFiles(folder, '/models/v1')?.page;
    const html = '<head><meta name="base-path" content="/models/v1"></head>';
    expect(Buffer.from(page?.bytes ?? '').toString()).toBe(html);
    expect(gunzipSync(page?.gzipped ?? '').toString()).toBe(html);
  });
});
